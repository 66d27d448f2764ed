"""A cache of one's own for every test, and a local web site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import fwsvm.numerics.compile  # noqa: F401  (decides where compiled code is cached before the cache moves)
from fwsvm.files.folders import code_folder
from tests.data.site import Site, running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point to an empty cache of data, and to no mirror; other processes find the code that is compiled already."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(code_folder()))
    monkeypatch.setenv("FWSVM_CACHE", str(folder))
    monkeypatch.delenv("FWSVM_MIRROR", raising=False)
    return folder


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Run a web site on this machine."""
    monkeypatch.setenv("NO_PROXY", "*")
    yield from running()
