"""What a search chooses, and how ties fall."""

from collections.abc import Mapping

import pytest

from fwsvm.experiments import plan
from fwsvm.experiments.experiment import DataSpec, Selection, ValidationRule
from fwsvm.experiments.plan import Cell, choose
from fwsvm.solvers import Settings
from fwsvm.status import NOT_FINITE_FLAG

ROWS = 100
LIKE = Cell("trial", "", "final", DataSpec("x"), "d" * 64, Settings())
SEARCH = Selection(
    ValidationRule(folds=2),
    [Settings("cvm", sigma2=sigma2, C=C) for sigma2 in (1.0, 2.0, 4.0) for C in (1.0, 2.0, 4.0)],
    ("sigma2", "C"),
)


def rows(
    accuracy: Mapping[tuple[float, float], float], **odd: str
) -> tuple[list[Cell], dict[str, dict[str, str]]]:
    """Return the cells of the search and their rows; ``accuracy`` by (sigma2, C), 0.5 elsewhere."""
    cells = [c for chain in plan.selection_chains(SEARCH, LIKE) for c in chain]
    found = {}
    for cell in cells:
        value = accuracy.get((cell.settings.sigma2 or 0, cell.settings.C or 0), 0.5)
        row = {"status": "converged", "message": "", "flags": "", "rows": str(ROWS // 2)}
        row["test_accuracy"] = repr(value)
        found[cell.run_id] = row | odd
    return cells, found


@pytest.mark.parametrize(
    ("accuracy", "best", "on_edge"),
    [
        ({(2.0, 2.0): 0.9}, (2.0, 2.0), ()),
        ({(2.0, 4.0): 0.9}, (2.0, 4.0), ("C",)),
        ({(1.0, 2.0): 0.9}, (1.0, 2.0), ("sigma2",)),
        ({(1.0, 4.0): 0.9, (2.0, 2.0): 0.9, (4.0, 2.0): 0.9, (4.0, 4.0): 0.9}, (4.0, 2.0), ("sigma2",)),
    ],
)
def test_the_best_accuracy_wins_then_the_smallest_penalty_then_the_largest_width(
    accuracy: Mapping[tuple[float, float], float], best: tuple[float, float], on_edge: tuple[str, ...]
) -> None:
    choice = choose(SEARCH, *rows(accuracy), ROWS)
    assert (choice.values, choice.on_edge) == (dict(zip(("sigma2", "C"), best, strict=True)), on_edge)
    assert choice.accuracy == pytest.approx(0.9)


def test_a_candidate_that_failed_once_is_out() -> None:
    cells, found = rows({(2.0, 2.0): 0.9, (1.0, 2.0): 0.8})
    bad = next(c for c in cells if (c.settings.sigma2, c.settings.C, c.part) == (2.0, 2.0, 1))
    found[bad.run_id] |= {"status": "error", "message": "no"}
    assert choose(SEARCH, cells, found, ROWS).values == {"sigma2": 1.0, "C": 2.0}


def test_a_search_that_failed_altogether_says_why() -> None:
    cells, found = rows({}, status="error", message="the disk is on fire")
    choice = choose(SEARCH, cells, found, ROWS)
    assert (choice.values, choice.tried) == ({}, 0)
    assert choice.why_not == "no candidate could be judged: the disk is on fire"


def test_parts_of_unequal_size_count_by_their_rows() -> None:
    cells = [c for chain in plan.selection_chains(SEARCH, LIKE) for c in chain]
    right = {(1.0, 1.0): (2 / 3, 2 / 2), (2.0, 2.0): (3 / 3, 1 / 2)}  # 4 of 5 either way
    found = {}
    for cell in cells:
        pair = right.get((cell.settings.sigma2 or 0, cell.settings.C or 0), (0.0, 0.0))
        found[cell.run_id] = {
            "status": "converged",
            "flags": "",
            "rows": str(2 + (cell.part or 0)),  # of 5; the parts held out have 3 and 2
            "test_accuracy": repr(pair[cell.part or 0]),
        }
    choice = choose(SEARCH, cells, found, 5)
    assert choice.values == {"sigma2": 1.0, "C": 1.0}
    assert choice.accuracy == pytest.approx(0.8)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"objective": "inf"},
        {"flags": NOT_FINITE_FLAG},
        *({"test_accuracy": text} for text in ("", "nan", "inf", "1.5", "-1")),
    ],
)
def test_what_is_no_finite_number_is_never_the_best(spoiled: dict[str, str]) -> None:
    cells, found = rows({(2.0, 2.0): 0.9, (1.0, 2.0): 0.8})
    for cell in cells:
        if (cell.settings.sigma2, cell.settings.C) == (2.0, 2.0):
            found[cell.run_id] |= spoiled
    assert choose(SEARCH, cells, found, ROWS).values == {"sigma2": 1.0, "C": 2.0}
