"""What rows say of the machine and the software, whatever the machine lacks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fwsvm.experiments import record


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    record.environment.cache_clear()
    yield
    record.environment.cache_clear()


def test_a_checkout_on_a_machine_without_git_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(record, "__file__", str(tmp_path / "fwsvm" / "experiments" / "record.py"))
    monkeypatch.setenv("PATH", str(tmp_path))
    found = record.environment()
    assert (found["commit"], found["fwsvm"] != "") == ("", True)
