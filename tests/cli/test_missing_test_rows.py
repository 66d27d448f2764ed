"""A data set whose test file is not available: everything is reported but the accuracy on it, and that is said."""

import json
from pathlib import Path

import pytest

from fwsvm import data
from fwsvm.data import lockfile
from fwsvm.errors import DataError
from tests.cli.running import done
from tests.cli.test_data_command import TEST, TRAIN, write_lock
from tests.data.conftest import cache, site
from tests.data.site import Site

__all__ = ["cache", "site"]  # fixtures

SAID = "The test rows of tiny are not available, so there is no test accuracy."


@pytest.fixture
def half(cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Use a lock whose one set has its training file on a web site and its test file nowhere."""
    path = write_lock(tmp_path / "datasets.lock", site.put("/t", TRAIN), site.address + "/none")
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    return site


def test_training_is_reported_and_the_test_accuracy_is_empty(half):
    found = done("train", "tiny", "--json")
    row = json.loads(found.stdout)
    assert row["status"] == "converged"
    assert row["test_accuracy"] is None
    assert row["train_accuracy"] is not None
    assert row["message"].endswith(SAID)
    notice = " ".join(found.stderr.split())
    assert f"{half.address}/none: HTTP status 404" in notice
    assert "fwsvm data add tiny FILE" in notice


def test_test_rows_that_come_later_are_another_data_set(half, tmp_path):
    lacking = data.load("tiny")
    (tmp_path / "t.t").write_bytes(TEST)
    done("data", "add", "tiny", tmp_path / "t.t")
    whole = data.load("tiny")
    assert (lacking.test, lacking.lacking) == (None, SAID)
    assert whole.test is not None
    assert whole.lacking == ""
    assert whole.fingerprint != lacking.fingerprint


def test_folds_need_no_test_rows(half):
    said = json.loads(done("cv", "tiny", "--folds", "2", "--json").stdout)
    assert all(row["test_accuracy"] is not None for row in said["rows"])
    assert not any(SAID in row["message"] for row in said["rows"])


def test_fetch_and_a_split_need_every_file(half, tmp_path, monkeypatch):
    assert "HTTP status 404" in done("data", "fetch", "tiny", code=3).stderr
    text = lockfile.lock_path().read_text("utf-8")
    path = tmp_path / "split.lock"
    path.write_text(text.replace("    sources:", "    split: {train_rows: 20}\n    sources:", 1), "utf-8")
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    with pytest.raises(DataError, match="tiny is not available"):
        data.load("tiny")
