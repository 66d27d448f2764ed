"""Fields of results tables: what is written is read back, and whatever else is refused by name."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.results.columns import COUNT, FRACTION, REAL, SECONDS, STATUSES
from fwsvm.results.kinds import Identity, Text, Truth
from fwsvm.results.writing import csv_field
from fwsvm.solvers import Status


@given(st.floats() | st.integers(-(10**30), 10**30))
def test_every_number_that_is_written_is_read_back(value) -> None:
    read = REAL.read("objective", csv_field(value))
    assert read == float(value) or (math.isnan(read) and math.isnan(value))


@given(st.text(max_size=60))
def test_text_is_written_in_a_form_that_is_read(value: str) -> None:
    kind, field = Text(40), csv_field(value)
    read = kind.read("message", kind.fitted(field))
    assert len(read) <= 40
    if len(field) <= 40 and field.isprintable():
        assert read == " ".join(value.split())


NO_ACCURACIES = (
    "nan", "inf", "-inf", "True", "0x10", "=1+1", "1_0", "\u0663", " 1", "1 ", "1e", "--1", "1,5", "-0.1", "1.1",
    "1e400", "9" * 100, "0." + "9" * 5000, ".",
)  # fmt: skip


@pytest.mark.parametrize("field", NO_ACCURACIES)
def test_an_accuracy_is_a_plain_number_from_0_to_1(field: str) -> None:
    with pytest.raises(ValueError, match=r"test_accuracy is .* which is not a number from 0 to 1") as error:
        FRACTION.read("test_accuracy", field)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("kind", [COUNT, SECONDS])
@pytest.mark.parametrize("field", ["inf", "nan", "-1", "1e19999", "1e99"])
def test_times_and_counts_are_finite(kind, field: str) -> None:
    with pytest.raises(ValueError, match="which is not a number from 0 to"):
        kind.read("train_seconds", field)


def test_an_objective_may_be_infinite_but_not_by_overflow() -> None:
    assert REAL.read("objective", "-inf") == -math.inf
    assert math.isnan(REAL.read("objective", "nan"))
    with pytest.raises(ValueError, match="not a number of double precision"):
        REAL.read("objective", "1e309")


@pytest.mark.parametrize(
    "field", ["", "../../x", "/etc/passwd", ".", "..", "a/b", "a\\b", "a b", "é", "a" * 129, "a\0"]
)
def test_an_identity_is_the_name_of_a_file_and_no_path(field: str) -> None:
    with pytest.raises(ValueError, match="run_id is"):
        Identity().read("run_id", field)


@pytest.mark.parametrize("field", ["a\nb", "\x1b[2J", "a\0", "\u202e", "\u2028", "x" * 4097])
def test_names_do_not_move_the_cursor_of_a_terminal(field: str) -> None:
    with pytest.raises(ValueError, match=r"control character|more than 4,096"):
        Text().read("dataset", field)


def test_truth_is_true_or_false() -> None:
    assert [Truth().read("shared", field) for field in ("true", "True", "false", "")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(ValueError, match="shared is 'maybe', which is neither true nor false"):
        Truth().read("shared", "maybe")


def test_the_statuses_are_those_of_the_solvers() -> None:
    assert set(STATUSES) == set(Status)
