"""The time that an experiment still takes, as its runs end."""

from pathlib import Path

import pytest

from fwsvm.experiments import config, plan
from fwsvm.experiments.samples import DataInfo, data_info
from fwsvm.experiments.time_left import GROWTH, TimeLeft

TEXT = """\
name: trial
limits: {time_seconds: 100}
datasets: [wdbc, "synthetic:gaussians?rows=2276&features=4&test=10&seed=0"]
methods: [fw, swap]
"""


@pytest.fixture
def cells(tmp_path: Path) -> list[plan.Cell]:
    path = tmp_path / "trial.yaml"
    path.write_text(TEXT)
    experiment = config.load(path)
    found: list[plan.Cell] = []
    for trial in experiment.trials:
        info: DataInfo = data_info(trial.data, offline=True)
        found += plan.final_cells(experiment, trial, info)
    return found


def rows(cells: list[plan.Cell]) -> dict:
    return {cells[0].data: 569, cells[2].data: 2276}


def test_nothing_is_said_before_a_run_ended(cells):
    assert TimeLeft(cells, rows(cells)).seconds is None


def test_a_larger_data_set_counts_for_more_before_any_of_its_runs_ended(cells):
    left = TimeLeft(cells, rows(cells))
    left.end(cells[0], 1.0)
    assert left.seconds == pytest.approx(1.0 + 2 * 4**GROWTH)


def test_a_guess_is_no_longer_than_a_time_limit(cells):
    left = TimeLeft(cells, rows(cells))
    left.end(cells[0], 50.0)
    assert left.seconds == pytest.approx(50.0 + 2 * 100.0)


def test_a_guess_passes_a_time_limit_as_far_as_a_run_did(cells):
    left = TimeLeft(cells, rows(cells))
    left.end(cells[0], 130.0)  # its certificate took 30 s
    assert left.seconds == pytest.approx(130.0 + 2 * 130.0)


def test_runs_of_a_data_set_are_as_long_as_those_that_ended(cells):
    left = TimeLeft(cells, rows(cells))
    left.end(cells[0], 1.0)
    left.end(cells[1], 3.0)
    left.end(cells[2], 50.0)
    assert left.seconds == pytest.approx(50.0)


def test_runs_without_data_take_no_time(cells):
    left = TimeLeft(cells, {cells[0].data: 569})
    left.end(cells[0], 2.0)
    left.end(cells[2], 0.0)
    assert left.seconds == pytest.approx(2.0)
