"""Searches killed at random moments come to the rows of an uninterrupted one; ``make kills`` kills many more times."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fwsvm.results.reading import keep_latest, read_runs
from tests.cli.running import differing
from tests.clusters import started

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("KILLS", "4"))
IN_A_FOLDER = 2  # kills before a folder is completed
EXPERIMENT = """\
name: kills
datasets:
  - wdbc
  - {name: "synthetic:gaussians?rows=600&features=6&test=0&seed=1", methods: [swap-2o, newton]}
tolerance: 1e-4
methods:
  - {name: swap-2o, select: {method: swap-2o, folds: 3, C: [0.5, 2, 8, 32, 128], sigma2: [1, 4, 16]}}
  - {name: newton, select: {method: newton, folds: 3, C: [0.5, 2, 8, 32, 128], sigma2: [1, 4, 16]}}
  - {name: avsf, C: [1e-8, 1e-7, 1e-6]}
"""


def begin(out: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Begin the experiment, or go on with it, in a group of processes of its own."""
    words = ["grid", "kills.yaml", "--offline", "--cache-mb", "64", "--quiet", "--out", out.name, *options]
    command = [sys.executable, "-m", "fwsvm", *words]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=out.parent, start_new_session=True, stdout=nowhere, stderr=nowhere)


def lines(out: Path) -> int:
    """Return how many rows, and header, a folder has."""
    return (out / "runs.csv").read_bytes().count(b"\n") if (out / "runs.csv").exists() else 0


def latest(out: Path) -> dict[str, dict[str, str]]:
    """Return the latest row of each run."""
    table, found = read_runs(out / "runs.csv"), dict[str, dict[str, str]]()
    assert not table.torn
    for row in table.frame.to_dict("records"):
        keep_latest(found, row)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
@pytest.mark.parametrize("executor", ["", "--workers", "--scheduler"])
def test_a_killed_search_has_the_rows_of_an_uninterrupted_one(tmp_path: Path, executor: str) -> None:
    with contextlib.ExitStack() as stack:
        options = [executor, "2"] if executor else []
        if executor == "--scheduler":
            pytest.importorskip("distributed")
            options[1] = stack.enter_context(started(tmp_path)).address
        kill_and_resume(tmp_path, options)


def kill_and_resume(tmp_path: Path, options: list[str]) -> None:
    """Kill searches at random moments, and compare the rows that they come to in the end."""
    chance = random.Random(1)
    (tmp_path / "kills.yaml").write_text(EXPERIMENT, "utf-8")
    assert begin(tmp_path / "whole", *options).wait(600) == 0
    whole = latest(tmp_path / "whole")
    for kill in range(KILLS):
        out = tmp_path / f"killed-{kill // IN_A_FOLDER}"
        after = lines(out) + chance.randrange(len(whole) // IN_A_FOLDER)
        command = begin(out, *options)
        while command.poll() is None and lines(out) <= after:
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
        assert command.wait(600) in {0, 130, -signal.SIGKILL}
        if kill % IN_A_FOLDER:
            assert begin(out, *options).wait(600) == 0
            found = latest(out)
            assert found.keys() == whole.keys()
            assert not [run for run in found if differing(whole[run], found[run])]
