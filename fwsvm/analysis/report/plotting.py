"""The plotting library of reports: Bokeh, whose wheel ships its JavaScript. Nothing is fetched when a page is read."""

import base64
import gzip
from importlib.util import find_spec
from pathlib import Path

LACKING = (
    "These figures are pictures. With Bokeh (pip install 'fwsvm[report]') reports have figures that zoom, "
    "show what a point is, and hide methods."
)
_FILE = Path("server", "static", "js", "bokeh.min.js")


def library() -> str | None:
    """Return the code of BokehJS for a page, compressed by gzip, in base64; None without Bokeh.

    A page unpacks it when its first figure comes near the window.
    """
    found = find_spec("bokeh")
    for place in (found.submodule_search_locations if found else None) or ():
        path = Path(place) / _FILE
        if path.is_file():
            return base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()
    return None
