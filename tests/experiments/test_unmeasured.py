"""A trained machine is kept, with its certificate, where its rows cannot be predicted; what is lacking is said."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fwsvm.errors import UsageError
from fwsvm.experiments import run
from fwsvm.experiments.experiment import Resources, ValidationRule
from fwsvm.experiments.plan import SELECT
from fwsvm.experiments.run import run_cells
from fwsvm.problems import machines, model_files
from fwsvm.solvers import Settings, Status
from tests.cli.running import run as command
from tests.experiments import cells

NO_ROOM = "predicting rows would take 9 MiB of memory; predict fewer rows at a time"
GRID = "name: kept\ndatasets: [wdbc]\ntest_fraction: 0.25\ntolerance: 1e-2\nmethods: [swap]\n"


def raising(error: Exception) -> Callable[..., object]:
    def refuse(*_given: object, **_named: object) -> object:
        raise error

    return refuse


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.KernelModel, "decision", raising(UsageError(NO_ROOM)))


@pytest.mark.parametrize(
    ("error", "why"),
    [(UsageError(NO_ROOM), NO_ROOM), (MemoryError(), "memory ran out; ")],
    ids=["refused", "gone"],
)
def test_train_writes_the_machine_and_says_why_it_has_no_accuracy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    monkeypatch.setattr(machines.KernelModel, "decision", raising(error))
    words = ("train", "-m", "swap", "--json", "--model", tmp_path / "m")
    done = command(*words, "synthetic:gaussians?rows=60&test=20")
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert (row["status"], row["certified"]) == ("converged", True)
    assert (row["train_accuracy"], row["test_accuracy"], row["predict_seconds"]) == (None, None, None)
    for which in ("training", "test"):
        assert f" The {which} accuracy could not be computed: {why}" in row["message"]
    assert model_files.read(tmp_path / "m").support.shape[0] > 0


def test_a_run_of_a_search_is_an_error_without_the_accuracy_that_it_is_for(no_room: None) -> None:
    asked = cells.cell(Settings("swap"), role=SELECT, held_out=ValidationRule(folds=3), part=0)
    (found,) = run_cells([asked], Resources(threads=1))
    assert found.status is Status.ERROR
    assert f"The test accuracy could not be computed: {NO_ROOM}." in found.row["message"]


def failing_at(monkeypatch: pytest.MonkeyPatch, *calls: int) -> None:
    """Make these calls of `run.accuracies`, counted from 1, run out of memory."""
    real, made = run.accuracies, []

    def sometimes(*given: object) -> object:
        made.append(1)
        if len(made) in calls:
            raise MemoryError
        return real(*given)

    monkeypatch.setattr(run, "accuracies", sometimes)


def test_cv_leaves_out_a_fold_that_it_could_not_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    failing_at(monkeypatch, 4)  # the held out rows of the second fold: training rows are first
    words = ("cv", "wdbc", "-m", "swap", "--folds", "3", "--tol", "0.1")
    done = command(*words, "--json")
    assert done.exit_code == 4, done.stderr
    assert "1 of 3 folds were not judged" in " ".join(done.stderr.split())
    said = json.loads(done.stdout)
    first, lost, last = said["rows"]
    assert (lost["test_accuracy"], lost["status"]) == (None, "converged")
    counts = [569 - row["rows"] for row in (first, last)]
    right = np.dot(counts, [row["test_accuracy"] for row in (first, last)])
    assert said["accuracy"] == pytest.approx(right / sum(counts))
