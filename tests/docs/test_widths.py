"""What looks for pages of the documentation that are wider than the window finds them."""

import pytest

from tests.docs.widths import CHROMIUM, too_wide


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_page_that_is_too_wide_is_named_with_the_width(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "narrow.html").write_text("<p>some words that go on below</p>")
    (tmp_path / "wide.html").write_text("<div style='width: 1000px'>wide</div>")
    picture = "<div class=picture><div style='overflow-x: auto'><div style='width: 500px'>.</div></div></div>"
    (tmp_path / "inside" / "picture.html").write_text(picture)
    assert too_wide(tmp_path) == ["inside/picture.html at 360", "wide.html at 360", "wide.html at 768"]
