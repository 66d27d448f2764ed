"""Cells: their number, order, identity, and the chains that they are run in."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fwsvm.experiments import config, plan
from fwsvm.experiments.config_files import read_config_file
from fwsvm.experiments.experiment import DataSpec, Experiment, ValidationRule
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.record import settings_columns
from fwsvm.experiments.samples import DataInfo
from fwsvm.solvers import Settings

TEXT = """\
name: trial
datasets: [wdbc]
methods: [fw, swap]
repetitions: 3
seed: 10
select: {folds: 2, method: cvm, C: [4, 1, 2], sigma2: [2, 8]}
"""
FACTS = DataInfo(fingerprint="d" * 64, rows=100)
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
#: Of each shipped experiment at each profile the number of its cells, and a digest of their run ids in order.
PLANS = json.loads(Path(__file__).with_name("plans.json").read_text("utf-8"))


def of(folder: Path, more: str) -> Experiment:
    """Return an experiment on one set with some keys."""
    text = "name: t\ndatasets: [wdbc]\n" + ("" if "methods" in more else "methods: [fw]\n") + more + "\n"
    (folder / "t.yaml").write_text(text)
    return config.load(folder / "t.yaml")


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    (tmp_path / "trial.yaml").write_text(TEXT)
    return config.load(tmp_path / "trial.yaml")


def searched(experiment: Experiment, facts: DataInfo = FACTS) -> list[list[Cell]]:
    return plan.search_chains(experiment, experiment.trials, dict.fromkeys(experiment.datasets, facts))


def info(data: DataSpec) -> DataInfo:
    """Return facts that tell one data set, and one sample of it, from another."""
    names = ("name", "source", "rows", "test_rows", "test_fraction", "seed")
    what = f"DataSpec({', '.join(f'{name}={getattr(data, name)!r}' for name in names)})"
    return DataInfo(name=data.name, fingerprint=hashlib.sha256(what.encode()).hexdigest(), rows=1000)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_experiments_have_the_cells_that_they_always_had(path: Path) -> None:
    for profile in read_config_file(path).profile_names or [None]:
        found = config.load(path, profile)
        known = {data: info(data) for data in found.datasets}
        chains = []
        for data in found.datasets:
            trials = [trial for trial in found.trials if trial.data == data]
            chains += plan.search_chains(found, trials, known)
            for trial in trials:
                of = trial.selection
                chosen = {} if of is None else {name: getattr(of.candidates[0], name) for name in of.names}
                chains.append(plan.final_cells(trial, plan.like_all(found, trial, known[data]), chosen))
        identities = [cell.run_id for chain in chains for cell in chain]
        digest = hashlib.sha256(" ".join(identities).encode()).hexdigest()[:16]
        assert PLANS[f"{path.stem} {profile}"] == [len(identities), digest]


def test_a_search_is_planned_once_for_all_methods_in_chains_of_ascending_penalty(
    experiment: Experiment,
) -> None:
    chains = searched(experiment)
    assert {cell.settings.method for chain in chains for cell in chain} == {"cvm"}
    assert [[cell.settings.C for cell in chain] for chain in chains] == [[1, 2, 4]] * 4
    assert [(chain[0].part, chain[0].settings.sigma2) for chain in chains] == [(0, 2), (0, 8), (1, 2), (1, 8)]
    assert [cell.predecessors for cell in chains[0]] == [(), (1,), (1, 2)]
    labels = {cell.label for chain in chains for cell in chain}
    assert len(labels) == len({cell.run_id for chain in chains for cell in chain}) == 12
    assert "wdbc cvm select C=4 sigma2=8 tolerance=0.1 fold 1" in labels


@pytest.mark.parametrize(
    ("folds", "width", "C", "chains"),
    [
        (3, "sigma2: 2", "[4, 1, 2]", [[1, 2, 4], [1, 2, 4], [1], [2, 4]]),
        (3, "sigma2: 2", "[4, 1, 8, 2]", [[1, 2, 4, 8], [1, 2, 4, 8], [1, 2], [4, 8]]),
        (5, "sigma2: [2, 8]", "[1, 2]", [[1, 2]] * 10),
        (2, "gamma: [8, 2]", "[1, 2]", [[1, 2]] * 4),
        (3, "sigma2: 2", "[1, 2]", [[1, 2]] * 3),  # most of a chain's time would go into the cut
    ],
)
def test_an_odd_search_is_evened_so_that_two_workers_end_together(
    tmp_path: Path, folds: int, width: str, C: str, chains: list[list[float]]
) -> None:
    found = of(tmp_path, f"select: {{folds: {folds}, method: cvm, C: {C}, {width}}}")
    assert [[cell.settings.C for cell in chain] for chain in searched(found)] == chains


def test_reported_runs_are_open_until_their_search_is_done_and_then_have_its_parameters(
    experiment: Experiment,
) -> None:
    (data,) = experiment.datasets
    row = {"status": "converged", "flags": "", "rows": "50", "test_accuracy": "0.5"}
    cells = [cell for chain in searched(experiment) for cell in chain]
    rows = {cell.run_id: row for cell in cells}
    some = dict(list(rows.items())[1:])
    for known, state in ((some, "open"), (rows, "to do")):
        planned = plan.planned_runs(experiment, {data: FACTS}, known)
        finals = [run for run in planned if run.cell.role == "final"]
        assert {run.state for run in finals} == {state}
    assert {(run.cell.settings.C, run.cell.settings.sigma2) for run in finals} == {(1.0, 8.0)}


def test_settings_with_several_values_make_all_combinations(tmp_path: Path) -> None:
    found = of(tmp_path, "methods: [fw, liblinear]\nC: [1, 2]\ngamma: [0.1, 1]")
    points = [
        [
            (cell.settings.C, cell.settings.gamma)
            for cell in plan.final_cells(trial, plan.like_all(found, trial, FACTS))
        ]
        for trial in found.trials
    ]
    assert sorted(points[0]) == [(1, 0.1), (1, 1), (2, 0.1), (2, 1)]
    assert points[1] == [(1, None), (2, None)], "a linear method has no width"


BASE = Settings(method="swap", parameters={}, C=1.0)


FOLDS = ValidationRule(folds=5)


def identity(settings: Settings, **more: Any) -> str:
    return replace(plan.Cell("", "", "final", DataSpec("a"), "d", settings, "a"), **more).run_id


@pytest.mark.parametrize(
    "changed",
    [
        {"C": 2.0}, {"seed": 1}, {"tolerance": 1e-4}, {"kernel": "linear"}, {"sigma2": 3.0},
        {"time_limit": 5.0}, {"max_iterations": 9}, {"search": "sampled"}, {"method": "fw"},
        {"parameters": {"compare": "clipped"}}, {"final_gap": False},
    ],
)  # fmt: skip
def test_whatever_changes_the_numbers_changes_the_identity(changed: dict[str, object]) -> None:
    assert identity(BASE) != identity(replace(BASE, **changed))


def test_data_profile_fold_and_repetition_are_part_of_the_identity() -> None:
    changes: list[dict[str, Any]] = [
        {}, {"fingerprint": "e"}, {"dataset": "b"}, {"profile": "small"}, {"held_out": FOLDS, "part": 0},
        {"held_out": FOLDS, "part": 1}, {"held_out": ValidationRule(folds=10), "part": 0},
        {"repetition": 0}, {"repetition": 1}, {"predecessors": (0.5,)}, {"predecessors": (0.5, 0.7)},
    ]  # fmt: skip
    seen = {identity(BASE, **changed) for changed in changes}
    assert len(seen) == 11


def test_resources_and_defaults_written_out_are_not_part_of_the_identity() -> None:
    same = {"threads": 3, "cache_mib": 64, "parameters": {"compare": "unconstrained"}}
    defaults = {"kernel": "rbf", "stop": "relative", "search": "full", "C": 1.0, "width_rule": "paper"}
    written = replace(BASE, **same, **defaults, degree=5)
    assert identity(BASE) == identity(written) == identity(replace(BASE, C=None))


def test_a_row_has_the_parameters_that_are_not_the_defaults() -> None:
    changed = {"parameters": {"compare": "clipped"}, "retries": 2, "class_weight": {"1": 2.0}}
    asked = settings_columns(replace(BASE, protocol="fw-svms", time_limit=5.0, **changed))
    assert asked == {
        "method": "swap", "protocol": "fw-svms", "time_limit": 5.0, "max_iterations": None,
        "parameters": '{"compare": "clipped", "retries": 2, "class_weight": {"1": 2.0}}',
    }  # fmt: skip
    assert settings_columns(Settings("liblinear"))["protocol"] is None
