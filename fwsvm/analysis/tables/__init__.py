"""Tables: a layout says what is shown, `build` looks it up, `render` draws it."""

from fwsvm.analysis.tables.layouts import LAYOUTS, choose, draw, fitting, paper_tables, timed
from fwsvm.analysis.tables.model import Entry, Row, Table
from fwsvm.analysis.tables.render import render
from fwsvm.analysis.tables.sizes import SIZES

__all__ = [
    "LAYOUTS",
    "SIZES",
    "Entry",
    "Row",
    "Table",
    "choose",
    "draw",
    "fitting",
    "paper_tables",
    "render",
    "timed",
]
