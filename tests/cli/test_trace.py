"""``fwsvm train --trace``: the course of a run as CSV, which ends at what the run reports."""

import csv
import json
from pathlib import Path

import pytest

from tests.cli.running import done

DATA = "synthetic:gaussians?rows=60&features=3&test=0"
HEADER = ["seconds", "iteration", "objective", "gap", "support_vectors"]
SIMPLEX = ("fw", "mfw", "swap", "swap-2o", "cvm", "newton", "chunking", "decomposition", "auto")
LINEAR = ("liblinear", "avsf")


def traced(folder: Path, *words: object) -> tuple[dict, list[dict[str, str]]]:
    """Return the row of a run, and the lines of its trace by the names of their columns."""
    path = folder / "trace.csv"
    made = done("train", "--json", "--threads", 1, "--trace", path, *words, DATA)
    with path.open(newline="", encoding="utf-8") as stream:
        header, *lines = csv.reader(stream)
    assert header == HEADER
    return json.loads(made.stdout), [dict(zip(header, line, strict=True)) for line in lines]


def assert_ends_at(row: dict, lines: list[dict[str, str]], *, within: float) -> None:
    """Look at the last line: its counts are those of the row, its numbers within so much of the objective."""
    last, room = lines[-1], within * row["objective"]
    assert (int(last["iteration"]), int(last["support_vectors"])) == (
        row["iterations"],
        row["support_vectors"],
    )
    assert float(last["objective"]) == pytest.approx(row["objective"], abs=room)
    assert float(last["gap"]) == pytest.approx(row["gap"], abs=room)


@pytest.mark.parametrize("method", [*SIMPLEX, *LINEAR, "wolfe", "scs"])
def test_a_trace_rises_in_iterations_and_ends_at_what_is_reported(tmp_path, method):
    row, lines = traced(tmp_path, "--method", method)
    assert row["status"] == "converged"
    iterations, seconds = ([float(line[name]) for line in lines] for name in ("iteration", "seconds"))
    assert iterations == sorted(set(iterations))
    assert seconds == sorted(seconds)
    assert len(lines) > 1
    # q is summed from kernel values of single precision, 6e-8 each, and the objective is 0.02
    assert_ends_at(row, lines, within=1e-5)


@pytest.mark.parametrize("method", SIMPLEX)
def test_without_a_final_gap_the_last_line_is_what_is_reported(tmp_path, method):
    assert_ends_at(*traced(tmp_path, "--method", method, "--no-final-gap"), within=0.0)


def test_a_gap_that_is_not_known_is_an_empty_field(tmp_path):
    row, lines = traced(tmp_path, "--method", "pegasos", "--max-iterations", 300)
    assert [line["gap"] for line in lines] == [""] * len(lines)
    assert int(lines[-1]["iteration"]) == row["iterations"] == 300
    assert row["gap"] > 0.0
