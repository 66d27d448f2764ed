"""Results that tests of several commands read."""

from pathlib import Path

import pytest

from tests.analysis.folders import like_paper, write


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results like 003's, three repetitions of its 26 data sets and three methods; nothing writes into them."""
    return write(tmp_path_factory.mktemp("results") / "like-003", like_paper("003"))
