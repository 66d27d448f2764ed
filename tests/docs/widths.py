"""Look at every page of the built documentation in a browser: nothing may be wider than the window.

No picture may be wider than its box, either.

``python -m tests.docs.widths SITE`` opens all pages one after another, in windows of three widths of a headless
Chromium, and names those that would have to be scrolled sideways. `make docs` does it where a browser is at hand.
"""

import sys
import tempfile
from pathlib import Path

from tests.browser import chromium

WIDTHS = (360, 768, 1280)
WIDER = """[document.documentElement, ...document.querySelectorAll(".picture div")]
    .some(box => box.scrollWidth > box.clientWidth + 1)"""


def too_wide(site: Path, tab: chromium.Tab) -> list[str]:
    """Return the pages that are wider than their window, with its width."""
    pages = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    assert pages, f"{site} has no pages"
    found = []
    for page in pages:
        tab.open(page)
        for width in WIDTHS:
            tab.resize(width)
            if tab.value(WIDER):
                found.append(f"{page.relative_to(site)} at {width}")
    return found


def main(site: Path) -> int:
    """Print what is too wide; return the exit code."""
    path = chromium.found()
    if path is None:
        print(f"note: no browser ({', '.join(chromium.NAMES)}), so nobody looked at the pages")
        return 0
    with tempfile.TemporaryDirectory() as profile, chromium.browser(path, Path(profile)) as tab:
        wide = too_wide(site, tab)
    print("\n".join(f"wider than its window: {page}" for page in wide) or "no page is wider than its window")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
