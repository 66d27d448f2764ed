"""Output to a file that is open already goes there; a name that is no system's link goes to a new file."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fwsvm import scaling
from fwsvm.errors import WriteError
from fwsvm.files import atomic
from fwsvm.problems import model_files
from tests.problems import trained

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files have other names here")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """Give a file, and the number that it is open under, as after ``>> out``."""
    path = tmp_path / "out"
    path.write_text("before\n")
    number = os.open(path, os.O_WRONLY | os.O_APPEND)
    yield path, number
    os.close(number)


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_file_that_a_shell_opened_goes_on_where_it_is(opened: tuple[Path, int], name: str) -> None:
    path, number = opened
    with atomic.replacing(name.format(number)) as stream:
        stream.write("rows\n")
    os.write(number, b"after\n")
    assert path.read_text() == "before\nrows\nafter\n"
    assert [each.name for each in path.parent.iterdir()] == ["out"]


def test_a_file_that_another_name_of_a_process_leads_to_is_written_in_place(opened: tuple[Path, int]) -> None:
    path, number = opened
    before = path.stat().st_ino
    with atomic.replacing(f"/proc/{os.getpid()}/fd/{number}") as stream:
        stream.write("rows\n")
    assert (path.read_text(), path.stat().st_ino) == ("rows\n", before)


def test_stdout_is_never_replaced_wherever_it_leads() -> None:
    assert atomic.is_written_in_place("/dev/stdout")
    assert atomic.is_written_in_place("/dev/stderr")


def test_a_number_that_is_not_open_is_refused() -> None:
    with (
        pytest.raises(WriteError, match="/dev/fd/999999999 cannot be written"),
        atomic.replacing("/dev/fd/999999999"),
    ):
        pass


def test_a_users_link_gives_its_name_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    with atomic.replacing(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").read_text() == "new"
    assert (tmp_path / "kept").read_text() == "kept"


def test_a_model_in_an_open_file_has_no_range_file_beside_it(opened: tuple[Path, int]) -> None:
    path, number = opened
    ranges = scaling.fit(np.array([[0.0] * 5, [1.0] * 5]), "[0,1]")
    model = replace(trained.kernel_model(), ranges=ranges)
    model_files.write(f"/dev/fd/{number}", model)
    model_files.write(path.with_name("plain"), model)
    assert path.read_text() == "before\n" + path.with_name("plain").read_text()
