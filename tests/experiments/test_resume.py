"""A chain that did not end begins again: whatever was lost, failed or cut off, the rows are those of one whole run."""

import contextlib
import csv
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fwsvm.experiments.experiment import Resources
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.run import Record, run_cells
from fwsvm.solvers import Settings, Status
from fwsvm.solvers import c_path as paths
from tests.cli.running import differing, run
from tests.experiments import cells

TEXT = """\
name: resumed
datasets: [wdbc]
tolerance: 1e-4
methods:
  - {name: swap-2o, select: {method: swap-2o, holdout: 0.3, C: [0.5, 2, 8, 32], sigma2: [1, 4, 16]}}
  - {name: newton, select: {method: newton, holdout: 0.3, C: [0.5, 2, 8, 32], sigma2: [1, 16]}}
"""
ROWS = 12 + 8 + 2

Rows = dict[str, dict[str, str]]


def grid(folder: Path, *options: str) -> tuple[int, str, str]:
    """Run the experiment in a folder and return exit code, stdout and stderr."""
    (folder / "resumed.yaml").write_text(TEXT)
    with contextlib.chdir(folder):
        found = run("grid", "resumed.yaml", "--offline", "--threads", "1", "--out", "out", *options)
    return found.exit_code, found.stdout, found.stderr


def lines(folder: Path) -> list[str]:
    return (folder / "out" / "runs.csv").read_text().splitlines(keepends=True)


def rows(folder: Path) -> Rows:
    """Return the latest row of each run."""
    return {row["run_id"]: row for row in csv.DictReader(lines(folder))}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where the experiment ran without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    assert grid(folder)[0] == 0
    assert len(rows(folder)) == ROWS
    return folder


def alike(found: Rows, expected: Rows) -> bool:
    return found.keys() == expected.keys() and not any(
        differing(expected[name], found[name]) for name in expected
    )


@contextlib.contextmanager
def training(change: Callable[[int, Settings], Settings]) -> Iterator[None]:
    """Let a function see the number and the settings of each run of a search, and change them."""
    train, count = paths.CPath.train, itertools.count(1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            paths.CPath,
            "train",
            lambda path, asked, watch=None: train(path, change(next(count), asked), watch),
        )
        yield


def failing(number: int, error: BaseException) -> Callable[[int, Settings], Settings]:
    def change(at: int, asked: Settings) -> Settings:
        if at == number:
            raise error
        return asked

    return change


@pytest.mark.parametrize("lost", [{1}, {3, 7}, {5, 13, 20}, {22}, set(range(2, 22))])
def test_whichever_rows_are_lost_their_chains_are_made_again(
    whole: Path, tmp_path: Path, lost: set[int]
) -> None:
    (tmp_path / "out").mkdir()
    kept = [line for number, line in enumerate(lines(whole)) if number not in lost]
    (tmp_path / "out" / "runs.csv").write_text("".join(kept))
    assert grid(tmp_path)[0] == 0
    assert lines(tmp_path)[: len(kept)] == kept
    assert alike(rows(tmp_path), rows(whole))


def test_a_chain_goes_on_after_a_run_that_fails_and_is_made_again_whole(whole: Path, tmp_path: Path) -> None:
    with training(failing(6, MemoryError())):
        code, _, err = grid(tmp_path)
    assert (code, "memory ran out" in err) == (4, True)
    assert [row["status"] for row in rows(tmp_path).values()].count("error") == 1
    assert grid(tmp_path, "--dry-run")[1].count("  to do") == 4, "the run and the rest of its chain"
    assert grid(tmp_path)[0] == 0
    found = rows(tmp_path)
    assert alike({name: found[name] for name in rows(whole)}, rows(whole))


@pytest.mark.parametrize("begun", [1, 2, 11, 20])
def test_after_ctrl_c_the_rows_are_those_of_an_uninterrupted_search(
    whole: Path, tmp_path: Path, begun: int
) -> None:
    with training(failing(begun, KeyboardInterrupt())):
        assert grid(tmp_path)[0] == 130
    assert grid(tmp_path)[0] == 0
    assert alike(rows(tmp_path), rows(whole))


def test_rows_of_another_version_are_said_in_one_line_and_kept(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    older = [dict(row, fwsvm="0.1.0") for row in rows(whole).values()]
    with (tmp_path / "out" / "runs.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, older[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(older)
    code, _, err = grid(tmp_path)
    assert (code, rows(tmp_path)) == (0, {row["run_id"]: row for row in older})
    said = "finished runs made by fwsvm 0.1.0 are kept; --force repeats them"
    assert said in " ".join(err.split())


def chain(method: str, *penalties: float) -> list[Cell]:
    return cells.chain(Settings(method, C=C, sigma2=4.0, tolerance=1e-4, seed=3) for C in penalties)


def made(every: list[Cell]) -> list[Record]:
    return list(run_cells(every, Resources(threads=1, cache_mib=64)))


@pytest.mark.parametrize("method", ["swap-2o", "newton"])
def test_a_run_that_a_clock_cut_short_passes_nothing_on(method: str) -> None:
    """Where it ended depends on the machine; the next run starts anew."""
    first, middle, last = chain(method, 0.5, 2.0, 8.0)
    hurried = replace(middle, settings=replace(middle.settings, time_limit=1e-9))
    whole, cut = made([first, middle, last]), made([first, hurried, last])
    assert [record.status for record in cut] == [Status.CONVERGED, Status.TIME_LIMIT, Status.CONVERGED]
    assert whole[2].row["shared"]
    assert not cut[2].row["shared"]
    assert cut[2].row["iterations"] != whole[2].row["iterations"]
