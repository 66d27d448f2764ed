"""Tables of what each setting of the authors' program does."""

import subprocess
import sys
from pathlib import Path

from tests.analysis.folders import row, write

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "reference" / "why"


def printed(folder: Path) -> str:
    """Return what the script prints of a results folder."""
    command = [sys.executable, ROOT / "benchmarks" / "why_table.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_the_kept_tables_are_those_of_the_kept_runs():
    assert printed(KEPT) == (KEPT / "tables.md").read_text("utf-8")


def test_ratios_are_medians_of_those_within_a_repetition_and_say_where_a_run_was_cut_off(tmp_path):
    common = {
        "experiment": "why",
        "dataset": "a5a",
        "search": "sampled",
        "C": 1,
        "sigma2": 1,
        "width_rule": "libcvm",
    }
    seconds = {"cvm": (8, 6, 60), "fw": (2, 3, 1), "mfw": (1, 1, 1), "swap": (4, 4, 4)}
    rows = [
        row(
            **common,
            method=method,
            repetition=i,
            train_seconds=t,
            status="time_limit" if t == 60 else "sampled_stop",
        )
        for method, times in seconds.items()
        for i, t in enumerate(times)
    ]
    write(tmp_path, rows)
    line = next(line for line in printed(tmp_path).splitlines() if line.startswith("| as run"))
    assert [field.strip() for field in line.split("|")[3:7]] == ["> 8.0", "> 4.0", "> 8.0", "> 2.0"]
