"""Archives of results: whole, the same bytes again, and refused where anything in them is not as it was written."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from fwsvm.analysis import results
from fwsvm.cli import main
from fwsvm.errors import ResultsError
from fwsvm.results import archives
from tests.analysis.folders import row, write, write_trace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [row(dataset=name, method=method) for name in ("a1a", "w1a") for method in ("fw", "swap")]
    made = write(tmp_path / "mine", rows)
    write_trace(made, rows[0]["run_id"], pd.DataFrame(
        {"seconds": [0.1], "iteration": [1], "objective": [0.5], "gap": [0.1], "support_vectors": [3]}))  # fmt: skip
    (made / "log.jsonl").write_text('{"event": "start"}\n')
    return made


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def packed(folder: Path) -> Path:
    done = run("archive", folder)
    assert done.exit_code == 0, done.output
    return folder.with_name(f"{folder.name}.zip")


def test_an_archive_has_the_rows_and_all_that_they_came_from(folder: Path) -> None:
    file = packed(folder)
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("environment.json"))["packages"]["numpy"]
        assert b"wdbc" in archive.read("datasets.lock")
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == there | {"manifest.json", "datasets.lock", "environment.json"}
    pd.testing.assert_frame_equal(
        results.read([file]).frame.drop(columns="folder"), results.read([folder]).frame.drop(columns="folder")
    )


def test_the_same_folder_makes_the_same_bytes(folder: Path) -> None:
    first = packed(folder).read_bytes()
    assert packed(folder).read_bytes() == first


def test_merge_takes_an_archive_like_its_folder(folder: Path) -> None:
    file = packed(folder)
    assert run("merge", file, "--out", folder / "again").exit_code == 0
    for name in ("runs.csv", "log.jsonl", "experiment.yaml"):
        assert (folder / "again" / name).read_bytes().endswith((folder / name).read_bytes()[-20:])
    assert {p.name for p in (folder / "again" / "traces").iterdir()} == {
        p.name for p in (folder / "traces").iterdir()
    }


def test_table_and_report_take_an_archive(folder: Path) -> None:
    file = packed(folder)
    assert run("table", file).stdout == run("table", folder).stdout
    assert run("report", file).stdout.strip() == f"wrote {folder.with_name('mine.html')}"


def rewritten(file: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return an archive with other members, its manifest left as ``change`` leaves it."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    other = file.with_name("other.zip")
    other.write_bytes(stream.getvalue())
    return other


def listed(members: dict[str, bytes], name: str, content: bytes) -> None:
    """Add a member and its entry of the manifest."""
    said = json.loads(members["manifest.json"])
    said["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    members |= {name: content, "manifest.json": json.dumps(said).encode()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda m: m.update({"runs.csv": m["runs.csv"].replace(b"0.9", b"1.0")}),
            "not what its checksum says",
        ),
        (lambda m: m.pop("log.jsonl"), "in its list of files or inside it, but not both"),
        (lambda m: m.update({"traces/x.csv": b""}), "in its list of files or inside it, but not both"),
        (lambda m: m.pop("manifest.json"), "no archive that `fwsvm archive` wrote"),
        (lambda m: m.pop("runs.csv"), "no archive that `fwsvm archive` wrote"),
        (lambda m: m.update({"manifest.json": b"[" * 100_000}), "manifest.json is damaged"),
        (lambda m: m.update({"manifest.json": b"[]"}), "manifest.json is damaged"),
        (lambda m: m.update({"manifest.json": b'{"format": "other"}'}), "its format is 'other'"),
        (lambda m: listed(m, "../escaped", b"x"), "is no file of a results archive"),
        (lambda m: listed(m, "traces/../../escaped.csv", b"x"), "is no file of a results archive"),
        (lambda m: listed(m, "/escaped", b"x"), "is no file of a results archive"),
        (lambda m: listed(m, "datasets.own.lock", bytes(1 << 25)), "too large when unpacked"),
    ],
)
def test_an_archive_that_was_altered_is_refused(
    folder: Path, change: Callable[[dict[str, bytes]], None], said: str
) -> None:
    with pytest.raises(ResultsError, match=said):
        results.read([rewritten(packed(folder), change)])
    assert not list(folder.parent.rglob("*escaped*"))


def test_two_members_of_one_name_are_refused(folder: Path) -> None:
    file = packed(folder)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("runs.csv", b"")
    with pytest.raises(ResultsError, match="two files inside it have one name"):
        results.read([file])


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all"])
def test_what_is_no_zip_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    assert "not a whole zip archive" in run("table", tmp_path / "x.zip").stderr


@pytest.mark.parametrize("limit", [65_535, 1], ids=["a zip", "a zip of many members"])
def test_a_list_of_too_many_files_is_refused_before_it_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", limit)
    file = packed(folder)
    assert len(results.read([file]).frame) == 4
    other = shutil.copy(file, file.with_name("other.zip"))
    monkeypatch.setattr(archives, "MAX_LIST", 100)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the list is read"))
    with pytest.raises(ResultsError, match=r"its list of files has \d+ bytes, and at most 100 are read"):
        results.read([other])


def test_an_archive_with_an_end_of_another_program_is_refused(folder: Path) -> None:
    file = packed(folder)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"mine"
    with pytest.raises(ResultsError, match="it ends in a comment, which `fwsvm archive` does not write"):
        results.read([file])


def test_a_changed_file_is_read_anew(folder: Path) -> None:
    file = packed(folder)
    assert len(results.read([file]).frame) == 4
    write(folder, [row(dataset="a1a", method="fw")])
    shutil.rmtree(folder / "traces")
    assert len(results.read([packed(folder)]).frame) == 1


def test_a_folder_with_a_torn_line_is_not_archived(folder: Path) -> None:
    with (folder / "runs.csv").open("a") as stream:
        stream.write("torn,")
    done = run("archive", folder)
    assert (done.exit_code, "incomplete" in done.stderr) == (2, True)
    assert not folder.with_name("mine.zip").exists()
    assert archives.is_archive(folder) is False


def test_what_is_wrong_in_a_row_is_said_of_the_archive(folder: Path) -> None:
    file = packed(folder)
    wrong = rewritten(file, lambda m: listed(m, "runs.csv", m["runs.csv"].replace(b"converged", b"sort of")))
    result = run("table", wrong)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"fwsvm: {wrong}/runs.csv:2: ")


@pytest.mark.parametrize("name", ["runs.csv", "experiment.yaml", "log.jsonl", "traces/{}"])
def test_an_archive_is_not_written_over_a_file_that_it_packs(folder: Path, name: str) -> None:
    (trace,) = (folder / "traces").iterdir()
    out = folder / name.format(trace.name)
    before = out.read_bytes()
    done = run("archive", folder, "--out", out)
    assert done.exit_code == 2
    assert "would be overwritten" in done.stderr
    assert out.read_bytes() == before


def test_traces_that_are_no_folder_are_said(folder: Path) -> None:
    shutil.rmtree(folder / "traces")
    (folder / "traces").write_text("")
    done = run("archive", folder)
    assert (done.exit_code, done.stderr) == (
        2,
        f"fwsvm: {folder / 'traces'}: cannot be read: Not a directory\n",
    )


def test_traces_that_may_not_be_read_are_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path.name == "traces":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refused)  # root may read what chmod closes
    done = run("archive", folder)
    assert (done.exit_code, done.stderr) == (
        2,
        f"fwsvm: {folder / 'traces'}: cannot be read: Permission denied\n",
    )
