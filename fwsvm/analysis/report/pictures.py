"""The figures of a report: each a drawing that follows the page's colours, and its numbers, to be drawn anew."""

import functools
import html
import itertools
import json
import re
from collections.abc import Iterator

from fwsvm.analysis import figures
from fwsvm.analysis.report.chart import chart
from fwsvm.analysis.report.sections import or_error
from fwsvm.errors import FwsvmError

#: Where an SVG names a part of itself or refers to one.
_ID = re.compile(r"""(\bid="|\bhref="#|url\(#)""")
_TAG = re.compile(r"<[^<>]*>")
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
#: Groups that nothing refers to, and space between tags.
_OWN_NAMES, _BETWEEN = re.compile(r'<g id="[^"<>]*">'), re.compile(r">\s+<")
_DIGITS = re.compile(r"(\d\.\d)\d+")
_COLOUR = re.compile(r"#([0-9a-f]{6})\b")
#: Colours that page.css has another of for dark screens.
THEMED = frozenset({"000000", "222222", "dddddd", "ffffff", "0072b2", "7f6000", "555555", "d55e00", "009e73"})
HEADINGS = {
    "series": "Series of data sets",
    "datasets": "Single data sets",
    "sweep": "Over C",
    "convergence": "Convergence",
    "selection": "Parameter search",
    "ranks": "Mean ranks",
    "settings": "Settings of the authors' program",
}
#: Kinds of which a page has many pictures, folded.
FOLDED = 4


class Pictures:
    """The pictures of one page; ``interactive`` says whether their numbers are put beside them, as ``scripts``."""

    def __init__(self, data: figures.FigureData, *, interactive: bool) -> None:
        self.data = data
        self.interactive = interactive
        self.scripts: list[str] = []
        self._numbers = itertools.count(1)

    def kind(self, name: str) -> str:
        """Return all pictures of a kind, or the sentence why they cannot be drawn; '' if there are no numbers."""
        return or_error(functools.partial(self._drawn, name))

    def all_but(self, name: str) -> str:
        """Return all other kinds below headings; many pictures of a kind are folded behind the first of them."""
        return "".join(self._kinds(name)) or "<p>Nothing to draw.</p>"

    def _kinds(self, without: str) -> Iterator[str]:
        failed: list[str] = []
        for name in figures.kinds():
            if name == without:
                continue
            try:
                drawn = self._pictures(name)
            except FwsvmError as error:
                said = f"<p class=warning>{html.escape(str(error))}</p>"
                if said not in failed:  # matplotlib is lacking once
                    failed.append(said)
                    yield said
                continue
            if drawn:
                title = HEADINGS.get(name, name.capitalize())
                yield f"<h3>{html.escape(title)}</h3><div class=pictures>{''.join(drawn[:FOLDED])}</div>"
                if more := drawn[FOLDED:]:
                    yield (
                        f"<details class=more><summary>{len(more)} more</summary>"
                        f"<div class=pictures>{''.join(more)}</div></details>"
                    )

    def _drawn(self, name: str) -> str:
        return "".join(self._pictures(name))

    def _pictures(self, name: str) -> list[str]:
        return [self._picture(drawing) for drawing in figures.draw(self.data, [name])]

    def _picture(self, drawing: figures.Drawing) -> str:
        number = next(self._numbers)
        numbers = chart(drawing) if self.interactive else None
        script = ""
        if numbers is not None:
            script = (
                f"<script type=application/json class=numbers id=n{number}>{in_json_script(numbers)}</script>"
            )
            self.scripts.append(script)
        wide = " class='picture wide'" if drawing.figure.get_figwidth() > 7.5 else " class=picture"
        caption = html.escape(drawing.caption)
        return (
            f"<figure{wide}><div class=drawing>{inline_svg(drawing, f'p{number}-')}</div>{script}"
            f"<figcaption>{caption}</figcaption></figure>"
        )


def inline_svg(drawing: figures.Drawing, prefix: str) -> str:
    """Return a drawing as an element of the page: in its colours, with ids of its own, and named by its caption."""
    svg = drawing.content("svg").decode()
    svg = _METADATA.sub("", svg[svg.index("<svg") :])
    svg = _BETWEEN.sub("><", _OWN_NAMES.sub("<g>", svg))
    svg = _TAG.sub(lambda tag: _ID.sub(rf"\g<1>{prefix}", _in_colours(_shorter(tag[0]))), svg)
    label = html.escape(drawing.caption)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _shorter(tag: str) -> str:
    """Return a tag with numbers of one decimal, a tenth of a point, and without line ends."""
    return " ".join(_DIGITS.sub(r"\1", tag).split()).replace('stroke-linejoin: miter"', '"')


def _in_colours(tag: str) -> str:
    """Replace the colours that change on dark screens by variables of page.css."""
    return _COLOUR.sub(lambda found: f"var(--c-{found[1]})" if found[1] in THEMED else found[0], tag)


def in_json_script(value: object) -> str:
    r"""Return JSON that ends no script element and holds no line separator: < > & and all but ASCII are \u escapes."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
