"""`{experiment-keys}`: the keys of an experiment file. The page has their sentences, the code where each may stand.

A key without a sentence, and a sentence of no key, is an error of the build.
"""

from docutils import nodes
from plain_text import definitions, inline
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fwsvm.experiments import config
from fwsvm.experiments.config import sweeps
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.solvers import METHODS
from fwsvm.solvers.protocols import CANDIDATES, PROTOCOLS
from fwsvm.solvers.settings import SEARCHES, STOPS

OF_DATASETS = ("name", "source", "methods", *sweeps.SETTING_KEYS, *config.ROW_KEYS)
OF_METHODS = ("name", "parameters", *sweeps.SETTING_KEYS)
PLACES = {
    "the file": config.FILE_KEYS,
    "a profile": tuple(key for key in config.FILE_KEYS if key not in {"name", "extends", "profiles"}),
    "an entry of datasets": OF_DATASETS,
    "an entry of methods": OF_METHODS,
    "select": sweeps.SELECT_KEYS,
    "limits": sweeps.LIMIT_KEYS,
}
VALUES = {
    "kernel": [name for name, kernel in KERNELS.items() if not kernel.given], "width_rule": width_rules(),
    "stop": STOPS, "search": SEARCHES, "protocol": PROTOCOLS, "candidates": CANDIDATES, "method": METHODS,
}  # fmt: skip


def places() -> dict[str, list[str]]:
    """Return each key with the places where it may stand."""
    keys = dict.fromkeys(key for known in PLACES.values() for key in known)
    return {key: [place for place, known in PLACES.items() if key in known] for key in keys}


class ExperimentKeys(SphinxDirective):
    """A definition of each key; the content has a line ``key: sentence`` for each."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the definitions, in the order of the page."""
        said = dict(line.split(": ", 1) for line in self.content if line.strip())
        known = places()
        if wrong := set(said) ^ set(known):
            raise self.error(f"keys without a sentence, or sentences of no key: {', '.join(sorted(wrong))}")
        entries: list[tuple[str, list[nodes.Node]]] = []
        for key, sentence in said.items():
            meaning: list[nodes.Node] = [nodes.paragraph("", "", *inline(sentence))]
            allowed = f"One of {', '.join(f'`{value}`' for value in VALUES[key])}. " if key in VALUES else ""
            swept = "One value, a list, or a range. " if key in sweeps.SWEPT else ""
            meaning.append(
                nodes.paragraph(
                    "", "", *inline(f"{allowed}{swept}In: {', '.join(known[key])}."), classes=["where"]
                )
            )
            entries.append((key, meaning))
        return [definitions(entries, "key")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("experiment-keys", ExperimentKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
