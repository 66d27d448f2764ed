"""Text read a piece at a time is the text read at once: rows, labels, notices and errors."""

import bz2
from pathlib import Path

import numpy as np
import pytest

from fwsvm.data import formats, parsed_copies
from fwsvm.data.fetching.digests import file_sha256
from fwsvm.data.formats import svmlight, svmlight_stream
from fwsvm.errors import DataError

PIECE = 64


@pytest.fixture(autouse=True)
def in_small_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(svmlight_stream, "STREAMED_FROM", 1)
    monkeypatch.setattr(svmlight_stream, "PIECE", PIECE)
    monkeypatch.setattr(svmlight_stream, "HEAD_BYTES", 16)


def lines(*labels: str) -> str:
    rng = np.random.default_rng(0)
    rows = [" ".join(f"{j}:{rng.normal():.3g}" for j in range(1 + i % 3, 9, 3)) for i in range(len(labels))]
    return "".join(f"{label} {row}\n" for label, row in zip(labels, rows, strict=True))


TEXTS = {
    "numbers": lines(*["1", "-1", "+1.0"] * 20),
    "names": lines(*["yes", "no"] * 20),
    "a name at the end": lines(*["1", "+1"] * 20, "one"),
    "a number of many digits": lines(*["1", "0.1000000000000000055511151231257827"] * 20),
    "no last newline": lines(*["1", "-1"] * 20).rstrip("\n"),
    "a mark, comments, empty lines": "\ufeff# so\n\n" + lines(*["1", "-1"] * 9) + "\n\n# end\n" + lines("1"),
    "queries and blank rows": "1 qid:3 1:2\n-1\n1 qid:4 3:0.5 # said\n" * 20,
    "windows": lines(*["1", "-1"] * 20).replace("\n", "\r\n"),
    "a long line": "1 " + " ".join(f"{j}:1" for j in range(1, 200)) + "\n-1 1:2\n",
    "digits for python": "1 1:0.30000000000000004440892098500626\n-1 2:1e-310\n" * 9,
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "bz2"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_copy_is_what_is_read_at_once(name: str, packed: bool, tmp_path: Path) -> None:
    content = TEXTS[name].encode()
    path = tmp_path / "rows"
    path.write_bytes(bz2.compress(content) if packed else content)
    wanted, notices = svmlight.read(path)
    for _ in range(2):  # parsed, and from the copy
        found, sha256, said = formats.read_file(path, {"format": "svmlight", "zero_based": False})
        assert sha256 == file_sha256(path)
        assert said == notices
        assert found.X.shape == wanted.X.shape
        for array in ("data", "indices", "indptr"):
            one, other = getattr(found.X, array), getattr(wanted.X, array)
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
        assert found.labels.dtype == wanted.labels.dtype
        assert np.array_equal(found.labels, wanted.labels)
    assert len(list((tmp_path / "cache" / "parsed").iterdir())) == 1


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows"
    path.write_text(TEXTS["numbers"])
    monkeypatch.setattr(formats, "file_sha256", lambda _: pytest.fail("read for its digest alone"))
    formats.read_file(path, {"format": "svmlight", "zero_based": False})


def test_a_file_of_the_same_size_and_other_bytes_is_another(tmp_path: Path) -> None:
    path, how = tmp_path / "rows", {"format": "svmlight", "zero_based": False}
    path.write_text("1 1:2\n-1 1:3\n")
    formats.read_file(path, how)
    path.write_text("1 1:2\n-1 1:4\n")
    assert formats.read_file(path, how)[0].X.data.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "broken",
    ["1 2:x\n", "nan 1:1\n", "1 2:1 1:1\n", "1 1:1e999999\n", "1:1\n", "yes 1:inf\n"],
)
@pytest.mark.parametrize("before", ["numbers", "names"])
def test_errors_name_the_line_of_the_file(before: str, broken: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_text(TEXTS[before] + broken + TEXTS["numbers"])
    with pytest.raises(DataError) as wanted:
        svmlight.read(path)
    with pytest.raises(DataError) as found:
        formats.read_file(path, {"format": "svmlight", "zero_based": False})
    assert str(found.value) == str(wanted.value)
    assert not list((tmp_path / "cache" / "parsed").iterdir())


@pytest.mark.parametrize("content", [b"", b"\n\n# nothing\n", b"<html>\n", b"a\0b\n"])
def test_what_is_no_data_is_refused_alike(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(content)
    with pytest.raises(DataError) as wanted:
        svmlight.read(path)
    with pytest.raises(DataError) as found:
        list(svmlight_stream.tables(path))
    assert str(found.value) == str(wanted.value)


def test_rows_to_predict_may_be_without_labels_but_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_text("1:2 2:1\n" * 40)
    tables = [table for table, _ in svmlight_stream.tables(path, unlabelled=True)]
    assert len(tables) > 1
    assert sum(table.rows for table in tables) == 40
    assert all(np.isnan(table.labels).all() for table in tables)
    path.write_text("1:2 2:1\n" * 40 + "1 1:2\n" * 40)
    with pytest.raises(DataError, match=r":\d+: the row has a label, but rows above have none"):
        list(svmlight_stream.tables(path, unlabelled=True))


def test_a_kill_leaves_no_copy_that_would_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows"
    path.write_text(TEXTS["numbers"])

    def killed(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parsed_copies, "_finish", killed)
    with pytest.raises(KeyboardInterrupt):
        formats.read_file(path, {"format": "svmlight", "zero_based": False})
    assert not list((tmp_path / "cache" / "parsed").iterdir())


def test_a_line_that_does_not_end_is_refused_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    path.write_text("1 1:2\n-1 1:3\n1 " + " ".join(f"{j}:1" for j in range(1, 200)))
    monkeypatch.setattr(svmlight_stream, "LONGEST_LINE", 1000)
    with pytest.raises(DataError, match=r"rows:3: the line has more than 0 MiB; end each row by a line feed"):
        formats.read_file(path, {"format": "svmlight", "zero_based": False})
    assert not list((tmp_path / "cache" / "parsed").iterdir())
