"""Download progress: a bar in a terminal that always goes away, plain lines elsewhere."""

import io
import re
from pathlib import Path

import pytest
import rich.console

from fwsvm.cli import _progress
from fwsvm.data.fetching.download import FetchOptions
from fwsvm.data.fetching.obtaining import obtain
from fwsvm.errors import DataError
from tests.data import site as serve
from tests.data.conftest import cache, site
from tests.data.site import PATIENT, Site
from tests.data.test_fetch import CONTENT, a_file, an_entry

__all__ = ["cache", "site"]  # fixtures


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Make stderr a terminal that remembers all it was sent."""
    screen = io.StringIO()
    console = rich.console.Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(rich.console, "Console", lambda **_: console)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    return screen


@pytest.mark.parametrize("behaviour", [serve.well, serve.dies])
def test_a_bar_shows_the_file_and_is_taken_away(
    behaviour: serve.Behaviour, terminal: io.StringIO, cache: Path, site: Site
) -> None:
    entry = an_entry(a_file(site.put("/tiny", CONTENT, behaviour)))
    options = FetchOptions(timeouts=PATIENT, bar=_progress.download_bar)
    if behaviour is serve.well:
        obtain(entry, None, options)
    else:
        with pytest.raises(DataError):
            obtain(entry, None, options)
    sent = terminal.getvalue()
    assert "tiny" in sent
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") > 0  # the cursor comes back as often as it goes


def test_plain_lines_come_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter(range(0, 100, 3))
    monkeypatch.setattr("time.monotonic", lambda: float(next(now)))
    lines = _progress.download_bar("big.bz2", 30_000_000)
    assert isinstance(lines, _progress.PlainProgress)
    for _ in range(6):
        lines.update(5_000_000)
    lines.close()
    said = capsys.readouterr().err.splitlines()
    assert 1 <= len(said) < 6
    assert all(re.fullmatch(r"big\.bz2: [0-9.]+ of 30\.0 MB", line) for line in said)
