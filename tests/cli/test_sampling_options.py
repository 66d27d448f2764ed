"""Options of ``train`` on sampled search: what they cost and leave out follows from what the documentation says."""

from pathlib import Path

import pytest

from tests.cli.test_train_options import row_of, written

DRAWN = 59  # rows in a sample
RETRIES = 7  # samples without a violator, where nothing else is said


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of rows that are all in the starting point, so that no sample holds a violator."""
    return written(tmp_path_factory.mktemp("options") / "12.svm", 12)


@pytest.mark.parametrize(
    ("protocol", "samples", "levels"), [("paper", 7, 1), ("libcvm", 7, 7), ("fw-svms", 1, 2)]
)
def test_a_protocol_draws_its_samples_at_each_of_its_tolerances(few, protocol, samples, levels):
    """From 0.1, halved down to 0.0025, are 7 tolerances, from 0.005 two; each ends after the samples without a step."""
    words = f"-m mfw --protocol {protocol} --gradient computed --stop relative --tol 0.0025"
    usual, given, more = (row_of(few, f"{words} {also}") for also in (
        "", f"--retries {samples}", f"--retries {samples + 3}"))  # fmt: skip
    assert (usual["iterations"], usual["steps"]) == (levels, 0)
    assert given["kernel_evaluations"] == usual["kernel_evaluations"]
    drawn = more["kernel_evaluations"] - usual["kernel_evaluations"]
    assert drawn == 3 * levels * DRAWN * usual["support_vectors"]


def test_the_first_level_is_halved_down_to_the_tolerance(few):
    words = "-m mfw --search sampled --gradient computed --tol 0.1"
    at_once, from_eight = (row_of(few, f"{words} {also}") for also in ("", "--first-level 0.8"))
    assert (at_once["iterations"], from_eight["iterations"]) == (1, 4)
    drawn = from_eight["kernel_evaluations"] - at_once["kernel_evaluations"]
    assert drawn == 3 * RETRIES * DRAWN * at_once["support_vectors"]


@pytest.mark.parametrize(("gradient", "each"), [("computed", DRAWN), ("kept", 0), ("cheaper", 0)])
def test_candidates_cost_kernel_values_unless_the_gradient_is_kept(few, gradient, each):
    words = f"-m mfw --search sampled --tol 0.1 --gradient {gradient}"
    two, five = (row_of(few, f"{words} --retries {count}") for count in (2, 5))
    assert five["kernel_evaluations"] - two["kernel_evaluations"] == 3 * each * two["support_vectors"]


def test_candidates_from_outside_the_core_set_leave_no_row_out(tmp_path):
    """With so small a C every row outside is a violator; of a core set of nearly all rows 59 others may find none."""
    words = "-m cvm --protocol paper --retries 1 --stop relative --tol 1e-3 -C 0.001 --gamma 0.5"
    path, found = written(tmp_path / "300.svm", 300), {}
    for candidates in ("outside", "balanced", "uniform"):
        found[candidates] = row_of(path, f"{words} --candidates {candidates}")["support_vectors"]
    assert (found["outside"], found["balanced"]) == (300, 300)
    assert found["uniform"] < 300
