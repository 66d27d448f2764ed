"""One self-contained HTML page of an experiment.

It has failed and missing runs first, then tables, figures, tests, claims, configuration and environment.
"""

import functools
import html
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from fwsvm import __version__
from fwsvm.analysis import cells as cells_of
from fwsvm.analysis import comparisons, figures, papers
from fwsvm.analysis.claims.evaluate import evaluate as evaluate_claims
from fwsvm.analysis.claims.show import html_list
from fwsvm.analysis.configuration import configuration_text, settings
from fwsvm.analysis.results import DONE, Results
from fwsvm.analysis.tables import drawing
from fwsvm.analysis.tables.model import Table
from fwsvm.analysis.tables.render import html_table
from fwsvm.errors import FwsvmError

ENVIRONMENT = [
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
]
MAX_CONFIGURATIONS = 50
#: Where an SVG names a part of itself or refers to one.
_ID = re.compile(r"""(\bid="|\bhref="#|url\(#)""")
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; border-bottom: 1px solid #8886; }
nav a { margin-right: 1rem; } small, .notes, figcaption { font-size: .85em; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .1rem .6rem; text-align: right; vertical-align: top; font-weight: normal; }
thead th { border-bottom: 1px solid; } th[scope=row] { text-align: left; white-space: nowrap; }
tr.first > * { padding-top: .45rem; } strong { font-weight: 700; } figure { margin: 1.5rem 0; }
figure.table figcaption { font-weight: 600; font-size: 1em; } ul.notes { padding-left: 1.2rem; opacity: .85; }
figure.picture { background: #fff; color: #222; padding: .5rem; }
figure.picture svg { max-width: 100%; height: auto; }
table.claims td { text-align: left; } table.claims td:nth-child(3) strong { white-space: nowrap; }
tr.reproduced strong { color: #00734f; } tr.not-reproduced strong { color: #b34700; }
pre { overflow-x: auto; background: #8881; padding: .8rem; }
.warning { border-left: 4px solid #b34700; padding: .2rem .8rem; }
@media (prefers-color-scheme: dark) {
  tr.reproduced strong { color: #35c792; } tr.not-reproduced strong { color: #ff9b55; }
}
"""


def page(results: Results, *, mixed_load: bool = False) -> str:
    """Return the report of these results as one HTML document.

    Raises ResultsError if times were not measured alike, unless ``mixed_load``: then the page says so.
    """
    warnings = list(results.notices)
    try:
        cells_of.refuse_mixed_load(results.frame)
    except FwsvmError as error:
        if not mixed_load:
            raise
        warnings.append(f"{error}")
    cells = cells_of.cells_of_runs(results.frame)
    names = ", ".join(dict.fromkeys(str(name) for name in results.frame["experiment"]))
    sections: list[tuple[str, str]] = [
        ("Runs", _runs(results.frame, warnings)),
        ("Tables", _tables(cells)),
        ("Figures", _figures(cells, results.frame)),
        ("Tests", _tests(cells)),
        ("Claims", _claims(cells)),
        ("Configuration", _configuration(results.folders)),
        ("Environment", _environment(results.frame)),
    ]
    links = "".join(f"<a href='#{title.lower()}'>{title}</a>" for title, _ in sections)
    body = "".join(
        f"<section id={title.lower()}><h2>{title}</h2>{text}</section>" for title, text in sections
    )
    return (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{html.escape(names)}</title>"
        "<meta name=viewport content='width=device-width'>"
        f"<meta name=generator content='fwsvm {__version__}'>"
        f"<style>{STYLE}</style></head><body><h1>{html.escape(names)}</h1><nav>{links}</nav>{body}</body></html>\n"
    )


def _runs(frame: pd.DataFrame, warnings: Sequence[str]) -> str:
    """Return counts by status, then every run that did not finish with its message."""
    final = cells_of.final_rows(frame)
    counts = ", ".join(f"{count} {status}" for status, count in final["status"].value_counts().items())
    profiles = ", ".join(dict.fromkeys(str(p) for p in final["profile"] if p)) or "none"
    started = sorted(str(s) for s in frame["started_utc"] if s)
    when = f" Started between {started[0]} and {started[-1]}." if started else ""
    said = f"<p>{len(final)} reported runs ({counts}), profile {html.escape(profiles)}; "
    said += f"{int((frame['role'] == 'select').sum())} runs of the parameter search.{html.escape(when)}</p>"
    bad = final[~final["status"].isin(DONE)]
    unlike = [
        f"<li>{html.escape(str(r['dataset']))}, {html.escape(str(r['method']))}: {r['status']} "
        f"<small>{html.escape(str(r['message']))}</small></li>"
        for r in bad.to_dict("records")
    ]
    warned = "".join(f"<p class=warning>{html.escape(warning)}</p>" for warning in warnings)
    return said + warned + (f"<ul>{''.join(unlike)}</ul>" if unlike else "")


def _tables(cells: pd.DataFrame) -> str:
    return "".join(
        _or_error(functools.partial(_drawn, some, name))
        for some, names in drawing.tables_for(cells, ())
        for name in names
    )


def _drawn(cells: pd.DataFrame, name: str) -> str:
    return _html_of(drawing.draw_tables(cells, [name]))


def _html_of(drawn: Sequence[Table]) -> str:
    return "".join(map(html_table, drawn))


def _figures(cells: pd.DataFrame, frame: pd.DataFrame) -> str:
    source = figures.FigureData(cells, frame)
    drawn = [_or_error(functools.partial(_pictures, source, kind)) for kind in figures.kinds()]
    return "".join(drawn) or "<p>Nothing to draw.</p>"


def _pictures(source: figures.FigureData, kind: str) -> str:
    return "".join(map(_picture, figures.draw(source, [kind])))


def _picture(drawing: figures.Drawing) -> str:
    svg = drawing.content("svg").decode()
    # many pictures on one page: the names of their parts are kept apart
    inline = _ID.sub(rf"\g<1>{drawing.name}-", svg[svg.index("<svg") :])
    return f"<figure class=picture>{inline}<figcaption>{html.escape(drawing.caption)}</figcaption></figure>"


def _tests(cells: pd.DataFrame) -> str:
    """Return the tests of the paper whose methods these are, else of all pairs; or why there are none."""
    methods = list(dict.fromkeys(str(method) for method in cells["method"]))
    if len(methods) < 2:
        return "<p>One method alone: nothing to compare.</p>"
    design = next((d for d in papers.DESIGNS.values() if set(d.methods) == set(methods)), None)
    measured = [name for name, column in (("time", "train_seconds"), ("accuracy", "test_accuracy"))
                if cells[column].notna().any()]  # fmt: skip
    design = design or comparisons.all_pairs(methods, measured)
    return _or_error(
        lambda: _html_of(comparisons.tables(comparisons.evaluate(design, cells), "means over repetitions"))
    )


def _claims(cells: pd.DataFrame) -> str:
    verdicts = evaluate_claims(cells)
    ran = [verdict for verdict in verdicts if verdict.ours is not None]
    rest = [verdict for verdict in verdicts if verdict.ours is None]
    folded = (
        f"<details><summary>{len(rest)} claims were not run</summary>{html_list(rest)}</details>"
        if rest
        else ""
    )
    return (
        html_list(ran) if ran else "<p>None of the papers' claims could be checked on these runs.</p>"
    ) + folded


def _configuration(folders: Sequence[Path]) -> str:
    paths = [path for folder in folders for path in sorted(folder.glob("experiment*.yaml"))]
    shown = [_or_error(functools.partial(_settings, path)) for path in paths[:MAX_CONFIGURATIONS]]
    if len(paths) > MAX_CONFIGURATIONS:
        shown.append(f"<p>{len(paths) - MAX_CONFIGURATIONS} more are not shown.</p>")
    return "".join(shown) or "<p>The folder has no experiment.yaml.</p>"


def _settings(path: Path) -> str:
    """Return the text of a configuration, after checking that it is valid."""
    settings(path)
    return f"<h3>{html.escape(str(path))}</h3><pre>{html.escape(configuration_text(path))}</pre>"


def _environment(frame: pd.DataFrame) -> str:
    present = [name for name in ENVIRONMENT if name in frame]
    counts = frame.groupby(present, dropna=False, sort=False).size().reset_index(name="runs")
    heads = "".join(f"<th scope=col>{name}</th>" for name in counts.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_plain(value))}</td>" for value in row) + "</tr>"
        for row in counts.itertuples(index=False, name=None)
    )
    return f"<div class=scroll><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _or_error(make: Callable[[], str]) -> str:
    """Return the HTML that ``make`` returns, or its error message as HTML, so that the rest of the page is shown."""
    try:
        return make()
    except FwsvmError as error:
        return f"<p class=warning>{html.escape(str(error))}</p>"
