"""Output that cannot be written ends by one exit code, and a file that may not be read is refused by its reader."""

import os
from pathlib import Path

import pytest

from tests.cli.running import done

NO_SPACE = "cannot be written: No space left on device"


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows"
    path.write_text("".join(f"{t % 2} 1:{t}\n" for t in range(1, 13)))
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        "table -o /dev/full",
    ],
)
def test_results_that_a_disk_has_no_room_for_are_exit_code_4(folder, words):
    command, *more = words.split()
    assert done(command, *more, folder, code=4).stderr.endswith(f"fwsvm: /dev/full {NO_SPACE}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words", ["subset rows 3 /dev/full", "scale -o /dev/full rows", "scale -s /dev/full rows"]
)
@pytest.mark.usefixtures("rows")
def test_rows_that_a_disk_has_no_room_for_are_exit_code_4(words):
    assert done(*words.split(), code=4).stderr == f"fwsvm: /dev/full {NO_SPACE}\n"


@pytest.mark.usefixtures("rows")
def test_a_folder_that_may_not_be_written_to_is_exit_code_4(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert "no permission to write in" in done("easy", "rows", "--model", "m", code=4).stderr


def test_a_file_that_may_not_be_read_is_refused_by_its_reader(rows, monkeypatch):
    ranges = rows.with_name("ranges")
    done("scale", "-s", ranges, rows)
    opened = Path.open

    def closed(path: Path, *given: object, **named: object) -> object:
        if path == ranges:
            raise PermissionError(13, "Permission denied")
        return opened(path, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", closed)
    monkeypatch.setattr(os, "access", lambda path, *_: Path(path) != ranges)
    said = done("scale", "-r", ranges, rows, code=3).stderr
    assert said == f"fwsvm: {ranges} cannot be read: Permission denied\n"
