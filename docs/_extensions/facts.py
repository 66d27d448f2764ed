"""What the code says of itself, as nodes: methods, kernels, columns of results, and how a run ends."""

from docutils import nodes
from plain_text import definitions, inline, paragraph, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fwsvm.cli.methods import facts_of
from fwsvm.kernels.kernel import KERNELS
from fwsvm.results.columns import COLUMNS, TRACE_COLUMNS
from fwsvm.solvers import FAMILIES, METHODS, method
from fwsvm.status import Status


class MethodFacts(SphinxDirective):
    """What `fwsvm methods NAME` says, as definitions."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table of facts, and the parameters."""
        facts = facts_of(method(self.arguments[0]))
        cap = facts["iteration_cap"]
        rows = {
            "problem": FAMILIES[facts["family"]].problem,
            "kernels": f"{', '.join(facts['kernels'])}; by default {facts['default_kernel']}",
            "more than two classes": facts["multiclass"],
            "stopping rules": ", ".join(f"`--stop {stop}`" for stop in facts["stops"]),
            "tolerance": facts["tolerance"],
            "iterations": f"at most {cap:,}, unless you set a limit"
            if cap
            else "no limit, unless you set one",
        }
        made: list[nodes.Node] = [
            table(["", ""], [[inline(key), inline(said)] for key, said in rows.items()])
        ]
        if facts["parameters"]:
            made.append(paragraph("Parameters of its own (`--param NAME=VALUE`):"))
            made.append(definitions([
                (f"{key}={about['default']}", [paragraph(f"{about['meaning'] or ''} ({about['kind']})")])
                for key, about in facts["parameters"].items()
            ], "parameter"))  # fmt: skip
        return made


class Methods(SphinxDirective):
    """All methods in one table, each with a link to its page."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = []
        for name in sorted(METHODS, key=lambda known: (METHODS[known].family, known)):
            link = nodes.reference("", "", nodes.literal(name, name), internal=True, refuri=f"{name}.html")
            rows.append([[link], inline(METHODS[name].family), inline(METHODS[name].summary)])
        return [table(["method", "family", "what it does"], rows)]


class Kernels(SphinxDirective):
    """All kernels in one table."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = [
            [inline(f"`{name}`"), inline(f"`{kernel.formula}`"), inline(", ".join(kernel.widths) or "none")]
            for name, kernel in KERNELS.items()
        ]
        return [table(["kernel", "formula", "rules for the width"], rows)]


class Columns(SphinxDirective):
    """The columns of runs.csv, or with the argument ``traces`` of traces."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the definitions."""
        columns = TRACE_COLUMNS if self.arguments == ["traces"] else COLUMNS
        return [
            definitions([(name, [paragraph(column.sentence)]) for name, column in columns.items()], "column")
        ]


class Statuses(SphinxDirective):
    """The words that say how a run ended."""

    def run(self) -> list[nodes.Node]:
        """Return the definitions."""
        return [definitions([(str(status), [paragraph(status.sentence)]) for status in Status], "status")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("method-facts", MethodFacts)
    app.add_directive("methods", Methods)
    app.add_directive("kernels", Kernels)
    app.add_directive("columns", Columns)
    app.add_directive("statuses", Statuses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
