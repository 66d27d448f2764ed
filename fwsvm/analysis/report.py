"""One self-contained HTML page of results: three numbers, one figure, tables that sort, and what is missing."""

import base64
import html
import itertools
from collections.abc import Iterable, Iterator
from importlib.resources import files
from string import Template

import pandas as pd

from fwsvm import __version__
from fwsvm.analysis import figures
from fwsvm.analysis.cells import cells_of_runs
from fwsvm.analysis.contests import BEST, behind_best
from fwsvm.analysis.layouts import fitting_layouts
from fwsvm.analysis.measures import plain
from fwsvm.analysis.names import method_names, short_name
from fwsvm.analysis.reported import final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE, Results
from fwsvm.analysis.tables import Table
from fwsvm.errors import FwsvmError, ResultsError, counted, listed, shortened

MOST_PICTURES = 700_000  # bytes of all pictures
ENVIRONMENT = "machine cpu threads parallel_cells python numpy numba fwsvm commit profile".split()  # noqa: SIM905


def page(results: Results, *, mixed_load: bool = False) -> str:
    """Return the report of these results as one HTML document.

    Raises ResultsError if times were not measured alike, unless ``mixed_load``: then the page says so.
    """
    warnings = list(results.notices)
    try:
        refuse_mixed_load(results.frame)
    except ResultsError as error:
        if not mixed_load:
            raise
        warnings.append(str(error))
    every = cells_of_runs(results.frame)
    final = final_rows(results.frame)
    # a data set of which nothing finished is named among what is missing, and takes no room elsewhere
    cells = every[every["dataset"].isin(every.loc[every["used"] > 0, "dataset"])]
    weak = int((cells["void"] != "").sum())
    if weak:
        warnings.append(f"{weak} of {counted(len(cells), 'cell')} have a weak guarantee (§ in the tables).")
    pictures, left = _pictures(figures.FigureData(cells, results.frame)) if len(cells) else ([], "")
    names = listed(results.frame["experiment"].unique(), most=8)
    template = Template(files(__package__).joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        title=html.escape(names),
        version=__version__,
        facts=html.escape(_facts(final)),
        numbers="".join(_three_numbers(cells, final)),
        answer="".join(pictures[:1]),
        notes=_list(warnings),
        missing=_missing(final),
        tables="".join(_tables(cells)) or "<p>No run has finished.</p>",
        figures=("".join(pictures[1:]) + left) or "<p>Nothing more to draw.</p>",
        environment=_list(_environment(final)),
    )


def _facts(final: pd.DataFrame) -> str:
    days = sorted({when[:10] for when in final["started_utc"] if when}) or ["no date"]
    sizes = {"run": len(final), "method": final["method"].nunique(), "data set": final["dataset"].nunique()}
    counts = ", ".join(counted(size, word) for word, size in sizes.items())
    versions = " and ".join(final["fwsvm"].unique())
    return f"{' to '.join(dict.fromkeys((days[0], days[-1])))} · fwsvm {versions} · {counts}"


def _three_numbers(cells: pd.DataFrame, final: pd.DataFrame) -> Iterator[str]:
    """Yield what stands on top: the fastest method, the most accurate one, the share of certified runs."""
    for head, name in (("Fastest", "time"), ("Most accurate", "accuracy")):
        behind = behind_best(cells, name)
        best = "-"
        said = "no two methods finished one problem"
        if len(behind):
            won = (behind <= BEST[name]).sum().rename(method_names(map(str, behind)))
            best = listed(map(str, won.index[won == won.max()]), most=3)
            said = f"best on {won.max()} of {counted(len(behind), 'problem')}"
        yield _number(head, best, said)
    done = final[final["status"].isin(DONE)]
    share = f"{100 * done['certified'].mean():.0f} %" if len(done) else "-"
    said = f"{done['certified'].sum()} of {counted(len(done), 'finished run')} have an exact gap within their tolerance"
    yield _number("Certified", share, said)


def _number(head: str, value: str, said: str) -> str:
    return f"<div>{head}<strong>{html.escape(value)}</strong><small>{html.escape(said)}</small></div>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _missing(final: pd.DataFrame) -> str:
    """Return one folded line for all runs that did not finish: by data set, with one message each."""
    bad = final[~final["status"].isin(DONE)]
    lines = [
        f"{short_name(str(dataset))}: {len(runs)} {status} ({listed(runs['method'].unique())}). "
        f"{shortened(max(runs['message']), 300)}"
        for (dataset, status), runs in bad.groupby(["dataset", "status"], sort=False)
    ]
    said = f"Missing: {len(bad)} of {counted(len(final), 'run')}, on {counted(bad['dataset'].nunique(), 'data set')}"
    return f"<details><summary>{said}</summary>{_list(lines)}</details>" if lines else ""


def _tables(cells: pd.DataFrame) -> Iterator[str]:
    """Yield the tables of each experiment, or of several that fill a paper's; repeated notes stand below the last."""
    for some, chosen in fitting_layouts(cells):
        yield f"<h3>{html.escape(', '.join(some['experiment'].unique()))}</h3>"
        try:
            drawn = [table for layout in chosen for table in layout.draw(some)]
        except FwsvmError as error:
            yield f"<p>{html.escape(str(error))}</p>"
            continue
        for table, following in itertools.zip_longest(drawn, drawn[1:]):
            yield _html(table, () if following and following.notes == table.notes else table.notes)


def _html(table: Table, notes: Iterable[str]) -> str:
    labels = len(table.label_heads)
    heads, *lines = table.lines(html.escape, "<strong>{}</strong>")
    head = "".join(f"<th scope=col><button type=button>{text or 'line'}</button></th>" for text in heads)
    body = ""
    for texts in lines:
        row = "".join(f"<th scope=row>{text}</th>" for text in texts[:labels])
        row += "".join(f"<td>{text}</td>" for text in texts[labels:])
        body += "</tbody><tbody>" * bool(body and texts[0]) + f"<tr>{row}</tr>"
    return (
        f"<figure><div><table><caption>{html.escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{_list(notes)}</figure>"
    )


def _pictures(data: figures.FigureData) -> tuple[list[str], str]:
    """Return the pictures as HTML, in the order of their kinds, and a sentence on those there is no room for."""
    try:
        drawings = figures.draw(data)
    except FwsvmError as error:
        return [], f"<p>{html.escape(str(error))}</p>"
    shown: list[str] = []
    for drawing in drawings:
        source = f"data:image/svg+xml;base64,{base64.b64encode(drawing.content('svg')).decode()}"
        caption = html.escape(drawing.caption, quote=True)
        if sum(map(len, shown)) + len(source) < MOST_PICTURES:
            shown.append(
                f'<figure><div><img alt="{caption}" src="{source}"></div><figcaption>{caption}</figcaption></figure>'
            )
    left = len(drawings) - len(shown)
    return shown, f"<p>{counted(left, 'more figure')}: <code>fwsvm plot</code> draws them.</p>" * bool(left)


def _environment(final: pd.DataFrame) -> Iterator[str]:
    """Yield the settings, machines and versions of the runs."""
    for name in ENVIRONMENT:
        values = [*filter(None, map(plain, final[name].unique()))]
        if values:
            yield f"{name}: {listed(values, ', ', 6)}"
