"""Searches killed at random moments come to the rows of an uninterrupted one (`tests.experiments.kills`)."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
@pytest.mark.parametrize("executor", ["inline", "workers"])
def test_a_killed_search_has_the_rows_of_an_uninterrupted_one(executor: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.experiments.kills",
        "--kills",
        "4",
        "--executor",
        executor,
        "--seed",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kills" in done.stdout
    assert "all alike, merged" in done.stdout
