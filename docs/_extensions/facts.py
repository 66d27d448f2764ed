"""What the code says of methods, kernels, columns of results and statuses, as nodes."""

from docutils import nodes
from plain_text import definitions, inline, paragraph, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fwsvm.cli.about import facts_of
from fwsvm.kernels.kernel import KERNELS
from fwsvm.results.columns import COLUMNS, TRACE_COLUMNS
from fwsvm.solvers import method
from fwsvm.status import Status


class MethodFacts(SphinxDirective):
    """What `fwsvm methods NAME` says of some methods: a table, and their parameters."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the table and the parameters."""
        rows, parameters = [], []
        for name in self.arguments[0].split():
            facts = facts_of(method(name))
            stops = " ".join(f"`{stop}`" for stop in facts["stops"])
            cap = f"{facts['iteration_cap']:,}" if facts["iteration_cap"] else "none"
            rows.append(
                [inline(f"`{name}`"), inline(facts["multiclass"]), inline(stops or "none"), inline(cap)]
            )
            parameters += [
                (
                    f"{name}: {key}={about['default']}",
                    [paragraph(f"{about['meaning'] or ''} ({about['kind']})")],
                )
                for key, about in facts["parameters"].items()
            ]
        return [
            table(["method", "more than two classes", "`--stop`", "default limit of iterations"], rows),
            paragraph("Parameters (`--param NAME=VALUE`):"),
            definitions(parameters),
        ]


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
        return [definitions([(name, [paragraph(sentence)]) for name, sentence in columns.items()], "column")]


class Statuses(SphinxDirective):
    """The words that say how a run ended."""

    def run(self) -> list[nodes.Node]:
        """Return the definitions."""
        return [definitions([(str(status), [paragraph(status.sentence)]) for status in Status], "status")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("method-facts", MethodFacts)
    app.add_directive("kernels", Kernels)
    app.add_directive("columns", Columns)
    app.add_directive("statuses", Statuses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
