"""Results folders of other people: each is read, or refused in a sentence that says where and what to do."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fwsvm.analysis import merge, results
from fwsvm.cli import main
from fwsvm.errors import ResultsError
from fwsvm.experiments.config import MAX_RUNS
from fwsvm.experiments.store import ResultsStore, read_rows
from fwsvm.results import reading
from fwsvm.results.columns import COLUMNS, REQUIRED, SCHEMA
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


def without(column: str) -> Callable[[list[str]], list[str]]:
    """Return the change that takes a column out of lines without quotes."""

    def change(lines: list[str]) -> list[str]:
        place = lines[0].split(",").index(column)
        return [",".join(field for i, field in enumerate(line.split(",")) if i != place) for line in lines]

    return change


def of_schema(number: int, line: str) -> str:
    """Return a line of a row, without quotes, with another schema."""
    fields = line.split(",")
    fields[list(COLUMNS).index("schema")] = str(number)
    return ",".join(fields)


def readers(folder: Path, out: Path) -> list[Callable[[], object]]:
    """Return what reads a folder: the analysis, merge, and grid."""
    return [
        lambda: results.read([folder]),
        lambda: merge.merge([folder], out),
        lambda: read_rows(folder / "runs.csv", []),
    ]


def refused(folder: Path, match: str) -> None:
    """Check that every reader refuses a folder, in one sentence and in the same words."""
    for read in readers(folder, folder.parent / "out"):
        with pytest.raises(ResultsError, match=match) as error:
            read()
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("column", "field", "said"),
    [
        ("test_accuracy", "=1+1", "test_accuracy is '=1\\+1', which is not a number from 0 to 1"),
        ("test_accuracy", "nan", "test_accuracy is 'nan', which is not a number from 0 to 1"),
        ("train_seconds", "inf", "train_seconds is 'inf', which is not a number from 0 to 1e\\+12"),
        ("support_vectors", "-inf", "support_vectors is '-inf', which is not a number"),
        ("rows", "0", "rows is '0', which is not a number from 1 to 1e\\+18"),
        ("run_id", "../../x", "run_id is '../../x', which is not 1 to 128 letters"),
        ("method", "\x1b[2J", r"method is '\\x1b\[2J', which has the control character"),
        ("dataset", "x" * 5000, "dataset has 5,000 characters, which is more than 4,096"),
        ("dataset", "x" * 140_000, r"not CSV \(field larger than field limit"),
        ("role", "king", "unknown role 'king'; known are select, final"),
        ("status", "", "unknown status ''"),
        ("dataset", '"', "not CSV"),
    ],
)
def test_a_field_is_refused_by_file_line_and_column(folder: Path, column: str, field: str, said: str) -> None:
    place = list(COLUMNS).index(column)

    def change(lines: list[str]) -> list[str]:
        fields = lines[2].split(",")
        return [*lines[:2], ",".join([*fields[:place], field, *fields[place + 1 :]])]

    changed(folder, change)
    refused(folder, rf"runs\.csv:3: {said}.*; mend or delete the line$")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("test_accuracy"), ":1: .*no column test_accuracy"),
        (lambda lines: [f"{lines[0]},C", *(f"{line},1" for line in lines[1:])], ":1: the column 'C' stands there"),
        (lambda lines: [f"{line},," for line in lines], ":1: the column '' stands there twice"),
        (lambda lines: [f'{lines[0]},"x\ny"', *(f"{line},1" for line in lines[1:])],
         r":1: the name of a column is 'x\\ny', which has the control character .*; mend the header"),
        (lambda lines: [f"{lines[0]},{'x' * 201}", *(f"{line},1" for line in lines[1:])],
         ":1: the name of a column has 201 characters"),
        (lambda lines: [lines[0], "", *lines[1:]], ":2: 0 fields where the header has"),
        (lambda lines: [lines[0], of_schema(SCHEMA, lines[1]), of_schema(SCHEMA + 1, lines[2])],
         rf":3: a row of schema {SCHEMA + 1}, and this version reads schemas up to {SCHEMA}; update fwsvm"),
        (without("run_id"), ":1: .*no column run_id"),
        (lambda lines: lines[1:], ":1: none of the columns has a name of fwsvm's; is the header line missing?"),
    ],
)  # fmt: skip
def test_a_header_is_refused_by_its_columns(folder: Path, change, said: str) -> None:
    changed(folder, change)
    refused(folder, rf"runs\.csv{said}")


def test_a_newer_folder_says_so_before_its_columns_are_looked_at(folder: Path) -> None:
    def change(lines: list[str]) -> list[str]:
        return [lines[0].replace("dataset,", "data,"), of_schema(SCHEMA + 1, lines[1])]

    changed(folder, change)
    refused(folder, "update fwsvm")


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"\0" * 50 + b"\n", b"a" * (2**20 + 5) + b"\n"])
def test_bytes_that_are_no_table_are_refused(folder: Path, content: bytes) -> None:
    (folder / "runs.csv").write_bytes(content)
    refused(folder, r"runs\.csv:1: ")


def test_a_table_beyond_its_bounds_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "runs.csv").open("r+b") as stream:
        stream.truncate(2**40)  # takes no room on the disk
    refused(folder, r"runs\.csv: 1,048,576.0 MiB, and at most 256.0 MiB are read")


def test_the_rows_of_the_largest_experiment_that_is_taken_are_read_again() -> None:
    reference = Path(__file__).parents[2] / "results" / "reference"
    of_a_run = max(
        runs.stat().st_size / runs.read_bytes().count(b"\n") for runs in reference.glob("*/runs.csv")
    )
    assert MAX_RUNS * of_a_run < reading.MOST_BYTES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    (folder / "runs.csv").unlink()
    os.mkfifo(folder / "runs.csv")
    refused(folder, "not a regular file")


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("seconds,iteration,objective,gap,support_vectors\n")
    (folder / "traces").mkdir()
    run_id = results.read([folder]).frame["run_id"][0]
    (folder / "traces" / f"{run_id}.csv").symlink_to(secret)
    for read in (lambda: results.read_trace(folder, run_id), lambda: merge.merge([folder], tmp_path / "out")):
        with pytest.raises(ResultsError, match="a link that leads out of the folder"):
            read()
    (folder / "log.jsonl").symlink_to(tmp_path / "written")
    with pytest.raises(ResultsError, match=r"log\.jsonl: a link that leads out"), ResultsStore(folder):
        pass
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(("command", "name"), [("plot", "figures"), ("report", "report.html")])
def test_nothing_is_written_where_a_link_in_the_folder_leads(folder: Path, command: str, name: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / name).symlink_to(outside)
    done = CliRunner().invoke(main, [command, str(folder)])
    assert done.exit_code == 2
    assert f"{name}: a link that leads out of the folder" in done.output
    assert not any(outside.iterdir())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", ": not UTF-8 at byte 0"),
        (b"- a\n- b\n", ":1: a mapping of settings belongs here, not a list"),
        (b"a: [", ":2: "),
        (b"a: \x1b", ":1: "),
        (b"a: " + b"[" * 20_000, ":1: nested too deeply"),
        (b"a: &a [1,1,1,1,1,1,1,1,1]\n" + b"".join(
            b"%c: &%c [" % (n, n) + b"*%c," % (n - 1) * 9 + b"]\n" for n in b"bcdefgh"), ":5: more than"),
        (b"a: " + b"x" * 2**20, ": 1.0 MiB, and at most 1.0 MiB are read"),
    ],
)  # fmt: skip
def test_a_configuration_is_refused_for_what_it_is(folder: Path, content: bytes, said: str) -> None:
    (folder / "experiment.yaml").write_bytes(content)
    with pytest.raises(ResultsError, match=rf"experiment\.yaml{said}"):
        merge.merge([folder], folder.parent / "out")


def test_a_log_is_copied_up_to_its_torn_end_and_only_if_it_is_one(folder: Path, tmp_path: Path) -> None:
    (folder / "log.jsonl").write_text('{"event": "start"}\n{"event": "to')
    merge.merge([folder], tmp_path / "out")
    assert (tmp_path / "out" / "log.jsonl").read_text() == '{"event": "start"}\n'
    (folder / "log.jsonl").write_text('{"event": "start"}\nroot:x:0:0\n')
    with pytest.raises(ResultsError, match=r"log\.jsonl:2: 'root:x:0:0' is not an event in JSON"):
        merge.merge([folder], tmp_path / "more")


def test_folders_of_two_schemas_merge_and_agree(folder: Path, tmp_path: Path) -> None:
    older = write(tmp_path / "older", [row(dataset=name, method="fw") for name in NAMES])
    changed(older, without("schema"))
    changed(older, without("blas"))
    merged = merge.merge([older, folder], tmp_path / "out")
    assert merged.rows == 2
    lines = (tmp_path / "out" / "runs.csv").read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert all(line.endswith(",,") for line in lines[1:])  # neither has a schema, nor a source


@pytest.mark.parametrize("column", [name for name in COLUMNS if name not in REQUIRED])
def test_folders_merge_whichever_column_one_of_them_lacks(folder: Path, tmp_path: Path, column: str) -> None:
    older = write(tmp_path / "older", [row(dataset=name, method="fw", schema=SCHEMA) for name in NAMES])
    changed(older, without(column))
    allow_mixed = column in {"fwsvm", "commit"}  # an unknown version is another one
    assert merge.merge([older, folder], tmp_path / "out", allow_mixed=allow_mixed).rows == 2


def test_columns_that_are_not_known_are_left_out(folder: Path) -> None:
    changed(folder, lambda lines: [f"{line},{'folder' if i == 0 else 'x'}" for i, line in enumerate(lines)])
    assert results.read([folder]).frame["folder"].tolist() == [str(folder)] * 2
