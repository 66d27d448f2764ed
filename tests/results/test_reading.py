"""Results folders are read whatever their schema; what is no results folder is refused by file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fwsvm.analysis import merge, results
from fwsvm.errors import ResultsError
from fwsvm.experiments.store import read_rows
from fwsvm.results.columns import COLUMNS, REQUIRED, SCHEMA
from fwsvm.results.writing import csv_field
from tests.analysis.folders import row, write

NAMES = ("a1a", "a2a")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "here", [row(dataset=name, method="fw", schema=SCHEMA) for name in NAMES])


def changed(folder: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """Return a folder's runs.csv, its lines changed."""
    runs = folder / "runs.csv"
    runs.write_text("\n".join(change(runs.read_text().splitlines())) + "\n", encoding="utf-8")
    return runs


def without(*columns: str) -> Callable[[list[str]], list[str]]:
    """Return the change that takes columns out of lines without quotes."""

    def change(lines: list[str]) -> list[str]:
        places = {lines[0].split(",").index(column) for column in columns}
        return [",".join(f for i, f in enumerate(line.split(",")) if i not in places) for line in lines]

    return change


def with_field(column: str, field: str) -> Callable[[list[str]], list[str]]:
    """Return the change of a field of the second row."""
    place = list(COLUMNS).index(column)

    def change(lines: list[str]) -> list[str]:
        fields = lines[2].split(",")
        return [*lines[:2], ",".join([*fields[:place], field, *fields[place + 1 :]])]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_field("schema", str(SCHEMA + 1)), rf"a row of a schema above {SCHEMA}, .*update fwsvm"),
        (without("test_accuracy"), ":1: .*no column test_accuracy"),
        (lambda lines: lines[1:], ":1: .*no column run_id"),
    ],
)
def test_what_is_no_table_of_this_version_is_refused(folder: Path, change, said: str) -> None:
    runs = changed(folder, change)
    readers: list[Callable[[], object]] = [
        lambda: results.read([folder]),
        lambda: merge.merge([folder], folder.parent / "out"),
        lambda: read_rows(runs, []),
    ]
    for read in readers:
        with pytest.raises(ResultsError, match=rf"runs\.csv:? ?.*{said}") as error:
            read()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [0.1, -1e-320, 1.7976931348623157e308, float("inf"), 3, 2**60])
def test_every_number_that_is_written_is_read_back(folder: Path, value: float) -> None:
    changed(folder, with_field("objective", csv_field(value)))
    assert results.read([folder]).frame["objective"][1] == value


def test_a_torn_last_line_is_left_out_with_a_notice(folder: Path) -> None:
    runs = folder / "runs.csv"
    runs.write_bytes(runs.read_bytes()[:-20])
    found = results.read([folder])
    assert list(found.frame["dataset"]) == ["a1a"]
    assert "the last line is incomplete" in found.notices[0]


def test_a_row_of_an_older_schema_keeps_its_label_and_says_what_auto_chose(tmp_path: Path) -> None:
    label = "auto(retries=2;gradient=kept)"
    old = write(tmp_path / "old", [row(dataset="a1a", method=f"{label} (swap-2o)", relative_gap=4.5)])
    changed(
        old, without("protocol", "parameters", "chosen", "flags", "time_limit", "max_iterations", "schema")
    )
    (found,) = read_rows(old / "runs.csv", []).values()
    told = {name: found[name] for name in ("method", "protocol", "parameters", "chosen", "flags")}
    assert told == {"method": label, "protocol": "", "parameters": "", "chosen": "swap-2o", "flags": ""}
    assert results.read([old]).frame["method"].tolist() == [label]


def test_folders_merge_whichever_columns_one_of_them_lacks(folder: Path, tmp_path: Path) -> None:
    older = write(tmp_path / "older", [row(dataset=name, method="fw", schema=SCHEMA) for name in NAMES])
    changed(older, without(*(name for name in COLUMNS if name not in REQUIRED)))
    rows, _ = merge.merge([older, folder], tmp_path / "out", allow_mixed=True)
    assert rows == 2
    assert (tmp_path / "out" / "runs.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


def test_columns_that_are_not_known_are_left_out(folder: Path) -> None:
    changed(folder, lambda lines: [f"{line},{'folder' if i == 0 else 'x'}" for i, line in enumerate(lines)])
    assert results.read([folder]).frame["folder"].tolist() == [str(folder)] * 2
    with pytest.raises(ResultsError, match=r"the columns are not this version's \('folder'\)"):
        read_rows(folder / "runs.csv", [])
