"""`{experiment-keys}`: the keys of an experiment file: what each means, its values, and where it may stand.

Sentences of settings are those of settings.csv, unless there is one here. A key without a sentence, and a sentence of
no key, is an error of the build.
"""

from docutils import nodes
from plain_text import definitions, inline
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fwsvm.experiments import config_files
from fwsvm.experiments.config_files import SWEPT, keys_of
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.settings import ALLOWED, SEARCHES, STOPS, table
from fwsvm.solvers import METHODS
from fwsvm.solvers.protocols import PROTOCOLS

PLACES = {place: keys_of(place) for place in config_files.PLACES if place != "select.method"}
PLACES["a profile"] = [key for key in PLACES["the file"] if key not in {"name", "extends", "profiles"}]
VALUES = {
    "kernel": [name for name, kernel in KERNELS.items() if not kernel.given], "width_rule": width_rules(),
    "stop": STOPS, "search": SEARCHES, "protocol": PROTOCOLS, "candidates": ALLOWED["candidates"], "method": METHODS,
}  # fmt: skip

SENTENCES = {
    "name": "Name of the experiment and of its results folder; of a data set or method in an entry.",
    "extends": "A file, or a list of files, whose keys are inherited.",
    "datasets": "Data sets: names of `fwsvm data list`, files, `synthetic:KIND`, or mappings with a name and settings.",
    "methods": "Methods: names, or mappings with a name, parameters and settings. In an entry of datasets: which run.",
    "train": "File to train on, in place of name.",
    "test": "File of test rows, in place of any that the data set has.",
    "label": "Column of the labels in CSV files: its name, or its number from 1.",
    "source": "Source in the entry of the data set in `datasets.lock`.",
    "parameters": "Parameters of the method, see `fwsvm methods NAME`.",
    "kernel": "The kernel; by default that of the method.",
    "width_rule": "Rule by which gamma follows from the training rows.",
    "class_weight": "Factors of C for classes, `{1: 5, -1: 2}`, or `balanced`.",
    "stop": "Stopping rule; `relative` by default.",
    "tolerance": "Tolerance of the stopping rule; 1e-3 by default, and 0.1 in searches by exact kernel methods.",
    "protocol": "How simplex methods start, sample and stop.",
    "first_level": "First tolerance of the schedule, which is halved down to `tolerance`.",
    "candidates": "Rows that cvm samples from: all, outside the core set, or these class by class in turn.",
    "gradient": "Whether a sampled search computes q of its candidates or keeps it.",
    "limits": "Limits of each run; none by default.",
    "time_seconds": "Longest training time of a run.",
    "iterations": "Largest number of iterations of a run.",
    "repetitions": "Number of reported runs on the same rows, with a seed of starts and samples each; 1 by default.",
    "select": "How C and the width are chosen before the reported runs.",
    "holdout": "Fraction of the training rows that is held out.",
    "folds": "Number of folds, in place of holdout.",
    "method": "The method that chooses for all; by default the first of the list.",
    "zero_based": "Whether files count their features from 0; by default they say so themselves.",
    "scale": "Interval to which the ranges of the training rows are mapped; by default that of the data set.",
    "rows": "Training rows to draw: a number, or a fraction below 1.",
    "test_rows": "Test rows to draw: a number, or a fraction below 1.",
    "test_fraction": "Fraction of the rows that become test rows, if there are none.",
    "seed": "Seed of all random numbers; 0 by default.",
    "workers": "Number of processes; 1 by default.",
    "profiles": "Sizes such as smoke, small (the default) and paper, each with the keys that it replaces.",
}


def places() -> dict[str, list[str]]:
    """Return each key with the places where it may stand."""
    keys = dict.fromkeys(key for known in PLACES.values() for key in known)
    return {key: [place for place, known in PLACES.items() if key in known] for key in keys}


class ExperimentKeys(SphinxDirective):
    """A definition of each key."""

    def run(self) -> list[nodes.Node]:
        """Return the definitions, in the order in which keys may stand in a file."""
        known = places()
        settings = {row["setting"].rstrip("_"): row["help"] or row["meaning"] for row in reversed(table())}
        sentences = {key: settings[key] for key in settings.keys() & known} | SENTENCES
        if wrong := sentences.keys() ^ known:
            raise self.error(f"keys without a sentence, or sentences of no key: {', '.join(sorted(wrong))}")
        entries: list[tuple[str, list[nodes.Node]]] = []
        for key in known:
            allowed = f"One of {', '.join(f'`{value}`' for value in VALUES[key])}. " if key in VALUES else ""
            swept = "One value, a list, or a range. " if key in SWEPT else ""
            where = nodes.paragraph(
                "", "", *inline(f"{allowed}{swept}In: {', '.join(known[key])}."), classes=["where"]
            )
            entries.append((key, [nodes.paragraph("", "", *inline(sentences[key])), where]))
        return [definitions(entries, "key")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("experiment-keys", ExperimentKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
