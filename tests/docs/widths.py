"""Look at every page of the built documentation in a browser: nothing may be wider than the window.

No picture may be wider than its box, either.

``python -m tests.docs.widths SITE`` opens all pages in frames of three widths in one headless Chromium, and names those
that would have to be scrolled sideways. `make docs` does it where a browser is at hand.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.browser import chromium

WIDTHS = (360, 768, 1280)
LOOK = """<body>{frames}<pre id="found"></pre><script>
onload = () => {{
  const over = box => box.scrollWidth > box.clientWidth + 1;
  const wide = [...document.querySelectorAll("iframe")].filter(f =>
    [f.contentDocument.documentElement, ...f.contentDocument.querySelectorAll(".picture div")].some(over));
  document.getElementById("found").textContent =
    "FOUND" + JSON.stringify(wide.map(f => f.getAttribute("src") + " at " + f.width)) + "END";
}};
</script></body>"""


def too_wide(site: Path, browser: str) -> list[str]:
    """Return the pages that are wider than their window, with its width."""
    pages = sorted(
        str(page.relative_to(site)) for page in site.rglob("*.html") if "_static" not in page.parts
    )
    frames = [
        f'<iframe src="{page}" width="{width}" height="600" style="border: 0"></iframe>'
        for page in pages
        for width in WIDTHS
    ]
    probe = site / "_widths.html"
    probe.write_text(LOOK.format(frames="".join(frames)), encoding="utf-8")
    try:
        shown = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
             "--virtual-time-budget=60000", "--window-size=1400,900", "--dump-dom", probe.resolve().as_uri()],
            capture_output=True, text=True, check=True, timeout=300,
        ).stdout  # fmt: skip
    finally:
        probe.unlink()
    (found,) = re.findall(r"FOUND(\[.*\])END", shown)
    return list(json.loads(found))


def main(site: Path) -> int:
    """Print what is too wide; return the exit code."""
    browser = chromium.found()
    if browser is None:
        print(f"note: no browser ({', '.join(chromium.NAMES)}), so nobody looked at the pages")
        return 0
    wide = too_wide(site, browser)
    print("\n".join(f"wider than its window: {page}" for page in wide) or "no page is wider than its window")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
