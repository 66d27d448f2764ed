"""Cells: their number, order and identity."""

from dataclasses import replace
from pathlib import Path

import pytest

from fwsvm.errors import UsageError
from fwsvm.experiments import config, plan, racing
from fwsvm.experiments.experiment import Experiment
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.settings_columns import settings_columns
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
FACTS = DataInfo(fingerprint="d" * 64, rows=100)


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    path = tmp_path / "trial.yaml"
    path.write_text(TEXT.replace("tolerance: [1e-3, 1e-4]\n", ""))
    return config.load(path)


def of(folder: Path, more: str) -> Experiment:
    """Return an experiment on one set with some keys."""
    text = "name: t\ndatasets: [wdbc]\n" + ("" if "methods" in more else "methods: [fw]\n") + more + "\n"
    (folder / "t.yaml").write_text(text)
    return config.load(folder / "t.yaml")


def known(experiment: Experiment) -> dict[object, DataInfo]:
    return dict.fromkeys(experiment.datasets, FACTS)


def test_a_search_is_planned_once_for_all_methods(experiment: Experiment) -> None:
    cells = racing.search_cells(experiment, experiment.trials, known(experiment))
    assert len(cells) == 2 * 3 * 2
    assert {cell.settings.method for cell in cells} == {"cvm"}
    assert len({cell.run_id for cell in cells}) == len(cells)


@pytest.mark.parametrize("width", ["gamma", "sigma2"])
def test_the_label_of_a_cell_tells_it_from_the_others_of_its_search(tmp_path: Path, width: str) -> None:
    searching = of(tmp_path, f"select: {{folds: 2, C: [1, 4], {width}: [0.5, 2, 8]}}")
    labels = [cell.label for cell in racing.search_cells(searching, searching.trials, known(searching))]
    assert len(set(labels)) == len(labels) == 12
    assert f"wdbc fw select C=4 {width}=0.5 fold 1" in labels


def test_tasks_group_what_shares_kernel_values_by_ascending_penalty(experiment: Experiment) -> None:
    tasks = plan.tasks(racing.search_cells(experiment, experiment.trials, known(experiment)))
    assert [[cell.settings.C for cell in task] for task in tasks] == [[1, 2, 4]] * 4
    assert [(task[0].part, task[0].settings.sigma2) for task in tasks] == [(0, 2), (0, 8), (1, 2), (1, 8)]


@pytest.mark.parametrize(
    ("folds", "sigma2", "C", "chains"),
    [
        (3, "2", "[4, 1, 2]", [[1, 2, 4], [1, 2, 4], [1], [2, 4]]),
        (5, "[2, 8]", "[1, 2]", [[1, 2]] * 10),
        (3, "2", "[1, 2]", [[1, 2]] * 3),  # most of a chain's time would go into the cut
        (2, "2", "[1, 2, 4]", [[1, 2, 4]] * 2),
    ],
)
def test_an_odd_search_is_evened_so_that_two_workers_end_together(
    tmp_path: Path, folds: int, sigma2: str, C: str, chains: list[list[float]]
) -> None:
    found = of(tmp_path, f"select: {{folds: {folds}, method: cvm, C: {C}, sigma2: {sigma2}}}")
    tasks = plan.tasks(racing.search_cells(found, found.trials, known(found)))
    assert [[cell.settings.C for cell in task] for task in tasks] == chains
    assert [[cell.predecessors for cell in task] for task in tasks] == [
        [tuple(chain[:n]) for n in range(len(chain))] for chain in chains
    ]


def test_the_chains_of_a_search_do_not_depend_on_what_else_there_is(tmp_path: Path) -> None:
    """Another method, or data set, cuts no chain elsewhere: the same rows serve both experiments."""
    search = "folds: 3, C: [1, 2, 4], sigma2: 2"
    alone = of(tmp_path, f"select: {{{search}, method: cvm}}")
    each = ", ".join(f"{{name: {name}, select: {{{search}, method: {name}}}}}" for name in ("cvm", "mfw"))
    beside = of(tmp_path, f"methods: [{each}]")
    ids = [
        {
            cell.run_id
            for cell in racing.search_cells(found, found.trials, known(found))
            if cell.settings.method == "cvm"
        }
        for found in (alone, beside)
    ]
    assert len(ids[0]) == 9
    assert ids[0] == ids[1]


@pytest.mark.parametrize("tuner", ["pegasos", "{name: cvm, search: sampled}", "{name: cvm, protocol: paper}"])
def test_runs_that_another_start_could_end_elsewhere_have_cold_cells(tmp_path: Path, tuner: str) -> None:
    found = of(tmp_path, f"select: {{folds: 2, method: {tuner}, C: [1, 2]}}")
    cells = racing.search_cells(found, found.trials, known(found))
    assert {cell.predecessors for cell in cells} == {None}
    assert [len(task) for task in plan.tasks(cells)] == [2, 2], "they share their rows"
    lost = cells[1]
    tasks = plan.unfinished(cells, lambda cell: cell is not lost, lambda _: False)
    assert tasks == [[lost]]


def test_a_chain_is_made_whole_but_for_what_a_clock_cut(experiment: Experiment) -> None:
    cells = list(racing.search_cells(experiment, experiment.trials, known(experiment)))
    first, second = plan.tasks(cells)[:2]
    assert plan.unfinished(cells, lambda _: True, lambda _: True) == []
    for lost in first:
        tasks = plan.unfinished(cells, lambda cell, lost=lost: cell is not lost, lambda _: False)
        assert tasks == [first]
    lost = [first[0].run_id, second[2].run_id]
    tasks = plan.unfinished(cells, lambda cell: cell.run_id not in lost, lambda cell: cell is first[1])
    assert tasks == [[first[0], first[2]], second]


def test_chains_that_part_have_what_leads_to_each(tmp_path: Path) -> None:
    """Two searches of one method, one with more values of C: each chain is complete, whichever cells they share."""
    cells = []
    for C in ("[1, 2, 4]", "[1, 2, 8, 16]"):
        found = of(tmp_path, f"select: {{folds: 2, method: cvm, C: {C}}}")
        cells += racing.search_cells(found, found.trials, known(found))
    unique = list({cell.run_id: cell for cell in cells}.values())
    chains = [[cell.settings.C for cell in task] for task in plan.tasks(unique)]
    assert sorted(chains) == [[1, 2, 4], [1, 2, 4], [1, 2, 8, 16], [1, 2, 8, 16]]


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


def identity(settings: Settings, *part: object, **more: object) -> str:
    return plan.run_id("a", "d", "", settings, *part, **more)


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
    seen = {
        identity(BASE), plan.run_id("a", "e", "", BASE), plan.run_id("b", "d", "", BASE),
        plan.run_id("a", "d", "small", BASE),
        identity(BASE, "5 folds", 0), identity(BASE, "5 folds", 1), identity(BASE, "10 folds", 0),
        identity(BASE, repetition=0), identity(BASE, repetition=1),
        identity(BASE, predecessors=(0.5,)), identity(BASE, predecessors=(0.5, 0.7)),
    }  # fmt: skip
    assert len(seen) == 11


def test_resources_and_defaults_written_out_are_not_part_of_the_identity() -> None:
    same = {"threads": 3, "cache_mib": 64, "parameters": {"compare": "unconstrained"}}
    defaults = {"kernel": "rbf", "stop": "relative", "search": "full", "C": 1.0, "width_rule": "paper"}
    assert identity(BASE) == identity(replace(BASE, **same, **defaults, degree=5))


def test_a_row_has_the_parameters_that_are_not_the_defaults() -> None:
    changed = {"parameters": {"compare": "clipped"}, "retries": 2, "class_weight": {"1": 2.0}}
    asked = settings_columns(replace(BASE, protocol="fw-svms", time_limit=5.0, **changed))
    assert asked == {
        "method": "swap", "protocol": "fw-svms", "time_limit": 5.0, "max_iterations": None,
        "parameters": '{"compare": "clipped", "retries": 2, "class_weight": {"1": 2.0}}',
    }  # fmt: skip
    assert settings_columns(replace(BASE, protocol="fw-svms", retries=1))["parameters"] == ""
    assert settings_columns(Settings("liblinear"))["protocol"] is None


def test_a_method_without_a_kernel_has_one_run_for_all_widths(tmp_path: Path) -> None:
    found = of(tmp_path, "methods: [auto, liblinear]\nC: [1, 2]\ngamma: [0.1, 1, 10]")
    counts = [len(list(plan.final_cells(found, trial, FACTS))) for trial in found.trials]
    assert counts == [6, 2]


def test_more_folds_than_rows_are_refused_before_any_run(tmp_path: Path) -> None:
    found = of(tmp_path, "select: {folds: 101, C: [1, 2]}")
    with pytest.raises(UsageError, match="wdbc: 100 rows cannot make 101 folds"):
        racing.search_cells(found, found.trials, known(found))
