"""Each drawing of the documentation says what its command draws from the measurements that are here."""

import re
import subprocess
import sys

import pytest

from tests.docs.pages import DOCS

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")
SCRIPTS = sorted(file for file in (DOCS / "pictures").glob("*.py") if file.stem != "drawing")


def words(drawing: str) -> list[str]:
    """Return all text of a drawing; where it stands depends on the version of matplotlib."""
    return sorted(re.findall(r"<text[^>]*>([^<]+)</text>", drawing))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_drawing_is_what_its_command_draws(script, tmp_path):
    out = tmp_path / "drawn.svg"
    subprocess.run([sys.executable, script, "--out", out], check=True, cwd=tmp_path)
    for drawn in (out, out.with_stem("drawn-narrow")):
        kept = words((script.parent / drawn.name.replace("drawn", script.stem)).read_text("utf-8"))
        assert len(kept) > 5
        assert words(drawn.read_text("utf-8")) == kept


def test_each_drawing_stands_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    assert [script.stem for script in SCRIPTS if f"```{{picture}} {script.stem}\n" not in pages] == []


def test_the_readme_has_the_means_of_its_drawing():
    drawn = " ".join(words((DOCS / "pictures" / "peers.svg").read_text("utf-8")))
    means = re.findall(r"\d / \d threads, mean ([\d.]+)", drawn)
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert f"Geometric means: {', '.join(means)};" in readme
