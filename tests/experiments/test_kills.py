"""Searches killed at random moments come to the rows of an uninterrupted one (`tests.experiments.kills`)."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
KILLS = 4


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
@pytest.mark.parametrize("executor", ["inline", "workers"])
def test_a_killed_search_has_the_rows_of_an_uninterrupted_one(executor: str) -> None:
    options = f"--kills {KILLS} --executor {executor} --seed 1".split()
    command = [sys.executable, "-m", "tests.experiments.kills", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{KILLS} kills" in done.stdout
    assert "all alike, merged" in done.stdout
