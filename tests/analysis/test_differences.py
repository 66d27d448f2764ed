"""``fwsvm compare``: verdicts, tests and exit codes, on folders whose differences are known."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fwsvm.cli import main
from tests.analysis.folders import row, write


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, words)])


def verdicts(done: Result) -> dict[tuple[str, str], dict[str, str]]:
    """Return the records of the comparison by data set and measure; `done` is of --format csv."""
    return {(line["dataset"], line["measure"]): line for line in csv.DictReader(io.StringIO(done.stdout))}


def folder(path: Path, runs: int = 1, **changed: Any) -> Path:
    """Write a folder of one method on two data sets; ``changed`` has values, or a function of data set and run."""
    rows = []
    for name in ("a1a", "w1a"):
        for k in range(runs):
            fields = {key: value(name, k) if callable(value) else value for key, value in changed.items()}
            rows.append(row(dataset=name, method="swap", repetition=k, seed=k, **fields))
    return write(path, rows)


def test_results_are_the_same_as_themselves(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", 8)
    done = run(old, old, "--format", "csv")
    assert done.exit_code == 0
    assert {line["verdict"] for line in verdicts(done).values()} == {"same"}
    assert {line["p"] for line in verdicts(done).values()} == {"1.0"}


@pytest.mark.parametrize(
    ("accuracy", "code", "verdict"), [(0.906, 0, "better"), (0.904, 0, "same"), (0.89, 1, "worse")]
)
def test_one_run_each_is_judged_by_the_margin(
    tmp_path: Path, accuracy: float, code: int, verdict: str
) -> None:
    done = run(folder(tmp_path / "old"), folder(tmp_path / "new", test_accuracy=accuracy), "--format", "csv")
    assert done.exit_code == code
    found = verdicts(done)["a1a", "accuracy"]
    assert (found["verdict"], found["p"], found["pairs"]) == (verdict, "", "1")


def test_times_are_judged_by_their_ratio_and_slower_is_worse(tmp_path: Path) -> None:
    new = folder(tmp_path / "new", train_seconds=lambda name, _: 1.3 if name == "a1a" else 0.5)
    done = run(folder(tmp_path / "old"), new, "--format", "csv", "--measure", "time")
    found = verdicts(done)
    assert done.exit_code == 1
    assert (found["a1a", "time"]["verdict"], found["w1a", "time"]["verdict"]) == ("worse", "better")
    assert float(found["a1a", "time"]["effect"]) == pytest.approx(1.3)
    relaxed = run(tmp_path / "old", new, "--measure", "time", "--time-margin", "1.4")
    assert relaxed.exit_code == 0


def test_many_pairs_are_tested_and_chance_is_no_change(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", 8)
    noisy = folder(
        tmp_path / "noisy", 8, test_accuracy=lambda _, k: 0.9 + (0.1 if k == 0 else -0.03 * (k % 2))
    )
    found = verdicts(run(old, noisy, "--format", "csv", "--accuracy-margin", "0.01"))["a1a", "accuracy"]
    assert (found["verdict"], float(found["p"]) > 0.05) == ("same", True)
    lower = folder(tmp_path / "lower", 8, test_accuracy=lambda _, k: 0.88 - 0.001 * k)
    done = run(old, lower, "--format", "csv")
    found = verdicts(done)["a1a", "accuracy"]
    # eight signs alike have two-sided p 2/2^8; Holm doubles it for the two lines of the measure
    assert float(found["p"]) == pytest.approx(4 / 2**8)
    assert (done.exit_code, found["verdict"], float(found["rank_biserial"])) == (1, "worse", -1.0)


def test_a_method_on_six_data_sets_is_tested_over_them(tmp_path: Path) -> None:
    sets = [f"set{k}" for k in range(6)]
    for name, seconds in (("old", 1.0), ("new", 2.0)):
        write(tmp_path / name, [row(dataset=d, method="swap", train_seconds=seconds) for d in sets])
    found = verdicts(run(tmp_path / "old", tmp_path / "new", "--format", "csv"))["all 6", "time"]
    assert (found["verdict"], found["pairs"]) == ("worse", "6")
    assert float(found["p"]) == pytest.approx(2 / 2**6)


def test_runs_that_no_longer_converge_are_worse(tmp_path: Path) -> None:
    new = folder(tmp_path / "new", status=lambda name, _: "error" if name == "w1a" else "converged")
    done = run(folder(tmp_path / "old"), new)
    assert done.exit_code == 1
    assert "worse: w1a swap: 1 run error, previously converged" in done.stderr
    assert run(tmp_path / "new", tmp_path / "old").exit_code == 0


def test_times_of_different_machines_are_not_compared(tmp_path: Path) -> None:
    new = folder(tmp_path / "new", machine="lap", train_seconds=9.0)
    done = run(folder(tmp_path / "old"), new)
    assert done.exit_code == 0
    assert "times are not compared: the times on a1a come from different machines" in done.stderr
    assert run(tmp_path / "old", new, "--mixed-load").exit_code == 1


def test_a_chosen_C_may_differ_and_what_is_on_one_side_only_is_named(tmp_path: Path) -> None:  # noqa: N802
    write(tmp_path / "old", [row(dataset="a1a", method="fw", C=4), row(dataset="w1a", method="fw")])
    write(tmp_path / "new", [row(dataset="a1a", method="fw", C=16), row(dataset="a1a", method="mfw")])
    done = run(tmp_path / "old", tmp_path / "new", "--format", "csv")
    assert set(verdicts(done)) == {("a1a", "accuracy"), ("a1a", "time")}
    assert f"only in {tmp_path / 'old'}: w1a fw" in done.stderr
    assert f"only in {tmp_path / 'new'}: a1a mfw" in done.stderr


def test_settings_of_what_is_on_one_side_only_are_named_where_they_are_set(tmp_path: Path) -> None:
    same = row(dataset="a1a", method="fw", stop="meb")
    write(
        tmp_path / "old",
        [same, row(dataset="a1a", method="fw", stop="gap"), row(dataset="w1a", method="fw", stop="")],
    )
    write(tmp_path / "new", [same])
    said = run(tmp_path / "old", tmp_path / "new").stderr
    assert said == f"only in {tmp_path / 'old'}: a1a fw (stop gap); w1a fw\n"


def test_runs_of_a_sweep_are_paired_by_their_C(tmp_path: Path) -> None:  # noqa: N802
    def swept(name: str, values: list[int], slower: float) -> Path:
        return write(
            tmp_path / name, [row(dataset="a1a", method="fw", C=C, train_seconds=C * slower) for C in values]
        )

    done = run(
        swept("old", [1, 2, 4, 8, 16, 32], 1), swept("new", [32, 16, 8, 4, 2, 1], 3), "--format", "csv"
    )
    found = verdicts(done)["a1a", "time"]
    assert (found["pairs"], float(found["effect"])) == ("6", pytest.approx(3.0))


def test_results_without_a_common_run_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "new", [row(dataset="other", method="swap")])
    done = run(folder(tmp_path / "old"), tmp_path / "new")
    assert (done.exit_code, "no run is in both results" in done.stderr) == (2, True)


def test_different_data_under_one_name_are_said_before_the_verdict(tmp_path: Path) -> None:
    new = folder(tmp_path / "new", test_accuracy=0.5, data_sha256=lambda name, _: "f" * 64 * (name == "a1a"))
    done = run(folder(tmp_path / "old"), new)
    assert done.exit_code == 1
    assert "different data under the name a1a: " in done.stderr
    assert " in old, ffffffffffff in new; differences there may come from the data" in done.stderr
    assert "the name w1a" not in done.stderr


def test_a_measure_that_the_new_result_lacks_is_named(tmp_path: Path) -> None:
    done = run(folder(tmp_path / "old", 2), folder(tmp_path / "new", 2, test_accuracy=""))
    assert (
        "4 runs have no accuracy in the new result, unlike in the old, so there is no verdict: a1a swap; w1a swap"
        in done.stderr
    )


def test_a_run_that_no_longer_starts_is_worse(tmp_path: Path) -> None:
    """Its row has what was asked for alone: no width rule, and neither search nor stop unless these were given."""
    failed = row(
        dataset="a1a", method="swap", status="error", message="no room", search="", stop="", tolerance="",
        width_rule="", gamma="", sigma2="", train_seconds="", test_accuracy="", objective="", subproblems="",
    )  # fmt: skip
    other = row(dataset="a1a", method="swap", repetition=1, seed=1)
    old = write(tmp_path / "old", [row(dataset="a1a", method="swap"), other])
    done = run(old, write(tmp_path / "new", [failed, other]))
    assert done.exit_code == 1
    assert done.stderr == "worse: a1a swap: 1 run error, previously converged\n"
    assert run(tmp_path / "new", old).exit_code == 0


def test_times_that_a_limit_cut_are_compared_where_the_bound_decides(tmp_path: Path) -> None:
    def timed(name: str, seconds: tuple[float, float], *cut: int) -> Path:
        statuses = ["time_limit" if k in cut else "converged" for k in range(2)]
        rows = [
            row(dataset=name, method="swap", train_seconds=each, status=status)
            for name, each, status in zip(("a1a", "w1a"), seconds, statuses, strict=True)
        ]
        return write(tmp_path / name, rows)

    old = timed("old", (100.0, 100.0))
    done = run(old, timed("new", (60.0, 300.0), 0, 1), "--measure", "time", "--format", "csv")
    assert {name: line["verdict"] for (name, _), line in verdicts(done).items()} == {"w1a": "worse"}
    assert "1 pair of runs that a time limit cut short says nothing about time: a1a swap" in done.stderr


def test_a_machine_of_some_pairs_of_classes_has_no_accuracy_to_compare(tmp_path: Path) -> None:
    cut = {"status": "time_limit", "subproblems": 45, "test_accuracy": 0.2}
    done = run(folder(tmp_path / "old"), folder(tmp_path / "new", **cut), "--measure", "accuracy")
    assert "2 pairs of runs that a time limit cut short say nothing about accuracy" in done.stderr
    assert (done.exit_code, done.stdout.strip()) == (1, ""), "worse by how they ended alone"


def test_where_no_outcome_of_a_test_could_count_the_margin_decides(tmp_path: Path) -> None:
    """Nine pairs in each of thirty lines: the least p is 30 x 2/2^9. Ten data sets in three lines: 3 x 2/2^10."""
    rows = [
        row(dataset=f"set{d}", method=method, repetition=k, seed=k)
        for d in range(10) for method in ("fw", "mfw", "swap") for k in range(9)
    ]  # fmt: skip
    write(tmp_path / "old", rows)
    write(tmp_path / "new", [each | {"train_seconds": 2.0} for each in rows])
    done = run(tmp_path / "old", tmp_path / "new", "--measure", "time", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    assert (len(lines), {line["verdict"] for line in lines}) == (33, {"worse"})
    tested = {line["dataset"]: float(line["p"]) for line in lines if line["p"]}
    assert tested == {"all 10": pytest.approx(3 * 2 / 2**10)}


def test_what_one_side_has_more_of_a_sweep_is_named_and_not_paired_with_another_C(tmp_path: Path) -> None:  # noqa: N802
    def swept(name: str, *values: int) -> Path:
        return write(tmp_path / name, [row(dataset="a1a", method="fw", C=C, train_seconds=C) for C in values])

    done = run(
        swept("old", 1, 10, 100, 1000), swept("new", 10, 100, 1000), "--measure", "time", "--format", "csv"
    )
    found = verdicts(done)["a1a", "time"]
    assert (found["pairs"], found["verdict"], float(found["effect"])) == ("3", "same", 1.0)
    assert done.stderr == f"only in {tmp_path / 'old'}: a1a fw (C 1)\n"


def test_results_of_which_no_pair_of_runs_is_done_are_compared_by_how_they_ended(tmp_path: Path) -> None:
    done = run(folder(tmp_path / "old"), folder(tmp_path / "new", status="error"))
    assert done.exit_code == 1
    assert "worse: a1a swap: 1 run error, previously converged" in done.stderr
