"""The page as a whole: what is embedded in it, and its sections in order."""

import html
from collections.abc import Sequence
from importlib.resources import files

from fwsvm import __version__
from fwsvm.analysis import figures
from fwsvm.analysis.cells import cells_of_runs
from fwsvm.analysis.report import plotting, sections
from fwsvm.analysis.report.pictures import Pictures
from fwsvm.analysis.report.summary import summary_words
from fwsvm.analysis.reported import refuse_mixed_load
from fwsvm.analysis.results import Results
from fwsvm.analysis.tables.html import with_short_dataset_names
from fwsvm.errors import FwsvmError, listed, shortened
from fwsvm.files.atomic import as_utf8

MOST_BYTES = 3_000_000
OWN_BYTES = 50_000  # at most, of the page's head, style and scripts
ON_TOP = "summary"  # the kind of figure in the summary


def page(results: Results, *, mixed_load: bool = False) -> str:
    """Return the report of these results as one HTML document.

    Raises ResultsError if times were not measured alike, unless ``mixed_load``: then the page says so.
    """
    warnings = list(results.notices)
    try:
        refuse_mixed_load(results.frame)
    except FwsvmError as error:
        if not mixed_load:
            raise
        warnings.append(f"{error}")
    every = cells_of_runs(results.frame)
    # a data set of which nothing finished is named in the summary, and takes no room elsewhere
    finished = every.loc[every["used"] > 0, "dataset"]
    cells = every[every["dataset"].isin(finished)]
    code = plotting.library()
    pictures = Pictures(figures.FigureData(cells, results.frame), interactive=code is not None)
    top = summary_words(results.frame, every, warnings)
    nothing = "<p>No run has finished.</p>"
    shown = {
        "Summary": top,
        "Tables": sections.tables(cells) if len(cells) else nothing,
        "Figures": "",
        "Tests": sections.tests(cells) if len(cells) else nothing,
        "Claims": sections.or_error(lambda: sections.claims(every)),
        "Configuration": sections.configuration(results.folders),
        "Environment": sections.environment(results.frame),
    }
    names = [str(name) for name in dict.fromkeys(every["dataset"])]
    shown |= {
        title: with_short_dataset_names(text, names)
        for title, text in shown.items()
        if title != "Configuration"
    }
    shown["Summary"] += pictures.kind(ON_TOP) if len(cells) else ""
    shown["Figures"] = pictures.all_but(ON_TOP) if len(cells) else nothing
    if code is None:
        shown["Figures"] = f"<p>{plotting.LACKING}</p>{shown['Figures']}"
    title = listed((shortened(str(name)) for name in dict.fromkeys(results.frame["experiment"])), ", ", 8)
    return _document(title, shown, code, pictures.scripts)


def _document(title: str, shown: dict[str, str], code: str | None, scripts: Sequence[str]) -> str:
    links = "".join(f"<li><a href='#{name.lower()}'>{name}</a></li>" for name in shown)
    body = "".join(
        f"<section id={name.lower()}><h2>{name}</h2>{text}</section>" for name, text in shown.items()
    )
    body, drawn = _within(as_utf8(body).decode(), scripts, MOST_BYTES - OWN_BYTES - len(code or ""))
    # a page without numbers to draw needs no library to draw them
    library = f"<script type=text/plain id=library>{code}</script>" if drawn else ""
    return (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{html.escape(title)}</title>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        "<meta name=color-scheme content='light dark'>"
        f"<meta name=generator content='fwsvm {__version__}'>"
        f"<style>{_own('page.css')}</style></head><body><header><h1>{html.escape(title)}</h1>"
        f"<nav aria-label=Sections><ul>{links}</ul></nav></header><main>{body}</main>"
        f"{library}<script>{_own('page.js')}</script></body></html>\n"
    )


def _within(body: str, scripts: Sequence[str], most: int) -> tuple[str, int]:
    """Return the body without the numbers of its last figures, if it is too long, and how many figures have some.

    Figures without numbers stay pictures.
    """
    left, size = len(scripts), len(body.encode())
    while left and size > most:
        left -= 1
        size -= len(scripts[left])  # which are ASCII
        body = body.replace(scripts[left], "", 1)
    return body, left


def _own(name: str) -> str:
    """Return the text of a file of this package that every page holds."""
    return files(__package__).joinpath(name).read_text("utf-8")
