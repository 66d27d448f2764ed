"""The UCI sets' own forms: archives, compress, MiniBooNE's counts, KDD's symbols, Adult's categories."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fwsvm.data import catalogue, formats, lockfile
from fwsvm.data.formats import tables
from fwsvm.errors import DataError

#: "50 21 77 2" and "37 0 79 4", a line each, as Unix compress packs them.
PACKED = bytes.fromhex("1f9d90356080901103c48d1b0315cc4028f0460e10341400")


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"inside/{name}.txt", text)
    return path


def test_a_member_of_a_zip_is_read_by_its_pattern(cache: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "two.zip", tr="1,2,A\n3,4,B\n", ts="5,6,A\n")
    loader = {"format": "csv", "label": -1}
    train = formats.read(path, loader, member="*tr.txt")
    test = formats.read(path, loader, member="*ts.txt")
    assert train.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert test.labels.tolist() == ["A"]
    with pytest.raises(DataError, match="2 members are called"):
        formats.read(path, loader, member="*.txt")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match="is damaged"):
        formats.read(path, loader, member="*tr.txt")
    assert not list((cache / "parsed").glob("*building-*"))


def test_a_compressed_table_is_read(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "shuttle.trn.Z"
    path.write_bytes(PACKED)
    table = formats.read(path, {"format": "csv", "delimiter": "whitespace", "label": -1})
    assert table.X.tolist() == [[50.0, 21.0, 77.0], [37.0, 0.0, 79.0]]
    assert table.labels.tolist() == [2.0, 4.0]


RECORD = "0,tcp,http,SF,181,5450,0" + ",0" * 4 + ",1" + ",0" * 10 + ",8" + ",0.5" * 18


def test_a_connection_has_127_features(tmp_path: Path) -> None:
    path = tmp_path / "kdd"
    path.write_text(f"{RECORD},normal.\n{RECORD.replace('tcp,http', 'icmp,icmp')},smurf.\n", "utf-8")
    table = tables.read_kdd99(path)
    assert table.X.shape == (2, 127)
    assert table.labels.tolist() == ["normal", "smurf"]
    numbers = table.X.toarray()[:, :34]
    assert numbers[0, :3].tolist() == [0.0, 181.0, 5450.0]
    assert np.array_equal(numbers[0], numbers[1])
    indicators = table.X.toarray()[:, 34:]
    assert indicators.sum(axis=1).tolist() == [7.0, 7.0]
    first = np.flatnonzero(indicators[0]) - np.cumsum([0, 3, 71, 11, 2, 2, 2])
    assert first.tolist() == [1, tables.SERVICES.index("http"), tables.FLAGS.index("SF"), 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{RECORD},normal.\n{RECORD.replace('http', 'gopher2')},normal.\n",
            "column 3: unknown value 'gopher2'",
        ),
        (f"{RECORD},normal.\n{RECORD}\n", ":2: column 42 is empty"),
        (f"{RECORD.replace('5450', 'inf')},normal.\n", ":1: column 6: 'inf' is not a finite number"),
        ("", "is empty"),
    ],
)
def test_a_wrong_connection_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "kdd"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=re.escape(said)):
        tables.read_kdd99(path)


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
    table = formats.read(path, source.loader)
    assert table.X.shape == (2, 108) == (2, entry.features)
    assert source.grouping is not None
    assert catalogue.grouped(table, source.grouping).labels.tolist() == [-1.0, 1.0]
    assert catalogue.grouped(table, {1: (">50K.",)}).labels.tolist() == ["<=50K.", "1"]


def test_an_error_inside_a_zip_names_the_archive_and_the_member(cache: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "two.zip", tr="1,2,A\n3,x,B\n")
    with pytest.raises(DataError) as error:
        formats.read(path, {"format": "csv", "label": -1}, member="inside/tr.txt")
    assert str(error.value).startswith(f"{path}:2: column 2")
