"""Links of an included page of the checkout to its neighbours, which the site has not, are their names alone."""

import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)[^)]+\)")


def name_neighbours(app: Sphinx, path: Path, docname: str, content: list[str]) -> None:
    """Replace each link to a file by its text, as code."""
    del app, path, docname
    content[:] = [LINK.sub(r"`\1`", text) for text in content]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages that are included."""
    app.connect("include-read", name_neighbours)
    return {"parallel_read_safe": True}
