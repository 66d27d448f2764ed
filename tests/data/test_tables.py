"""Delimited text: UCI's ways of writing rows, against Python's csv module."""

import csv
import gzip
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwsvm.data.formats import delimited
from fwsvm.data.labels import number
from fwsvm.errors import DataError, UsageError

# every example rewrites the one file of its test
IN_TMP = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the given text or bytes from a file called ``data``."""

    def read(content, **options):
        path = tmp_path / "data"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return delimited.read(path, **options)[0]

    return read


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("1,2,yes\n-3.5,4e1,no\n", {}),
        ("1,2,yes\n-3.5,4e1,no", {}),
        ("1,2,yes\r\n-3.5,4e1,no\r\n\r\n", {}),
        (" 1 ,\t2, yes \n\n-3.5,4e1,no  \n", {}),
        ('1,"2","yes"\n"-3.5",4e1,"no"\n', {}),
        ("1;2;yes\n-3.5;4e1;no\n", {"delimiter": ";"}),
        ("1\t2\tyes\n-3.5\t4e1\tno\n", {"delimiter": "\t"}),
        ("1 2 yes\n-3.5 4e1 no\n", {"delimiter": " "}),
        ("  1 2\t yes \n-3.5   4e1 no\t\r\n", {"delimiter": "whitespace"}),
        ("1 2 yes\n-3.5 4e1 no\n", {"delimiter": None}),
        ("yes,1,2\nno,-3.5,4e1\n", {"label": 0}),
        ("1,yes,2\n-3.5,no,4e1\n", {"label": -2}),
        ("7,1,x,2,yes\n8,-3.5,y,4e1,no\n", {"drop": [0, -3]}),
        ("a,b,class\n1,2,yes\n-3.5,4e1,no\n", {"header": True}),
        ('a,"the class",b\n1,yes,2\n-3.5,no,4e1\n', {"header": True, "label": "the class"}),
        ("id,a,b,class\nA1,1,2,yes\nB2,-3.5,4e1,no\n", {"header": True, "drop": ["id"]}),
        ("|a comment, with commas\n1,2,yes\n|\n-3.5,4e1,no\n", {"comment": "|"}),
        ("\ufeffa,b,class\n1,2,yes\n-3.5,4e1,no\n", {"header": True}),
        (gzip.compress(b"1,2,yes\n-3.5,4e1,no\n", mtime=0), {"features": 2}),
    ],
)
def test_what_may_vary_does_not_matter(read, content, options):
    table = read(content, **options)
    assert isinstance(table.X, np.ndarray)
    assert table.X.flags.c_contiguous
    assert table.X.tolist() == [[1, 2], [-3.5, 40]]
    assert table.labels.tolist() == ["yes", "no"]


def test_a_row_of_one_field(read):
    table = read("A\nB\n")
    assert table.X.shape == (2, 0)
    assert read('"A"\n\'B\n', delimiter=" ").labels.tolist() == ["A", "'B"]


def test_labels_that_are_numbers(read):
    assert read("1,6.0000\n2,5\n").labels.tolist() == [6.0, 5.0]
    assert read("1,6.0000\n2,A\n").labels.tolist() == ["6.0000", "A"]


def test_quotes(read):
    table = read('1,"a, b"\n2,"say ""no"""\n3,""\n', label=0, categorical=[1])
    assert table.X.toarray().tolist() == np.eye(3).tolist()
    assert read('1,"a, b"\n2,"say ""no"""\n').labels.tolist() == ["a, b", 'say "no"']


def test_categories_by_first_appearance_stand_in_their_column_s_place(read):
    table = read("1,tcp,0,A\n2,udp,5,B\n0,tcp,6,A\n", categorical=[1])
    assert isinstance(table.X, csr_array)
    assert table.X.toarray().tolist() == [[1, 1, 0, 0], [2, 0, 1, 5], [0, 1, 0, 6]]
    assert table.X.nnz == 7
    table.X.check_format(full_check=True)


def test_categories_as_given(read):
    table = read("tcp,0,A\nudp,1,B\n", categorical={0: ["icmp", "udp", "tcp"], 1: [0, 1]})
    assert table.X.toarray().tolist() == [[0, 0, 1, 1, 0], [0, 1, 0, 0, 1]]
    with pytest.raises(DataError, match=r"data:3: column 0 \(protocol\): unknown value 'sctp'"):
        read("protocol,y\ntcp,A\nsctp,B\n", header=True, categorical={"protocol": ["tcp", "udp"]})


@pytest.mark.parametrize(
    ("content", "options", "why"),
    [
        ("1,2,A\n1,?,B\n", {}, "data:2: column 1: '?' is not a finite number"),
        ("a,b,y\n1,2,A\n1,,B\n", {"header": True}, "data:3: column 1 (b): '' is not a finite number"),
        ("1,2,A\n1,nan,B\n", {}, "data:2: column 1: 'nan' is not a finite number"),
        ("1,2,A\n1,1e999,B\n", {}, "data:2: column 1: '1e999' is not a finite number"),
        ("1,2,A\n1,2 3,B\n", {}, "data:2: column 1: '2 3' is not a finite number"),
        ("1,2,A\n1,B\n", {}, "data:2: column 1: 'B' is not a finite number"),
        ("A,2,3\nA,1\n", {"label": 0}, "data:2: 2 fields, but the first row has 3"),
        ("1,2,A\n1,2,B,\n", {}, "data:2: more than 3 fields"),
        ("1 2 A\n\n1 2 B 3\n", {"delimiter": " "}, "data:3: more than 3 fields"),
        ("a,b\n1,2,A\n", {"header": True}, "data:2: 3 fields, but the header names 2 columns"),
        ('1,2,A\n1,2,"B\n', {}, "data:2: column 2: the quote is never closed"),
        ('1,2,A\n1,"2"3,B\n', {}, "data:2: column 1: the field goes on after its closing quote"),
        ("1,2,A\n1,2,\n", {}, "data:2: the label is missing"),
        ('1,2,A\n1,2,"A\tB"\n', {}, "data:2: the label 'A\\tB' holds a character that is not printable"),
        ("1,2,A\n1,2,B\n1,2,B\u00a0C\n", {}, "data:3: the label 'B\\xa0C' holds"),
        ("1,2\n", {"label": 5}, "data has no column 5; it has 2 columns, counted from 0"),
        ("1,2\n", {"label": "y"}, "data has no column 'y'; it is read without a header"),
        ("x,y\n1,2\n", {"label": "z", "header": True}, "data has no column 'z'; it has x, y"),
        ("1,2\n", {"drop": [-1]}, "data: column 1 cannot be read in two ways"),
        ("1,2,3\n", {"drop": [0], "categorical": [0]}, "data: column 0 cannot be read in two ways"),
        ("1,2\n", {"features": 4}, "data has 1 features, but 4 were expected"),
        ("x,y\n", {"header": True}, "data has no rows"),
        ("\n\n", {}, "data has no rows"),
        ("", {}, "data is empty"),
        (b"1,\xe9\n2,b\n", {}, "data is not UTF-8 text"),
        ("<html>", {}, "is an HTML page"),
        ("1,A\n179769313486231580793728971405304e276,B\n", {}, "is too large for a double"),
    ],
)
def test_refusals(read, content, options, why):
    with pytest.raises(DataError, match=re.escape(why)):
        read(content, **options)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8).map(str.strip)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
RECORDS = st.lists(st.tuples(NUMBERS, WORDS, NUMBERS, LABELS), min_size=1, max_size=8)


@IN_TMP
@given(records=RECORDS, delimiter=st.sampled_from([",", ";", "\t"]), quoting=st.sampled_from([0, 1]))
def test_what_the_csv_module_writes_is_read_back(tmp_path, records, delimiter, quoting):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, quoting=quoting).writerows(records)
    path = tmp_path / "data"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    table, _ = delimited.read(path, delimiter=delimiter, drop=[1])
    assert table.X.tolist() == [[a, b] for a, _, b, _ in records]
    if None in map(number, (r[3] for r in records)):
        assert table.labels.tolist() == [r[3] for r in records]


@IN_TMP
@given(
    lines=st.lists(st.from_regex(r'[-0-9a".,;| \t\r\x00-\x02é]{0,20}', fullmatch=True), min_size=1),
    delimiter=st.sampled_from([",", " "]),
    header=st.booleans(),
)
def test_rubbish_is_read_or_refused_but_never_crashes(tmp_path, lines, delimiter, header):
    path = tmp_path / "data"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    try:
        table, _ = delimited.read(path, delimiter=delimiter, header=header, categorical=[0])
    except DataError:
        return
    assert np.isfinite(table.X.data).all()
    assert len(table.labels) == table.rows


def test_empty_lines_before_the_first_row_cost_next_to_nothing(read):
    assert read(b"\n" * 20_000_000 + b"1,2,a\n").rows == 1
    with pytest.raises(DataError, match="has no rows"):
        read(b"#\n" * 10_000_000, comment="#")


@pytest.mark.parametrize("delimiter", ["", ",,", "é", "1", "\n", '"', "."])
def test_a_delimiter_is_one_character_that_no_field_has(read, delimiter):
    with pytest.raises(UsageError, match="delimiter"):
        read("1,2,a\n", delimiter=delimiter)
    with pytest.raises(UsageError, match="comment"):
        read("1,2,a\n", comment="##")


def test_the_memory_taken_is_in_proportion_to_the_file(read):
    """A wide first row and many empty lines made room for the product of both."""
    assert read(b",".join([b"1"] * 3000) + b"\n" * 3_000_000).rows == 1
    with pytest.raises(DataError, match="more than 200,000 columns"):
        read(b"," * 210_000)


MIRROR = os.environ.get("FWSVM_MIRROR", "")
REAL = [
    ("wdbc.data", {"label": 1, "drop": [0]}),
    ("winequality-red.csv", {"delimiter": ";", "header": True}),
    ("magic04.csv", {"header": True, "label": "class"}),
    ("Occupancy_Estimation.csv", {"header": True, "drop": ["Date", "Time"]}),
    ("zip.test.gz", {"delimiter": " ", "label": 0}),
]


@pytest.mark.mirror
@pytest.mark.skipif(not MIRROR, reason="needs data files in FWSVM_MIRROR")
@pytest.mark.parametrize(("name", "options"), REAL)
def test_real_files_agree_with_python_s_csv_module(name, options):
    path = Path(MIRROR) / name
    if not path.is_file():
        pytest.skip(f"{name} is not in FWSVM_MIRROR")
    table, _ = delimited.read(path, **options)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = (line.strip() for line in content.decode().splitlines())
    rows = list(csv.reader(lines, delimiter=options.get("delimiter", ",")))
    names = rows.pop(0) if options.get("header") else list(range(len(rows[0])))
    label = options.get("label", -1)
    label = names[label] if isinstance(label, int) else label
    used = [k for k, name in enumerate(names) if name != label and name not in options.get("drop", [])]
    assert np.array_equal(table.X, [[float(row[k]) for k in used] for row in rows])
    labels = [row[names.index(label)] for row in rows]
    assert table.labels.tolist() == (labels if table.labels.dtype.kind == "U" else [float(x) for x in labels])
