"""The LIBSVM reader and writer, against what lines mean and against scikit-learn."""

import bz2
import gzip
import lzma
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwsvm import data
from fwsvm.data.formats import svmlight, text_files
from fwsvm.errors import DataError
from tests import svmlight_files

IN_TMP = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # files are rewritten


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the given text or bytes from a file called ``data``."""

    def read(content, **options):
        path = tmp_path / "data"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return svmlight.read(path, **options)

    return read


@pytest.mark.parametrize(
    "content",
    [
        "1 1:2 4:3\n-1 2:5\n",
        "1 1:2 4:3\n-1 2:5",  # no last line end
        "1 1:2 4:3\r\n-1 2:5\r\n",
        "1 1:2 4:3 \r\n-1 2:5",
        "\ufeff1 1:2 4:3\n-1 2:5\n",
        "\n\n1 1:2 4:3\n   \n\t\n-1 2:5\n\n",
        "  1\t1:2   4:3\t\n\v-1\f2:5 \n",
        "# a comment\n1 1:2 4:3 # another 5:6\n   # a third\n-1 2:5#6:7\n",
        "+1.0 1:2. 4:+3e0\n-1e0 2:.5E+1\n",
        "1 1:2 3:0 4:3\n-1 2:5 4:-0.0\n",
        "1 1:2.0000000000000000000000000000 4:3\n-1 2:0000000000000000000000000005\n",
        "1 00001:2 4:3\n-1 2:5\n",
        "1 1: 2 4:\t3\n-1 2:   5.00\n",
    ],
)
def test_what_may_vary_does_not_matter(read, content):
    table = read(content)
    assert table.X.toarray().tolist() == [[2, 0, 0, 3], [0, 5, 0, 0]]
    assert table.labels.tolist() == [1, -1]
    assert table.notices == ()


def test_names_as_labels(read):
    table = read("setosa 1:1\nβ 1:2\nsetosa 1:3\n<=50K 1:1\n1 1:1\n")
    assert table.labels.tolist() == ["setosa", "β", "setosa", "<=50K", "1"]
    assert read("+1 1:1\nx 1:1\n").labels.tolist() == ["+1", "x"]


def test_query_numbers_are_ignored_with_a_notice(read):
    table = read("3 qid:1 1:0.53 2:0.12\n2 qid:1 1:0.13\n7 2:0.87\n")
    assert table.X.toarray().tolist() == [[0.53, 0.12], [0.13, 0], [0, 0.87]]
    assert table.notices == ("qid: was ignored in 2 rows",)


REFUSED = [
    ("1,2 1:1", "'1,2' is more than one label"),
    ("1:1 2:1", "has no label: it starts with '1:1'"),
    ("1 -3:1", "index of '-3:1' is not a whole number"),
    ("1 1e3:1", "index of '1e3:1' is not a whole number"),
    ("1 0:1", "index of '0:1' is not a whole number from 1 to 2147483646; --zero-based reads"),
    ("1 2147483647:1", "index of '2147483647:1' is not a whole number from 1 to 2147483646"),
    ("1 0000000000000000001:1", "is not a whole number from 1 to"),
    ("1 2:1 2:1", "'2:1' comes after '2:1', but indices must increase"),
    ("1 1:4 3:1 2:7", "'2:7' comes after '3:1', but indices must increase"),
    ("1 1:1 foo", "'foo' is not index:value"),
    ("1 1:1a", "value of '1:1a' is not a finite number"),
    ("1 1:1_0", "value of '1:1_0' is not a finite number"),
    ("1 1: ", "value of '1:' is not a finite number"),
    ("1 2: x", "value of '2:x' is not a finite number"),
    ("1 1 :2", "'1' is not index:value"),
    ("1 1:nan", "value of '1:nan' is not a finite number"),
    ("1 1:1e999", "value of '1:1e999' is not a finite number"),
    ("nan 1:1", "label 'nan' is not finite"),
    ("1 1:1 qid:3", "index of 'qid:3' is not a whole number"),
    ("1 qiz:3 1:1", "index of 'qiz:3' is not a whole number"),
    ("1 " + "1" * 90, "'" + "1" * 39 + "…' is not index:value"),
]


@pytest.mark.parametrize(("line", "why"), REFUSED)
def test_refusals_name_file_line_and_token(read, line, why):
    for before in ("", "1 1:1\n", "# comment\r\n\r\n1 1:1\r\n"):
        with pytest.raises(DataError) as caught:
            read(f"{before}{line}\n-1 3:1\n", zero_based=False)
        message = str(caught.value)
        assert re.match(rf".*data:{before.count(chr(10)) + 1}: ", message), message
        assert why in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "data is empty"),
        (b"\n \n# only comments\n", "data:1: the file has no rows"),
        (b"\n  <!DOCTYPE html><html><body>404</body></html>", "is an HTML page, not data"),
        (b"<html>\n<head><title>moved</title>", "is an HTML page, not data"),
        (b"1 1:1\n\0\0\0\0", "is binary, not text"),
        (b"\x93NUMPY\x01\x00v\x00", "is binary, not text"),
        (b"PK\x03\x04rest", "is a zip archive"),
        (b"\xff\xfe1\x00 \x00", "is UTF-16 text"),
        (b"\x28\xb5\x2f\xfdrest", "zstd"),
        (b"\xe9t\xe9 1:1\n", "data:1: the label is not UTF-8 text"),
        (b"1 1:1\n2 qid", "data:2: 'qid' is not index:value"),
        (b"1 1:1\r-1 2:1\r", "data:1: '-1' is not index:value"),
        (
            b"5.1 3.5 1\n4.9 3.0 2\n",
            "data:1: '3.5' is not index:value; fwsvm reads rows as 'label index:value ...'",
        ),
    ],
)
def test_what_is_no_data_file(read, content, why):
    with pytest.raises(DataError, match=re.escape(why)):
        read(content)


def test_the_shortest_broken_entries_are_refused(read):
    for text in ("1:\n" * 100_000, "1 1:\v2:\v3:\v4:\v5:\v6:\v7:\v8:\v9:\v\n" * 12_000):
        with pytest.raises(DataError, match="data:1: "):
            read(text)


def test_many_labels_of_a_piece_are_told_apart(read):
    names = [f"{1 + k % 700}" for k in range(5000)]
    found = read("".join(f"{name} 1:1\n" for name in names)).labels
    assert found.tolist() == [float(name) for name in names]


def test_threads_change_nothing(read, monkeypatch):
    monkeypatch.setattr(svmlight, "PIECE_BYTES", 300)
    text = "".join(f"{i % 3} {i + 1}:{i / 7!r}\n" for i in range(200))
    one, many = read(text, threads=1), read(text, threads=3)
    assert np.array_equal(one.labels, many.labels)
    assert one.X.indices.tolist() == many.X.indices.tolist() == list(range(200))
    assert one.X.data.tobytes() == many.X.data.tobytes()
    with pytest.raises(DataError, match=r"data:151: index of '0:1'"):
        read("1 1:1\n" * 150 + "1 0:1\n" + "1 1:1\n" * 50, threads=3)


ROWS = "".join(f"{(-1) ** i} 1:{i} 2:{i / 7!r}\n" for i in range(2000))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
class TestCompressed:
    """What is the same for gzip, bzip2 and xz."""

    def test_is_seen_from_its_first_bytes(self, read, compress):
        plain = read(ROWS)
        packed = read(compress(ROWS.encode()))
        assert (packed.X != plain.X).nnz == 0
        assert np.array_equal(packed.labels, plain.labels)

    def test_truncated_and_damaged_files_are_refused(self, read, compress):
        whole = compress(ROWS.encode())
        for kept in (10, len(whole) // 2, len(whole) - 1):
            with pytest.raises(DataError, match="is a truncated file; fetch it again"):
                read(whole[:kept])
        with pytest.raises(DataError, match=r"is (damaged|a truncated file)"):
            read(whole[:200] + bytes(byte ^ 255 for byte in whole[200:260]) + whole[260:])

    def test_one_that_expands_too_far_is_refused_early(self, read, compress, monkeypatch):
        monkeypatch.setattr(text_files, "ALWAYS_ALLOWED_BYTES", 1 << 16)
        bomb = compress(b"1 1:1\n" * (1 << 19))
        with pytest.raises(DataError, match="expands to more than"):
            read(bomb)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@IN_TMP
@given(
    X=st.lists(st.lists(st.one_of(st.just(0.0), FINITE), min_size=4, max_size=4), min_size=1, max_size=5),
    names=st.booleans(),
    dense=st.booleans(),
)
def test_what_is_written_is_read_back_bit_for_bit(tmp_path, X, names, dense):
    matrix = np.array(X)
    labels = np.array([f"class{i % 3}" for i in range(len(X))]) if names else np.arange(len(X)) - 1.5
    path = tmp_path / "data"
    svmlight_files.write(path, matrix if dense else csr_array(matrix), labels)
    table = svmlight.read(path)
    assert np.array_equal(
        table.X.toarray(), matrix[:, : table.features] + 0.0
    )  # the sign of a zero is not written
    assert not matrix[:, table.features :].any()
    assert np.array_equal(table.labels, labels)
    assert table.notices == ()
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("label", ["a b", "a:b", "1,2", "#", "", "a\nb"])
def test_a_label_that_could_not_be_read_back_is_refused(tmp_path, label):
    with pytest.raises(DataError, match="cannot be written"):
        svmlight_files.write(tmp_path / "data", np.ones((1, 1)), np.array([label]))
    assert not list(tmp_path.iterdir())


MIRROR = os.environ.get("FWSVM_MIRROR", "")
OTHER_FORMATS = re.compile(r".*\.(csv|data|txt|zip)|zip\..*|kddcup.*|corrected.*")


@pytest.mark.mirror
@pytest.mark.skipif(not Path(MIRROR).is_dir() or not MIRROR, reason="needs data files in FWSVM_MIRROR")
def test_real_files_agree_with_scikit_learn():
    """Every LIBSVM file, bit for bit; those above 2.5 MB only with FWSVM_TEST_ALL_FILES set."""
    load = pytest.importorskip("sklearn.datasets").load_svmlight_file
    most = math.inf if os.environ.get("FWSVM_TEST_ALL_FILES") else 2_500_000
    paths = [p for p in sorted(Path(MIRROR).iterdir()) if not OTHER_FORMATS.fullmatch(p.name)]
    chosen = [p for p in paths if p.is_file() and p.stat().st_size * (6 if p.suffix == ".bz2" else 1) <= most]
    assert chosen
    for path in chosen:
        table = svmlight.read(path)
        X, y = load(str(path))
        assert table.X.shape == X.shape, path
        assert np.array_equal(table.X.indptr, X.indptr), path
        assert np.array_equal(table.X.indices, X.indices), path
        assert table.X.data.tobytes() == X.data.tobytes(), path
        assert table.labels.tobytes() == y.tobytes(), path


@pytest.mark.parametrize("text", ["1 1:2\n-1 0:3 1:4\n", "# Column indices are zero-based\n1 1:2\n-1 1:4\n"])
def test_a_file_that_counts_from_0_is_read_so(tmp_path, text):
    path = tmp_path / "rows"
    path.write_text(text)
    found = data.load(path)
    assert found.train.zero_based
    assert found.train.X.toarray()[:, 1].tolist() == [2, 4]
    assert any("counts its features from 0" in notice for notice in found.notices)
    assert found.fingerprint == data.load(path, zero_based=True).fingerprint
    path.write_text("1 0:2\n-1 0:3 1:4\n")
    with pytest.raises(DataError, match="index of '0:2' is not a whole number from 1"):
        svmlight.read(path, zero_based=False)


WHOLE_TIMES_POWER = st.builds("{}e{}".format, st.integers(0, 2**70), st.integers(-345, 280))
LONG = st.from_regex(r"[0-9]{1,30}\.[0-9]{1,30}", fullmatch=True)


@IN_TMP
@given(
    st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), WHOLE_TIMES_POWER, LONG))
)
@example(
    [
        "9007199254740993",
        "9007199254740993e-23",
        "3e23",
        "1e64",
        "9999999999999999999e289",
        "5e-324",
        "2.2250738585072014e-308",
    ]
)
@example([f"{(2**53 + 2 * k + 1) * 2**60}" for k in range(20)])  # halfway between two doubles
@example([f"{k * 2**64}{more}" for k in (1, 3, 2**60) for more in ("", ".5", "e-10")])  # 0 in 64 bits
@example([f"{np.finfo(np.float32).max:f}", "000000000000000000000000000007", "0.00000000000000000000000007"])
@example(
    ["1234567890123.1234567890123", "0000000000000.1234567890123456"]
)  # digits before and after the point
def test_numbers_are_those_of_float(tmp_path, words):
    path = tmp_path / "data"
    path.write_text("1 1:1\n" + "".join(f"1 1:{word}\n" for word in words))
    found = svmlight.read(path).X.data[1:]
    assert found.tobytes() == np.array([float(word) for word in words]).tobytes()


def random_file(rng):
    """Return the text of a file in the part of the format that scikit-learn reads."""
    lines = []
    for _ in range(rng.integers(1, 8)):
        indices = np.sort(rng.choice(30, rng.integers(0, 8), replace=False)) + 1
        form = rng.choice(["{:.3g}", "{!r}", "{:.17g}", "{:.0f}", "{:.6e}"])
        entries = [f"{i}:{form.format(float(rng.normal() * 10.0 ** rng.integers(-9, 9)))}" for i in indices]
        gap = rng.choice([" ", "  ", "\t"])
        lines.append(
            gap.join([rng.choice(["1", "-1", "+1", "2.5"]), *entries]) + rng.choice(["", " ", " # said"])
        )
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


@pytest.mark.parametrize("files", [10, pytest.param(5000, marks=pytest.mark.slow)])
def test_generated_files_are_read_as_scikit_learn_reads_them(tmp_path, files):
    datasets = pytest.importorskip("sklearn.datasets")
    rng, path = np.random.default_rng(files), tmp_path / "data"
    for _ in range(files):
        path.write_bytes(random_file(rng).encode())
        X, y = datasets.load_svmlight_file(path, zero_based=False)
        table = svmlight.read(path)
        assert np.array_equal(table.labels, y)
        assert np.array_equal(table.X.toarray(), X.toarray()[:, : table.features])
        assert table.features == int(X.indices.max(initial=-1)) + 1
