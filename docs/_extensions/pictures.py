"""`{picture} NAME`: a drawing of docs/pictures, put into the page itself, so that it takes the page's colours.

Its narrow form stands beside it, for small windows: one of the two is shown. The content of the directive is its
caption; the command that draws it stands below. The text of a drawing stays text.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parents[1] / "pictures"


def inlined(name: str, said: str) -> str:
    """Return a drawing as part of a page: its text has the page's colour, and its names are its own."""
    drawn = (HERE / f"{name}.svg").read_text("utf-8")
    drawn = re.sub(r'<style id="alone">.*?</style>', "", drawn[drawn.index("<svg") :])
    drawn = re.sub(r'\bid="', f'id="{name}-', drawn)
    drawn = re.sub(r'(href="|url\()#', rf"\1#{name}-", drawn)
    return drawn.replace("<svg", f'<svg role="img" aria-label="{html.escape(said)}"', 1)


class Picture(SphinxDirective):
    """A figure with its caption and its command."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        name = self.arguments[0]
        script = HERE / f"{name}.py"
        for suffix in (".svg", "-narrow.svg"):
            self.env.note_dependency(str(script.with_name(f"{name}{suffix}")))
        caption = self.parse_inline(" ".join(self.content))[0]
        said = " ".join(self.content).replace("`", "")
        both = (("wide-one", name), ("narrow-one", f"{name}-narrow"))
        drawn = "".join(f'<div class="drawing {kind}">{inlined(each, said)}</div>' for kind, each in both)
        command = f"python docs/pictures/{name}.py"
        made_by = [nodes.Text(" Drawn by "), nodes.literal(command, command), nodes.Text(".")]
        return [
            nodes.container(
                "",
                nodes.raw("", drawn, format="html"),
                nodes.paragraph("", "", *caption, *made_by),
                classes=["picture"],
            )
        ]  # fmt: skip


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
