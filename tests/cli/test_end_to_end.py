"""A small experiment from its YAML file to its page, each command in a process of its own.

It is killed in the middle of a row, resumed, and merged with what the kill had left elsewhere; the runs.csv that
comes of it is the golden one. Where a change to a solver means that other numbers are right, write them by

    FWSVM_WRITE_GOLDEN=1 pytest tests/cli/test_end_to_end.py
"""

import csv
import io
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fwsvm.results.columns import COLUMNS

GOLDEN = Path(__file__).parent / "golden" / "end_to_end.csv"
EXPERIMENT = """\
name: end-to-end
datasets:
  - {name: wdbc, test_fraction: 0.25}
  - {name: digits, rows: 150, test_fraction: 0.25}
  - "synthetic:gaussians?rows=200&features=8&test=100&noise=0.02"
methods: [cvm, fw, mfw]
kernel: rbf
stop: relative
tolerance: 0.05
select: {holdout: 0.3, method: mfw, C: [1, 16]}
repetitions: 2
"""
RUNS = 3 * 2 + 3 * 3 * 2
#: Columns that differ between two honest runs: times, what they were measured on, and the identity, which is a hash
#: of the code too.
VOLATILE = frozenset(
    "run_id load_seconds compile_seconds train_seconds predict_seconds peak_memory_mib started_utc "  # noqa: SIM905
    "machine cpu blas python numpy numba fwsvm commit".split()
)
#: Counts of steps and of what depends on them: another processor rounds otherwise, and two vertices may be alike.
COUNTS = frozenset(
    "support_vectors iterations steps kernel_evaluations cache_hit_rate gap relative_gap".split()  # noqa: SIM905
)
#: The command line in a process that kills itself when it has written half of its eighth row.
KILLED = """
import os, runpy, signal
fsync, rows = os.fsync, []
def torn(file):
    if str(getattr(file, "name", "")).endswith("runs.csv"):
        rows.append(file)
    if len(rows) == 8:
        os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - 100)
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(file)
os.fsync = torn
runpy.run_module("fwsvm", run_name="__main__")
"""
GRID = ("grid", "end-to-end.yaml", "--offline", "--threads", "1", "--cache-mb", "64", "--out", "here")


def fwsvm(folder: Path, *arguments: str, program: tuple[str, ...] = ("-m", "fwsvm")) -> tuple[int, str, str]:
    """Run fwsvm in a process of its own and return exit code, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, *program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def stdout(folder: Path, *arguments: str) -> str:
    """Return what a command prints; it must succeed."""
    code, out, err = fwsvm(folder, *arguments)
    assert code == 0, err
    return out


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of the experiment in ``joined``."""
    place = tmp_path_factory.mktemp("end-to-end")
    (place / "end-to-end.yaml").write_text(EXPERIMENT)
    code, _, _ = fwsvm(place, *GRID, program=("-c", KILLED))
    assert code == -signal.SIGKILL
    shutil.copytree(place / "here", place / "elsewhere")
    code, out, err = fwsvm(place, *GRID)
    assert code == 0, err
    assert "the last line was incomplete" in err
    assert f"{RUNS} runs: 6 to choose parameters, 18 to report; 7 done" in err
    assert out.count("converged") == 9
    assert "the last line is incomplete" in fwsvm(place, "merge", "elsewhere", "here", "--out", "joined")[2]
    torn = place / "elsewhere" / "runs.csv"
    torn.write_bytes(torn.read_bytes()[: torn.read_bytes().rfind(b"\n") + 1])
    assert f"joined: {RUNS} runs" in stdout(place, "merge", "elsewhere", "here", "--out", "joined")
    return place


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")


def test_the_rows_are_the_golden_ones(folder):
    found = [
        {k: v for k, v in row.items() if k not in VOLATILE} for row in rows(folder / "joined" / "runs.csv")
    ]
    if os.environ.get("FWSVM_WRITE_GOLDEN"):
        with GOLDEN.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(
                file, [name for name in COLUMNS if name not in VOLATILE], lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(found)
    golden = rows(GOLDEN)
    assert [list(row) for row in found] == [list(row) for row in golden]
    assert [differences(a, b) for a, b in zip(found, golden, strict=True)] == [{}] * RUNS


def differences(found: Mapping[str, str], golden: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the columns in which two rows differ by more than rounding explains."""
    return {
        name: (found[name], golden[name]) for name in golden if not alike(name, found[name], golden[name])
    }


def alike(name: str, found: str, golden: str) -> bool:
    try:
        numbers = float(found), float(golden)
    except ValueError:
        return found == golden
    tolerance = 0.1 if name in COUNTS else 0.03 if name in {"test_accuracy", "train_accuracy"} else 1e-3
    return math.isclose(*numbers, rel_tol=tolerance)


@pytest.mark.slow
def test_every_analysis_reads_them(folder):
    table = list(csv.DictReader(io.StringIO(stdout(folder, "table", "joined", "-l", "003-2", "-f", "csv"))))
    assert len(table) == 3
    finals = [row for row in rows(folder / "joined" / "runs.csv") if row["role"] == "final"]
    cvm = [
        float(row["test_accuracy"]) for row in finals if (row["dataset"], row["method"]) == ("wdbc", "cvm")
    ]
    assert float(table[0]["cvm"]) == pytest.approx(sum(cvm) / 2)
    assert "N = 3 data sets, k = 3 methods" in stdout(folder, "stats", "joined")
    assert "not run" in stdout(folder, "claims", "joined", "--only", "003")
    drawn = stdout(
        folder, "plot", "joined", "--figure", "datasets", "--measure", "accuracy", "--measure", "time"
    )
    pictures = [folder / line.split("  ")[0] for line in drawn.splitlines()]
    assert {path.name for path in pictures} == {"datasets-accuracy.png", "datasets-time.png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    stdout(folder, "report", "joined")
    page = (folder / "joined" / "report.html").read_text(encoding="utf-8")
    assert "end-to-end" in page
    assert page.count("<img") + page.count("<svg") >= 2
