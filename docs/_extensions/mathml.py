"""Formulas as MathML, which browsers draw themselves: no script, no network, and a screen reader can read them."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

LOGGER = getLogger(__name__)


def _write(writer: Any, node: nodes.Element, *, as_block: bool) -> None:
    try:
        # docutils puts the index of an accented letter below it, unless there is more in the braces
        text = re.sub(r"\{(\\tilde \w)\}_", r"{\1{}}_", node.astext())
        formula = tex2mathml(text, as_block=as_block)
    except MathError as error:
        LOGGER.warning("%s: %s", error, node.astext(), location=node)
        formula = ""
    writer.body.append(f'<div class="math">{formula}</div>\n' if as_block else formula)
    raise nodes.SkipNode


def _inline(writer: Any, node: nodes.math) -> None:
    _write(writer, node, as_block=False)


def _block(writer: Any, node: nodes.math_block) -> None:
    _write(writer, node, as_block=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer, which conf.py chooses."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
