"""A search whose runs start where others end comes to the same rows, whatever of it was lost, failed or was cut off."""

import contextlib
import csv
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwsvm.cli import main
from fwsvm.experiments import execute, plan, samples
from fwsvm.experiments.execute import Record, Resources, run_task
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.plan import SELECT, Cell
from fwsvm.results.agreement import differing
from fwsvm.results.writing import csv_fields
from fwsvm.solvers import Settings, Status
from fwsvm.solvers import c_path as paths

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


def grid(folder: Path, *options: str) -> tuple[int, str]:
    """Run the experiment in a folder and return exit code and stderr."""
    (folder / "resumed.yaml").write_text(TEXT)
    with contextlib.chdir(folder):
        command = ["grid", "resumed.yaml", "--offline", "--threads", "1", "--out", "out", *options]
        found = CliRunner().invoke(main, command)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stderr


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


def drawn(examples: int) -> settings:
    """Return settings for so many examples, each of which is one or several experiments."""
    ours = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples, deadline=None, suppress_health_check=ours)


LOST = given(lost=st.sets(st.integers(1, ROWS), min_size=1))
BEGUN = given(begun=st.lists(st.integers(1, ROWS), min_size=1, max_size=3))


def comes_back(whole: Path, folder: Path, lost: set[int]) -> None:
    """Check that an experiment whose rows of these numbers are lost makes those, and no others."""
    (folder / "out").mkdir(exist_ok=True)
    kept = [line for number, line in enumerate(lines(whole)) if number not in lost]
    (folder / "out" / "runs.csv").write_text("".join(kept))
    assert grid(folder)[0] == 0
    assert lines(folder)[: len(kept)] == kept
    assert len(lines(folder)) == 1 + ROWS
    assert alike(rows(folder), rows(whole))


@drawn(3)
@LOST
def test_whichever_rows_are_lost_the_same_ones_come_back_and_no_others(
    whole: Path, tmp_path: Path, lost: set[int]
) -> None:
    comes_back(whole, tmp_path, lost)


@pytest.mark.slow
@drawn(8)
@LOST
def test_of_many_more_losses_each_is_made_good(whole: Path, tmp_path: Path, lost: set[int]) -> None:
    comes_back(whole, tmp_path, lost)


@contextlib.contextmanager
def failing(C: float, sigma2: float) -> Iterator[None]:
    """Let the search's runs with these values fail, as where memory runs out."""
    train = execute._train

    def one_fails(path, cell, resources, watch):
        if (cell.role, cell.settings.C, cell.settings.sigma2) == (SELECT, C, sigma2):
            raise MemoryError
        return train(path, cell, resources, watch)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(execute, "_train", one_fails)
        yield


@contextlib.contextmanager
def cutting(C: float, sigma2: float) -> Iterator[None]:
    """Let the time limit cut the search's runs with these values short, as on a busier computer."""
    train = execute._train

    def one_is_cut(path, cell, resources, watch):
        if (cell.role, cell.settings.C, cell.settings.sigma2) == (SELECT, C, sigma2):
            cell = replace(cell, settings=replace(cell.settings, time_limit=1e-9))
        return train(path, cell, resources, watch)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(execute, "_train", one_is_cut)
        yield


def test_a_finished_run_that_its_limit_cuts_as_it_is_made_again_keeps_its_row_and_those_after_it(
    whole: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    last = last_of_chain(whole, 4.0)
    (tmp_path / "out" / "runs.csv").write_text(
        "".join(line for line in lines(whole) if line.split(",")[0] != last)
    )
    with cutting(2.0, 4.0):
        code, err = grid(tmp_path)
    assert (code, "3 finished runs are made again" in err) == (0, True)
    found, before = rows(tmp_path), rows(whole)
    cut_and_next = [n for n, row in before.items() if row["sigma2"] == "4.0" and row["C"] in {"2.0", "8.0"}]
    assert [found[name] for name in cut_and_next] == [before[name] for name in cut_and_next]
    assert (len(cut_and_next), found[last]["status"]) == (2, "converged")


def test_what_followed_a_failed_run_is_made_again_with_it(whole: Path, tmp_path: Path) -> None:
    with failing(2.0, 4.0):
        assert grid(tmp_path)[0] == 4
    assert not alike(rows(tmp_path), rows(whole))
    assert ", 3 made again, because others start where they end" in grid(tmp_path, "--dry-run")[1]
    code, err = grid(tmp_path)
    assert (code, "3 finished runs are made again" in err) == (0, True)
    assert alike(rows(tmp_path), rows(whole))


def test_a_run_that_fails_as_it_is_made_again_keeps_its_row_and_records_no_other_wrongly(
    whole: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lost = [line for line in lines(whole) if line.split(",")[0] == last_of_chain(whole, 4.0)]
    kept = [line for line in lines(whole) if line not in lost]
    (tmp_path / "out" / "runs.csv").write_text("".join(kept))
    with failing(2.0, 4.0):
        assert grid(tmp_path)[0] == 4
    # a search that lacks a run is judged by the others; what was chosen so has rows of its own
    assert lines(tmp_path)[: len(kept)] == kept
    assert last_of_chain(whole, 4.0) not in rows(tmp_path)
    assert grid(tmp_path)[0] == 0
    found = rows(tmp_path)
    assert alike({name: found[name] for name in rows(whole)}, rows(whole))


def goes_on(whole: Path, folder: Path, begun: list[int]) -> None:
    """Check an experiment in which Ctrl-C is pressed as so many runs were begun, once in each pass.

    What was proven by itself then is proven again.
    """
    (folder / "out").mkdir(exist_ok=True)
    (folder / "out" / "runs.csv").unlink(missing_ok=True)
    for number in begun:
        with pressed(number):
            assert grid(folder)[0] in {0, 130}
    assert grid(folder)[0] == 0
    assert alike(rows(folder), rows(whole))


@drawn(2)
@BEGUN
def test_after_ctrl_c_the_rows_are_those_of_an_uninterrupted_search(
    whole: Path, tmp_path: Path, begun: list[int]
) -> None:
    goes_on(whole, tmp_path, begun)


@pytest.mark.slow
@drawn(5)
@BEGUN
def test_after_ctrl_c_in_many_more_places_the_rows_are_so_too(
    whole: Path, tmp_path: Path, begun: list[int]
) -> None:
    goes_on(whole, tmp_path, begun)


@contextlib.contextmanager
def pressed(begun: int) -> Iterator[None]:
    """Press Ctrl-C as a run is begun, so many runs having been before."""
    train, count = execute._train, itertools.count(1)

    def one_is_interrupted(*given):
        if next(count) == begun:
            raise KeyboardInterrupt
        return train(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(execute, "_train", one_is_interrupted)
        yield


def last_of_chain(folder: Path, sigma2: float) -> str:
    return next(
        name for name, row in rows(folder).items()
        if (row["method"], row["role"], float(row["C"]), float(row["sigma2"])) == ("swap-2o", "select", 32.0, sigma2)
    )  # fmt: skip


def test_a_killed_and_an_uninterrupted_folder_merge(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs.csv").write_text("".join(lines(whole)[:7]) + "torn")
    assert grid(tmp_path)[0] == 0
    for order in ([whole / "out", tmp_path / "out"], [tmp_path / "out", whole / "out"]):
        out = tmp_path / f"joined-{order[0].parent.name}"
        done = CliRunner().invoke(main, ["merge", *map(str, order), "--out", str(out)])
        assert done.exit_code == 0, done.stderr
        assert f"{ROWS} runs" in done.output


# ---------------------------------------------------------------- one chain

DATA = DataSpec("wdbc")


def chain(method: str, *penalties: float) -> list[Cell]:
    fingerprint = samples.load(DATA).fingerprint
    cells = []
    for number, C in enumerate(penalties):
        made = Settings(method, C=C, sigma2=4.0, tolerance=1e-4, seed=3)
        after = penalties[:number]
        identity = plan.run_id("", fingerprint, "", made, predecessors=after)
        cells.append(Cell(identity, "trial", "", SELECT, DATA, fingerprint, made, predecessors=after))
    return cells


def made(cells: list[Cell]) -> list[Record]:
    return list(run_task(cells, Resources(threads=1, cache_mib=64)))


@pytest.mark.parametrize("method", ["swap-2o", "newton", "mfw", "chunking"])
def test_a_run_that_a_clock_cut_short_passes_nothing_on(method: str) -> None:
    """Where it ended depends on the machine: whether it is made, or found done and left out, the next is the same."""
    first, middle, last = chain(method, 0.5, 2.0, 8.0)
    hurried = replace(middle, settings=replace(middle.settings, time_limit=1e-9))
    whole, cut, without = made([first, middle, last]), made([first, hurried, last]), made([first, last])
    assert [record.status for record in cut] == [Status.CONVERGED, Status.TIME_LIMIT, Status.CONVERGED]
    assert not differing(csv_fields(cut[2].row), csv_fields(without[1].row))
    assert cut[2].row["shared"], "it starts where the first ended"
    assert cut[2].row["iterations"] != whole[2].row["iterations"]


def test_after_nothing_but_runs_cut_short_the_next_starts_cold() -> None:
    first, last = chain("swap-2o", 0.5, 8.0)
    hurried = replace(first, settings=replace(first.settings, time_limit=1e-9))
    (alone,) = made(chain("swap-2o", 8.0))
    (_, after) = made([hurried, last])
    assert not after.row["shared"]
    assert {**csv_fields(after.row), "run_id": ""}.items() >= {
        name: value
        for name, value in csv_fields(alone.row).items()
        if name in {"objective", "gap", "iterations", "steps"}
    }.items()


def test_how_long_runs_take_does_not_decide_what_is_proven_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums of a certificate are rounded by what else is in them, so that must not be up to a clock."""
    cells = chain("swap-2o", 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    certify = paths.CPath.certify
    together: list[int] = []
    monkeypatch.setattr(
        paths.CPath, "certify", lambda self, runs: (together.append(len(runs)), certify(self, runs))[1]
    )
    quick = made(cells)
    ticks = iter(range(10**9))
    monkeypatch.setattr("time.perf_counter", lambda: 1000.0 * next(ticks))
    monkeypatch.setattr(paths, "perf_counter", lambda: 1000.0 * next(ticks))
    slow = made(cells)
    assert together == [6, 6]
    for one, other in zip(quick, slow, strict=True):
        assert not differing(csv_fields(one.row), csv_fields(other.row))
