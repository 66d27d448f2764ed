"""Cells: their number, order and identity."""

from dataclasses import replace
from pathlib import Path

import pytest

from fwsvm.experiments import config, plan
from fwsvm.experiments.experiment import Experiment
from fwsvm.experiments.samples import Facts
from fwsvm.solvers import Settings

TEXT = """\
name: trial
datasets: [wdbc]
methods: [fw, swap]
tolerance: [1e-3, 1e-4]
repetitions: 3
seed: 10
select: {folds: 2, method: cvm, C: [4, 1, 2], sigma2: [2, 8]}
"""
FACTS = Facts(sha256="d" * 64, rows=100)


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    path = tmp_path / "trial.yaml"
    path.write_text(TEXT.replace("tolerance: [1e-3, 1e-4]\n", ""))
    return config.load(path)


def known(experiment: Experiment) -> dict[object, Facts]:
    return dict.fromkeys(experiment.datasets, FACTS)


def test_a_search_is_planned_once_for_all_methods(experiment: Experiment) -> None:
    cells = plan.select_cells(experiment, experiment.trials, known(experiment))
    assert len(cells) == 2 * 3 * 2
    assert {cell.settings.method for cell in cells} == {"cvm"}
    assert len({cell.run_id for cell in cells}) == len(cells)


def test_tasks_group_what_shares_kernel_values_by_ascending_penalty(experiment: Experiment) -> None:
    tasks = plan.tasks(plan.select_cells(experiment, experiment.trials, known(experiment)))
    assert [[cell.settings.C for cell in task] for task in tasks] == [[1, 2, 4]] * 4
    assert [(task[0].part, task[0].settings.sigma2) for task in tasks] == [(0, 2), (0, 8), (1, 2), (1, 8)]


def test_an_odd_group_is_halved_so_that_two_workers_end_together(experiment: Experiment) -> None:
    cells = list(plan.select_cells(experiment, experiment.trials, known(experiment)))
    tasks = plan.tasks(cells[:9])
    assert [[cell.settings.C for cell in task] for task in tasks] == [[1, 2, 4], [1, 2, 4], [1], [2, 4]]
    assert [len(task) for task in plan.tasks(cells[:3])] == [3], (
        "most of one group's time would go into the cut"
    )
    assert [len(task) for task in plan.tasks(cells[:7])] == [3, 3, 1]


def test_reported_runs_stand_alone_and_differ_in_their_seeds(experiment: Experiment) -> None:
    cells = list(plan.final_cells(experiment, experiment.trials[0], FACTS, {"C": 2.0, "sigma2": 8.0}))
    seeds = [(cell.settings.seed, cell.repetition, cell.settings.C) for cell in cells]
    assert seeds == [(10, 0, 2), (11, 1, 2), (12, 2, 2)]
    assert [len(task) for task in plan.tasks(cells)] == [1, 1, 1]


def test_settings_with_several_values_make_all_combinations(tmp_path: Path) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text("name: t\ndatasets: [wdbc]\nmethods: [fw]\nC: [1, 2]\ntolerance: [1e-3, 1e-4]\n")
    found = config.load(path)
    cells = plan.final_cells(found, found.trials[0], FACTS)
    assert [(c.settings.C, c.settings.tolerance) for c in cells] == [
        (1, 1e-3),
        (1, 1e-4),
        (2, 1e-3),
        (2, 1e-4),
    ]


BASE = Settings(method="swap", parameters={}, C=1.0)


@pytest.mark.parametrize(
    "changed",
    [
        {"C": 2.0}, {"seed": 1}, {"tolerance": 1e-4}, {"kernel": "linear"}, {"sigma2": 3.0},
        {"time_limit": 5.0}, {"max_iterations": 9}, {"search": "sampled"}, {"method": "fw"},
        {"parameters": {"compare": "clipped"}},
    ],
)  # fmt: skip
def test_whatever_changes_the_numbers_changes_the_identity(changed: dict[str, object]) -> None:
    assert plan.run_id("d", "", BASE) != plan.run_id("d", "", replace(BASE, **changed))


def test_data_profile_fold_repetition_and_code_are_part_of_the_identity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = {
        plan.run_id("d", "", BASE), plan.run_id("e", "", BASE), plan.run_id("d", "small", BASE),
        plan.run_id("d", "", BASE, "5 folds", 0), plan.run_id("d", "", BASE, "5 folds", 1),
        plan.run_id("d", "", BASE, "10 folds", 0), plan.run_id("d", "", BASE, repetition=0),
        plan.run_id("d", "", BASE, repetition=1),
    }  # fmt: skip
    monkeypatch.setattr(plan, "code_digest", lambda *_: "other code")
    assert len(seen | {plan.run_id("d", "", BASE)}) == 9


def test_resources_and_defaults_written_out_are_not_part_of_the_identity() -> None:
    same = replace(BASE, threads=3, cache_mib=64, parameters={"compare": "unconstrained"})
    assert plan.run_id("d", "", BASE) == plan.run_id("d", "", same)


def test_a_method_is_labelled_by_what_was_set() -> None:
    assert plan.method_label(BASE) == "swap"
    assert plan.method_label(replace(BASE, parameters={"compare": "clipped"})) == "swap(compare=clipped)"
