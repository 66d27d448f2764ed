"""What an HTML page has besides text: scripts, and attributes that run or fetch something."""

import html.parser
from collections import Counter


class _Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: Counter[str] = Counter()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self.scripts[given.get("type") or ""] += 1
        fetching = {"src", "srcset", "action", "formaction", "data"} & set(given)
        if fetching or tag in {"iframe", "object", "embed", "base", "link"}:
            self.active.append(tag)
        self.active += [name for name in given if name.startswith("on")]


def no_markup(text: str, *, page: bool = False) -> None:
    """Check that names did not become elements of an HTML page, or of a fragment, which has no script."""
    found = _Elements()
    found.feed(text)
    assert found.active == []
    assert found.scripts[""] == page, "the page has one script of its own"
    assert set(found.scripts) <= {"", "application/json", "text/plain"}
    assert page or not sum(found.scripts.values())
    assert "</td></td>" not in text
