"""One browser for all tests of pages."""

import pytest

from tests.browser.chromium import browser, found


@pytest.fixture(scope="session")
def tab(tmp_path_factory):
    """Yield a tab of a headless browser; skip where there is none."""
    path = found()
    if path is None:
        pytest.skip("no browser here: Debian's package is chromium")
    with browser(path, tmp_path_factory.mktemp("profile")) as opened:
        yield opened
