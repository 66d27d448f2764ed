"""The sections of a report but for summary and figures: tables, tests, claims, configuration, environment."""

import functools
import html
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from fwsvm.analysis import comparisons, papers
from fwsvm.analysis.claims.evaluate import caveats, check_claims
from fwsvm.analysis.claims.show import html_list
from fwsvm.analysis.configuration import files, settings
from fwsvm.analysis.measures import measured, plain
from fwsvm.analysis.tables import drawing
from fwsvm.analysis.tables.html import html_table
from fwsvm.analysis.tables.model import Table
from fwsvm.errors import FwsvmError
from fwsvm.results.files import text_of

#: Columns that say what a run was made with.
ENVIRONMENT = (
    "machine",
    "cpu",
    "blas",
    "python",
    "numpy",
    "numba",
    "fwsvm",
    "commit",
    "threads",
    "parallel_cells",
)
MAX_CONFIGURATIONS = 50
MAX_ENVIRONMENTS = 50


def tables(cells: pd.DataFrame) -> str:
    """Return each experiment's tables, or those that experiments fill together."""
    return "".join(
        or_error(functools.partial(_drawn, some, name))
        for some, names in drawing.tables_for(cells, ())
        for name in names
    )


def _drawn(cells: pd.DataFrame, name: str) -> str:
    return _html_of(drawing.draw_tables(cells, [name]))


def _html_of(drawn: Sequence[Table]) -> str:
    return "".join(map(html_table, drawn))


def tests(cells: pd.DataFrame) -> str:
    """Return the tests of the paper whose methods these are, else of all pairs; or why there are none."""
    plain = comparisons.comparable(cells)
    cells = cells if plain.empty else plain
    methods = list(dict.fromkeys(str(method) for method in cells["method"]))
    if len(methods) < 2:
        return "<p>One method alone: nothing to compare.</p>"
    design = next((d for d in papers.DESIGNS.values() if set(d.methods) == set(methods)), None)
    design = design or comparisons.all_pairs(methods, measured(cells, ("time", "accuracy")))
    return or_error(
        lambda: _html_of(comparisons.tables(comparisons.evaluate(design, cells), "means over repetitions"))
    )


def claims(cells: pd.DataFrame) -> str:
    """Return the claims that these runs can check, and folded those that they cannot."""
    verdicts = check_claims(cells)
    ran = [verdict for verdict in verdicts if verdict.ours or verdict.as_run or verdict.turns_on]
    rest = [verdict for verdict in verdicts if verdict not in ran]
    shown = (
        html_list(ran, caveats(cells))
        if ran
        else "<p>None of the papers' claims could be checked on these runs.</p>"
    )
    if not rest:
        return shown
    return f"{shown}<details><summary>{len(rest)} claims were not run</summary>{html_list(rest)}</details>"


def configuration(folders: Sequence[Path]) -> str:
    """Return the text of each folder's configurations, folded."""
    paths = [path for folder in folders for path in files(folder)]
    shown = [or_error(functools.partial(_settings, path)) for path in paths[:MAX_CONFIGURATIONS]]
    if len(paths) > MAX_CONFIGURATIONS:
        shown.append(f"<p>{len(paths) - MAX_CONFIGURATIONS} more are not shown.</p>")
    return "".join(shown) or "<p>The folder has no experiment.yaml.</p>"


def _settings(path: Path) -> str:
    """Return the text of a configuration, after checking that it is valid."""
    settings(path)
    text = html.escape(text_of(path))
    return f"<details><summary>{html.escape(str(path))}</summary><pre>{text}</pre></details>"


def environment(frame: pd.DataFrame) -> str:
    """Return what the runs were made with: a list for one environment, a table for several."""
    present = [name for name in ENVIRONMENT if name in frame]
    counts = frame.groupby(present, dropna=False, sort=False).size().reset_index(name="runs")
    heads = [str(name) for name in counts.columns]
    lines = [[plain(value) for value in row] for row in counts.itertuples(index=False, name=None)]
    if len(lines) == 1:
        pairs = zip(heads, lines[0], strict=True)
        items = "".join(
            f"<div><dt>{head}</dt><dd>{html.escape(text)}</dd></div>" for head, text in pairs if text
        )
        return f"<dl>{items}</dl>"
    rows = "".join(
        "<tbody><tr>"
        + "".join(
            f"<td data-head={head}>{html.escape(text)}</td>" for head, text in zip(heads, line, strict=True)
        )
        + "</tr></tbody>"
        for line in lines[:MAX_ENVIRONMENTS]
    )
    columns = "".join(f"<th scope=col>{head}</th>" for head in heads)
    more = len(lines) - MAX_ENVIRONMENTS
    return (
        f"<div class='table words'><table><caption>{len(lines)} environments</caption>"
        f"<thead><tr>{columns}</tr></thead>{rows}</table></div>"
        + (f"<p>{more} more are not shown.</p>" if more > 0 else "")
    )


def or_error(make: Callable[[], str]) -> str:
    """Return the HTML that ``make`` returns, or its error message as HTML, so that the rest of the page is shown."""
    try:
        return make()
    except FwsvmError as error:
        return f"<p class=warning>{html.escape(str(error))}</p>"
