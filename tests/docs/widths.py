"""Look at every page of the built documentation in a browser: nothing may be wider than the window.

No picture may be wider than its box, either.

``python -m tests.docs.widths SITE`` opens all pages in frames of three widths in a headless Chromium, and names those
that would have to be scrolled sideways. `make docs` does it where a browser is at hand.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (360, 768, 1280)
LOOK = """<script>onload = () => { document.body.textContent = "WIDE:" + [...document.querySelectorAll("iframe")]
    .filter(frame => [frame.contentDocument.documentElement,
        ...frame.contentDocument.querySelectorAll(".picture div")].some(box => box.scrollWidth > box.clientWidth + 1))
    .map(frame => frame.title).join("|") + ":END"; }</script>"""


def too_wide(site: Path) -> list[str]:
    """Return the pages that are wider than their window, with its width."""
    pages = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    assert pages, f"{site} has no pages"
    frames = [
        f'<iframe src="{page.resolve().as_uri()}" width={width} title="{page.relative_to(site)} at {width}"></iframe>'
        for page in pages
        for width in WIDTHS
    ]
    with tempfile.TemporaryDirectory() as folder:
        looked = Path(folder, "frames.html")
        looked.write_text(f"<body>{''.join(frames)}{LOOK}</body>", "utf-8")
        options = ["--headless", "--no-sandbox", "--allow-file-access-from-files", "--hide-scrollbars"]
        command = [
            str(CHROMIUM),
            *options,
            f"--user-data-dir={folder}/profile",
            "--dump-dom",
            looked.as_uri(),
        ]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    found = re.search("WIDE:(.*):END</body>", shown)
    assert found, shown[-1000:]
    return html.unescape(found[1]).split("|") if found[1] else []


def main(site: Path) -> int:
    """Print what is too wide; return the exit code."""
    if CHROMIUM is None:
        print("note: no Chromium, so nobody looked at the pages")
        return 0
    wide = too_wide(site)
    print("\n".join(f"wider than its window: {page}" for page in wide) or "no page is wider than its window")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
