"""A results folder of somebody else, as `fwsvm grid` goes on in it: its rows choose parameters and make the table."""

import functools
import random
import tempfile
from pathlib import Path
from typing import Any

from fwsvm.experiments import config, forecast, plan, racing
from fwsvm.experiments.experiment import DataSpec, Experiment
from fwsvm.experiments.samples import DataInfo, data_info
from fwsvm.experiments.store import ResultsStore, read_rows
from fwsvm.experiments.summary import summary_table
from fwsvm.solvers import Status
from tests.fuzz import results_folder

SHORT = 60
SECONDS = 60.0

EXPERIMENT = """
name: trial
datasets: [synthetic:gaussians?rows=60&features=3&seed=1]
methods: [swap, fw]
select: {folds: 2, method: swap, C: [1, 4]}
"""


@functools.cache
def _planned() -> tuple[Experiment, dict[DataSpec, DataInfo], list[plan.Cell]]:
    """Return the experiment, its data, and the cells that it runs if C = 1 is chosen."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "trial.yaml"
        path.write_text(EXPERIMENT)
        experiment = config.load(path, None)
    known = {data: data_info(data, offline=True) for data in experiment.datasets}
    cells = racing.search_cells(experiment, experiment.trials, known)
    finals = [
        c for t in experiment.trials for c in plan.final_cells(experiment, t, known[t.data], {"C": 1.0})
    ]
    return experiment, known, [*cells, *finals]


def warm_up(folder: Path) -> None:
    """Load the data and plan the runs."""
    _planned()


def generate(rng: random.Random, folder: Path) -> None:
    """Write a folder with rows of the planned runs among others."""
    _, _, cells = _planned()

    def planned(table: list[dict[str, Any]]) -> None:
        for one in table:
            if rng.random() < 0.8:
                one["run_id"] = rng.choice(cells).run_id

    results_folder.generate(rng, folder, planned)
    for path in folder.glob("traces/*"):
        path.unlink()


def read(folder: Path) -> None:
    """Open the folder, forecast what is left, print the table; no row is lost."""
    experiment, known, cells = _planned()
    runs = folder / "runs.csv"
    before = read_rows(runs, [])
    with ResultsStore(folder) as store:
        assert store.rows == before
        forecast.describe(forecast.planned_runs(experiment, known, store.rows))
        summary_table(cells, store.rows)
        store.log("end", exit_code=0)
    notices: list[str] = []
    assert read_rows(runs, notices) == before
    assert not notices
    assert all(row["status"] in set(Status) for row in before.values())
