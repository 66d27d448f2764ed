"""The UCI sets' own forms: archives, compress, MiniBooNE's counts, KDD's symbols, Adult's categories."""

import bz2
import contextlib
import gzip
import lzma
import shutil
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.data import catalogue, formats
from fwsvm.data.fetching.digests import file_sha256
from fwsvm.data.formats import decompression, kdd99, lzw, miniboone, zip_archives
from fwsvm.data.lock import lockfile
from fwsvm.errors import DataError


def compress(text: bytes, widest: int = 16, clear_every: int = 0) -> bytes:
    """Pack as Unix compress does, with the table cleared every so many codes, as it does on other data."""
    out, pending, bits, codes, width = bytearray(b"\x1f\x9d" + bytes([0x80 | widest])), 0, 0, 0, 9
    table = {bytes([i]): i for i in range(256)}
    free = 257

    def emit(code: int) -> None:
        nonlocal pending, bits, codes
        pending |= code << bits
        bits += width
        codes += 1

    def end_group() -> None:
        nonlocal bits, codes, pending
        bits += -codes % 8 * width
        out.extend(pending.to_bytes(-(-bits // 8), "little"))
        pending = bits = codes = 0

    word, since_clear = b"", 0
    for i in range(len(text)):
        byte = text[i : i + 1]
        if word + byte in table:
            word += byte
            continue
        emit(table[word])
        since_clear += 1
        if clear_every and since_clear >= clear_every:
            emit(256)
            end_group()
            table, free, width, since_clear = {bytes([i]): i for i in range(256)}, 257, 9, 0
        elif free < 1 << widest:
            table[word + byte] = free
            free += 1
            if free > 1 << width and width < widest:
                end_group()
                width += 1
        word = byte
    if word:
        emit(table[word])
    out.extend(pending.to_bytes(-(-bits // 8), "little"))
    return bytes(out)


@settings(deadline=None)
@given(
    st.binary(max_size=3000) | st.text("01 \n", max_size=3000).map(str.encode),
    st.integers(9, 16),
    st.integers(0, 900),
)
def test_uncompress_undoes_compress(text: bytes, widest: int, clear_every: int) -> None:
    assert b"".join(lzw.decompress(compress(text, widest, clear_every), "x.Z")) == text


@pytest.mark.skipif(shutil.which("gzip") is None, reason="gzip reads .Z files")
@pytest.mark.parametrize("clear_every", [0, 5000])
def test_gzip_reads_the_same_from_a_long_file(clear_every: int, tmp_path: Path) -> None:
    text = bytes(np.random.default_rng(0).choice(list(b"0123456789 -\n"), 300_000).tolist())
    packed = compress(text, 16, clear_every)
    (tmp_path / "long.Z").write_bytes(packed)
    theirs = subprocess.run(["gzip", "-dc", tmp_path / "long.Z"], capture_output=True, check=True).stdout
    assert b"".join(lzw.decompress(packed, "long.Z")) == theirs == text


@pytest.mark.parametrize("packed", [b"", b"\x1f\x8b\x08", b"\x1f\x9d\x99abc", b"\x1f\x9d\x90" + b"\xff" * 9])
def test_what_compress_did_not_write_is_refused(packed: bytes) -> None:
    with pytest.raises(DataError, match=r"x\.Z: "):
        list(lzw.decompress(packed, "x.Z"))


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"inside/{name}.txt", text)
    return path


def test_a_member_of_a_zip_is_read_by_its_pattern(cache: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "two.zip", tr="1,2,A\n3,4,B\n", ts="5,6,A\n")
    loader = {"format": "csv", "label": -1}
    train, _ = formats.read(path, file_sha256(path), loader, "*tr.txt")
    test, _ = formats.read(path, file_sha256(path), loader, "*ts.txt")
    assert train.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert test.labels.tolist() == ["A"]
    with pytest.raises(DataError, match="2 members are called"):
        formats.read(path, file_sha256(path), loader, "*.txt")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match="not a whole zip archive"):
        formats.read(path, file_sha256(path), loader, "*tr.txt")
    assert not list((cache / "parsed").glob("*building-*"))


def rezipped(path: Path, content: bytes, **how: int) -> Path:
    """Write a zip archive with one member, rows.txt."""
    with zipfile.ZipFile(path, "w", **how) as archive:
        archive.writestr("../rows.txt", content)
    return path


def refused(path: Path, kind: str = "csv") -> str:
    with pytest.raises(DataError) as error:
        formats.read(path, file_sha256(path), {"format": kind}, "*rows.txt")
    return str(error.value)


ROWS = b"1,2,A\n3,4,B\n" * 500


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, compress])
def test_a_member_may_be_compressed_once(pack, cache: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = rezipped(tmp_path / "a.zip", pack(ROWS))
    table, _ = formats.read(path, file_sha256(path), {"format": "csv"}, "*rows.txt")
    assert table.rows == 1000
    assert "compressed twice" in refused(rezipped(tmp_path / "b.zip", pack(gzip.compress(ROWS))))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.zip",
        "b.zip",
        "cache",
    ]  # none by a member's name


def test_damaged_zips_are_refused_wherever_they_are_damaged(cache: Path, tmp_path: Path) -> None:
    whole = rezipped(tmp_path / "whole.zip", ROWS, compression=zipfile.ZIP_DEFLATED).read_bytes()
    path = tmp_path / "damaged.zip"
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(DataError):  # a damaged date or attribute harms nothing
            table, _ = formats.read(path, file_sha256(path), {"format": "csv"}, "*rows.txt")
            assert table.rows == 1000


def test_zips_that_no_data_set_needs_are_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rezipped(tmp_path / "a.zip", ROWS, compression=zipfile.ZIP_BZIP2)
    assert "method 12; stored and deflated are read" in refused(path)
    path = rezipped(path, ROWS, compression=zipfile.ZIP_LZMA)
    assert "method 14" in refused(path)
    path = rezipped(path, ROWS, compression=zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    path.write_bytes(content + b"more")
    assert "follows the end" in refused(path)
    content[content.find(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in refused(path)
    monkeypatch.setattr(decompression, "ALWAYS_ALLOWED_BYTES", 1 << 12)
    assert "as no data set is" in refused(
        rezipped(path, b"1,2,A\n" * 100_000, compression=zipfile.ZIP_DEFLATED)
    )
    path = rezipped(path, gzip.compress(b"1,2,A\n" * 100_000), compression=zipfile.ZIP_DEFLATED)
    assert "as no data set does" in refused(path)


def test_compressed_records_of_every_form_are_bounded_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, records = tmp_path / "records", f"{RECORD},normal.\n".encode() * 5000
    packed = gzip.compress(records)
    path.write_bytes(packed)
    assert kdd99.read(path)[0].rows == 5000
    for damaged in (packed[:-1], packed + b"x", packed[:80] + b"\0" * 9 + packed[89:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="gzip file"):
            kdd99.read(path)
    monkeypatch.setattr(decompression, "ALWAYS_ALLOWED_BYTES", 1 << 12)
    monkeypatch.setattr(decompression, "MAX_EXPANSION", 2)
    path.write_bytes(packed)
    with pytest.raises(DataError, match="expands to more than"):
        kdd99.read(path)


def test_a_compressed_table_is_read(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "shuttle.trn.Z"
    path.write_bytes(compress(b"50 21 77 2\n37 0 79 4\n"))
    table, _ = formats.read(
        path, file_sha256(path), {"format": "csv", "delimiter": "whitespace", "label": -1}
    )
    assert table.X.tolist() == [[50.0, 21.0, 77.0], [37.0, 0.0, 79.0]]
    assert table.labels.tolist() == [2.0, 4.0]


def test_miniboone_s_first_line_says_which_rows_are_signal(tmp_path: Path) -> None:
    path = tmp_path / "MiniBooNE_PID.txt"
    path.write_text(" 2 1\n  1.0  2.0\n 3.0 -0.999E+03\n 5 6\n", "utf-8")
    table, _ = miniboone.read(path)
    assert table.labels.tolist() == [1.0, 1.0, -1.0]
    assert table.X.tolist() == [[1.0, 2.0], [3.0, -999.0], [5.0, 6.0]]
    for text in (
        " 2 2\n 1 2\n 3 4\n 5 6\n",
        "1 2 3\n",
        "",
        "a b\n1 2\n",
        " 1 1\n 1 2\n 3\n",
        "-1 2\n1 2\n",
        "1 1\n1 2\n3 inf\n",
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(DataError, match="MiniBooNE_PID"):
            miniboone.read(path)


RECORD = "0,tcp,http,SF,181,5450,0" + ",0" * 4 + ",1" + ",0" * 10 + ",8" + ",0.5" * 18


def test_a_connection_has_127_features(tmp_path: Path) -> None:
    path = tmp_path / "kdd"
    path.write_text(f"{RECORD},normal.\n{RECORD.replace('tcp,http', 'icmp,icmp')},smurf.\n", "utf-8")
    table, _ = kdd99.read(path)
    assert table.X.shape == (2, 127) == (2, kdd99.FEATURES)
    assert table.labels.tolist() == ["normal", "smurf"]
    numbers = table.X.toarray()[:, :34]
    assert numbers[0, :3].tolist() == [0.0, 181.0, 5450.0]
    assert np.array_equal(numbers[0], numbers[1])
    indicators = table.X.toarray()[:, 34:]
    assert indicators.sum(axis=1).tolist() == [7.0, 7.0]
    first = np.flatnonzero(indicators[0]) - np.cumsum([0, 3, 71, 11, 2, 2, 2])
    assert first.tolist() == [1, kdd99.SERVICES.index("http"), kdd99.FLAGS.index("SF"), 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{RECORD},normal.\n{RECORD.replace('http', 'gopher2')},normal.\n",
            ":2: column 3: unknown symbol 'gopher2'",
        ),
        (f"{RECORD},normal.\n{RECORD}\n", ":2: fewer than 42 fields"),
        (f"{RECORD}\n", ":1: fewer than 42 fields"),
        (f"{RECORD},1,normal.\n", ":1: more than 42 fields"),
        (f"{RECORD.replace('5450', 'inf')},normal.\n", ":1: column 6 is not a finite number"),
        (f"{RECORD.replace('5450', 'many')},normal.\n", "not KDD Cup 99 records"),
        (f"{RECORD},normal.\n{RECORD},nor\x07mal.\n", ":2: the label 'nor\\x07mal' holds a character"),
        ("", "has no rows"),
    ],
)
def test_a_wrong_connection_is_named_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "kdd"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as error:
        kdd99.read(path)
    assert said in str(error.value)


def test_all_attacks_of_both_files_have_a_group() -> None:
    groups = lockfile.read().entries["kdd99-10pc"].sources[0].grouping
    assert groups is not None
    assert set(groups) == {"normal", "dos", "probe", "r2l", "u2r"}
    attacks = Counter(name for members in groups.values() for name in members)
    assert max(attacks.values()) == 1
    assert len(attacks) == 40  # 23 of the training file and 17 of the test file alone


ADULT = (
    "|1x3 Cross validator\n"
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, "
    "United-States, <=50K.\n"
    "44, ?, 160323, Some-college, 10, Married-civ-spouse, ?, Husband, Black, Male, 7688, 0, 40, ?, >50K.\n\n"
)


def test_adult_s_own_columns_become_108_features(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "adult.test"
    path.write_text(ADULT, "utf-8")
    entry = lockfile.read().entries["adult-uci"]
    source = entry.sources[0]
    table, _ = formats.read(path, file_sha256(path), source.loader)
    assert table.X.shape == (2, 108) == (2, entry.features)
    assert source.grouping is not None
    assert catalogue.grouped(table, source.grouping, "adult").labels.tolist() == [-1.0, 1.0]
    with pytest.raises(DataError, match="belongs to no class"):
        catalogue.grouped(table, {1: (">50K",)}, "adult")


def test_a_zip_is_read_where_the_cache_takes_no_files(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "two.zip", tr="1,2,A\n3,4,B\n")
    (tmp_path / "file").touch()
    monkeypatch.setattr(zip_archives, "parsed_folder", lambda: tmp_path / "file" / "parsed")
    with zip_archives.extracted(path, "inside/tr.txt") as plain:
        assert plain.read_text() == "1,2,A\n3,4,B\n"


def test_an_error_inside_a_zip_names_the_archive_and_the_member(cache: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "two.zip", tr="1,2,A\n3,x,B\n")
    with pytest.raises(DataError) as error:
        formats.read(path, file_sha256(path), {"format": "csv", "label": -1}, "inside/tr.txt")
    assert str(error.value).startswith(f"{path}: inside/tr.txt:2: column 1")
