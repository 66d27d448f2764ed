"""A cache of one's own for every test, and a local web site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import fwsvm.numerics.compile  # noqa: F401  (decides where compiled code is cached before the cache moves)
from tests.data.site import Site, running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point to an empty cache, and to no mirror."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FWSVM_CACHE", str(folder))
    monkeypatch.delenv("FWSVM_MIRROR", raising=False)
    return folder


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Run a web site on this machine."""
    monkeypatch.setenv("NO_PROXY", "*")
    yield from running()
