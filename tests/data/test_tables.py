"""Delimited text: UCI's ways of writing rows, users' CSV files, KDD99 and MiniBooNE."""

import gzip
import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from fwsvm import data
from fwsvm.data import inputs
from fwsvm.data.formats import tables
from fwsvm.errors import DataError, UsageError


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the given text or bytes from a file called ``data``."""

    def read(content, **options):
        path = tmp_path / "data"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tables.read(path, **options)

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
        ("yes,1,2\nno,-3.5,4e1\n", {"label": 0}),
        ("1,yes,2\n-3.5,no,4e1\n", {"label": -2}),
        ("7,1,x,2,yes\n8,-3.5,y,4e1,no\n", {"drop": [0, -3]}),
        ("a,b,class\n1,2,yes\n-3.5,4e1,no\n", {"header": True}),
        ('a,"the class",b\n1,yes,2\n-3.5,no,4e1\n', {"header": True, "label": "the class"}),
        ("id,a,b,class\nA1,1,2,yes\nB2,-3.5,4e1,no\n", {"header": True, "drop": ["id"]}),
        ("|a comment, with commas\n1,2,yes\n|\n-3.5,4e1,no\n", {"comment": "|"}),
        ("\ufeffa,b,class\n1,2,yes\n-3.5,4e1,no\n", {"header": True}),
        (gzip.compress(b"1,2,yes\n-3.5,4e1,no\n", mtime=0), {}),
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


def test_labels_that_are_numbers(read):
    assert read("1,6.0000\n2,5\n").labels.tolist() == [6.0, 5.0]
    assert read("1,6.0000\n2,A\n").labels.tolist() == ["6.0000", "A"]


def test_quotes(read):
    assert read('1,"a, b"\n2,"say ""no"""\n').labels.tolist() == ["a, b", 'say "no"']


def test_categories_stand_in_their_column_s_place(read):
    table = read("1,tcp,0,A\n2,udp,5,B\n0,tcp,6,A\n", categorical={1: ["tcp", "udp"]})
    assert isinstance(table.X, csr_array)
    assert table.X.toarray().tolist() == [[1, 1, 0, 0], [2, 0, 1, 5], [0, 1, 0, 6]]
    assert table.X.nnz == 7
    table.X.check_format(full_check=True)


def test_categories_as_given(read):
    table = read("tcp,0,A\nudp,1,B\n", categorical={0: ["icmp", "udp", "tcp"], 1: [0, 1]})
    assert table.X.toarray().tolist() == [[0, 0, 1, 1, 0], [0, 1, 0, 0, 1]]
    with pytest.raises(DataError, match=r"data:3: column 1 \(protocol\): unknown value 'sctp'"):
        read("protocol,y\ntcp,A\nsctp,B\n", header=True, categorical={"protocol": ["tcp", "udp"]})


@pytest.mark.parametrize(
    ("content", "options", "why"),
    [
        ("1,2,A\n1,?,B\n", {}, "data:2: column 2: '?' is not a finite number"),
        (
            "a,b,y\n1,2,A\n1,,B\n",
            {"header": True},
            "data:3: column 2 (b) is empty or missing; fill it in, or leave out",
        ),
        ("1,2,A\n1,nan,B\n", {}, "data:2: column 2: 'nan' is not a finite number"),
        ("1,2,A\n1,1e999,B\n", {}, "data:2: column 2: '1e999' is not a finite number"),
        (
            "1;2;A\n1;3,5;B\n",
            {"delimiter": ";"},
            "data:2: column 2: '3,5' is not a finite number; write a point in",
        ),
        ("A,2,3\nA,1\n", {"label": 0}, "data:2: column 3 is empty or missing; fill it in"),
        ("1 2 A\n\n1 2 B 3\n", {"delimiter": " "}, "Expected 3 fields in line 3, saw 4"),
        ("a,b\n1,2,A\n", {"header": True}, "data: Length of header or names does not match length of data"),
        ('1,2,A\n1,2,"B\n', {}, "data: Error tokenizing data. C error: EOF inside string"),
        ("1,2,A\n1,2,\n", {}, "data:2: column 3 is empty or missing"),
        ("1,2\n", {"label": 5}, "data has no column 5; it has 2 columns, counted from 0"),
        ("1,2\n", {"label": "y"}, "data has no column 'y'; it has 2 columns"),
        ("x,y\n1,2\n", {"label": "z", "header": True}, "data has no column 'z'; it has x, y"),
        ("x,y\n", {"header": True}, "data has no rows"),
        ("\n\n", {}, "data has no rows"),
        ("", {}, "data is empty"),
        (b"1,\xe9\n2,b\n", {}, "data is not UTF-8 text"),
        ("<html>", {}, "is an HTML page"),
    ],
)
def test_refusals(read, content, options, why):
    with pytest.raises(DataError, match=re.escape(why)):
        read(content, **options)


IRIS = "length,width,species\n" + "5.1,3.5,setosa\n7.0,3.2,versicolor\n" * 3


def test_a_user_s_csv_file(tmp_path, cache):
    path, test = tmp_path / "iris.csv", tmp_path / "test.csv"
    path.write_text(IRIS)
    test.write_text("species;width;length\nsetosa;1;2\n")
    found = data.load(path, label="species", test=test)
    assert found.classes == ("versicolor", "setosa")
    assert found.train.feature_names == ("length", "width")
    assert found.test.X.tolist() == [[2, 1]]
    assert data.load(path, label="3").fingerprint == data.load(path, label="3").fingerprint
    path.write_text(IRIS.replace("species", "Class"))
    assert data.load(path).classes == ("versicolor", "setosa")


def test_labels_of_a_csv_file_stay_as_they_are_written(tmp_path, cache):
    path = tmp_path / "rows.csv"
    path.write_text("a,class\n" + "1,01\n2,1\n3,2\n" * 4)
    assert data.load(path).classes == ("01", "1", "2")
    path.write_text("a,class\n" + "1,2.0\n2,1\n" * 4)
    assert data.load(path).train.labels.tolist() == [2.0, 1.0] * 4


def test_a_csv_file_without_a_header(tmp_path, cache):
    path = tmp_path / "iris.csv"
    path.write_text(IRIS.split("\n", 1)[1])
    assert data.load(path, label="3").train.X.tolist()[0] == [5.1, 3.5]
    with pytest.raises(UsageError, match="which column has the labels"):
        data.load(path)
    with pytest.raises(UsageError, match="there is no column 'species'; it has 3 columns"):
        data.load(path, label="species")
    path.write_text("length,width,species\n")
    with pytest.raises(DataError, match="has no rows: its only line is a header"):
        data.load(path, label="species")


def test_an_index_of_pandas_is_not_taken_for_a_feature(tmp_path, cache):
    (tmp_path / "t.csv").write_text(",a,label\n0,1.5,1\n1,2.5,2\n")
    with pytest.raises(DataError, match="column 1 has no name; name it, or leave it out"):
        data.load(tmp_path / "t.csv")


def test_rows_of_a_csv_file_to_predict(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("width,length\n1,2\n")
    assert inputs.read_rows(path, unseen=True, feature_names=("length", "width")).X.tolist() == [[2, 1]]
    path.write_text("length,width,species\n2,1,setosa\n")
    found = inputs.read_rows(path, unseen=True, feature_names=("length", "width"), label="species")
    assert (found.X.tolist(), found.labels.tolist()) == ([[2, 1]], ["setosa"])
    with pytest.raises(DataError, match="has no column 'height'"):
        inputs.read_rows(path, unseen=True, feature_names=("height",))


def test_miniboone(tmp_path):
    path = tmp_path / "pid"
    path.write_text("     1     2\n  1.5 2\n 3 4\n 5 6\n")
    table = tables.read_miniboone(path)
    assert table.labels.tolist() == [1, -1, -1]
    assert table.X.tolist() == [[1.5, 2], [3, 4], [5, 6]]
    path.write_text("     2     2\n  1.5 2\n 3 4\n 5 6\n")
    with pytest.raises(DataError, match="as many as its first line says, 4"):
        tables.read_miniboone(path)
