"""``fwsvm scale``, ``check``, ``subset`` and ``summary`` against what LIBSVM's own tools do."""

import math
from collections import Counter

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwsvm.data import libsvm_tools
from fwsvm.data.formats import svmlight
from fwsvm.errors import DataError
from tests.cli.running import done

# every example rewrites the files of its test
IN_TMP = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])

HEART = """+1 1:0.708333 2:1 3:1 4:-0.320755 12:1 13:-1
-1 1:0.583333 2:-1 3:0.333333 4:-0.603774 13:1
+1 1:0.166667 2:1 3:-0.333333 4:-0.433962 12:-1 13:-1
-1 1:0.458333 2:1 3:1 4:-0.358491 12:-1 13:-1
-1 1:0.875 2:-1 3:-0.333333 4:-0.509434 12:-1 13:-1
"""


@pytest.fixture
def heart(tmp_path):
    """Return the path of a small file."""
    path = tmp_path / "heart"
    path.write_text(HEART)
    return path


def naive_scale(rows, lower, upper, known=None):
    """Scale {index: value} rows as svm-scale's source says, one number at a time; return rows and ranges."""
    width = max([*(j for row in rows for j in row), *(known or {}), 0])
    if known is None:
        known = {}
        for j in range(1, width + 1):
            values = [row.get(j, 0.0) for row in rows]
            if min(values) != max(values):
                known[j] = (min(values), max(values))
    scaled = []
    for row in rows:
        entries = {}
        for j in range(1, width + 1):
            if j not in known:
                continue
            low, high = known[j]
            v = row.get(j, 0.0)
            new = (
                lower
                if v == low
                else upper
                if v == high
                else lower + (upper - lower) * (v - low) / (high - low)
            )
            if new != 0:
                entries[j] = new
        scaled.append(entries)
    return scaled, known


VALUES = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e3, 1e3).map(lambda v: round(v, 9) + 0.0)
)  # no -0.0
ROWS = st.lists(st.dictionaries(st.integers(1, 6), VALUES, max_size=5), min_size=1, max_size=6)
INTERVALS = st.sampled_from([(-1.0, 1.0), (0.0, 1.0), (0.0, 3.0), (-0.1, 0.7), (2.0, 5.0)])


def as_text(rows, number=repr):
    lines = ("".join(f"{j}:{number(v)} " for j, v in sorted(row.items())) for row in rows)
    return "".join(f"{i % 2} {line}\n" for i, line in enumerate(lines))


@IN_TMP
@given(train=ROWS, test=ROWS, interval=INTERVALS)
def test_scale_does_what_svm_scale_s_source_says(tmp_path, train, test, interval):
    lower, upper = interval
    (tmp_path / "train").write_text(as_text(train))
    (tmp_path / "test").write_text(as_text(test))
    saved = tmp_path / "ranges"
    made = done("scale", "-l", lower, "-u", upper, "-s", saved, tmp_path / "train")
    scaled, known = naive_scale(train, lower, upper)
    assert made.stdout == as_text(scaled, lambda v: f"{v:.6g}")
    assert saved.read_text().split("\n") == [
        "x",
        f"{lower:.17g} {upper:.17g}",
        *(f"{j} {low:.17g} {high:.17g}" for j, (low, high) in known.items()),
        "",
    ]
    made = done("scale", "-r", saved, tmp_path / "test")
    assert made.stdout == as_text(naive_scale(test, lower, upper, known)[0], lambda v: f"{v:.6g}")


def test_scale_says_what_becomes_of_zeros_and_unknown_features(tmp_path, heart):
    many = tmp_path / "many"
    many.write_text("1 1:1 2:-1\n0 7:1 9:1\n")
    assert "use -l 0 rather than -l -1" in done("scale", many).stderr
    assert done("scale", "-l", 0, heart).stderr == ""
    saved = tmp_path / "ranges"
    done("scale", "-s", saved, heart)
    assert f"features that {saved} lacks become 0: 7, 9\n" in done("scale", "-r", saved, many).stderr


@pytest.mark.parametrize(
    ("arguments", "exits", "why"),
    [
        (["-l", "1", "-u", "1"], 2, "the lower below the upper"),
        (["-l", "nan"], 2, "must be finite numbers"),
        *((f"{words} -r b".split(), 2, "leave out -l, -u and -s") for words in ("-s a", "-l -1")),
        (["-r", "absent"], 3, "absent: no such file"),
        (["-o", "absent/scaled"], 2, "there is no folder"),
    ],
)
def test_scale_refuses(heart, arguments, exits, why):
    assert why in done("scale", *arguments, heart, code=exits).stderr


@pytest.mark.parametrize(
    "content", ["x\n-1 one\n", "x\n-1 1\n1.5 0 1\n", "y\n0 1\n", "x\n-1 1\n2 0 1\n1 0 1\n"]
)
def test_a_file_that_is_no_range_file(tmp_path, content):
    (tmp_path / "ranges").write_text(content)
    with pytest.raises(DataError, match="ranges: not a range file"):
        libsvm_tools.read_ranges(tmp_path / "ranges")


def test_check_lists_every_line_that_training_refuses(tmp_path):
    path = tmp_path / "bad"
    path.write_text("label a b\n1 3:1 2:4\nred 1:1\n\n1 1:nan\n1,2 1:1\n1 1:1 # c\n1 1:1")
    assert done("check", path, code=3).stdout.splitlines() == [
        "line 1: 'a' is not index:value; if it is a header, leave it out",
        "line 2: '2:4' comes after '3:1', but indices must increase",
        "line 5: value of '1:nan' is not a finite number",
        "line 6: '1,2' is more than one label; if the file is comma-separated, call it NAME.csv",
        "Found 4 lines with error.",
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a;b;class\n1;2;x\n3;4,5;y\n1;x\n")
    assert done("check", path, code=3).stdout.splitlines() == [
        "line 3: column 2 (b): '4,5' is not a finite number; write a point in place of the comma",
        "line 4: column 2 (b): 'x' is not a finite number; write numbers, or leave out the row or the column",
        "Found 2 lines with error.",
    ]
    path.write_text("a,b,class\n1,2,x\n3,4,x\n")
    assert done("check", path).stdout == "No error.\n"


UNSCALED = "1 1:1000 2:1 3:0.1\n-1 1:1 2:2 3:0.2\n1 1:500 2:1.5 3:0.3\n-1 1:2 2:1.1 3:0.2\n"
FAR_FROM_SCALED = "the rows are far from scaled: the widest feature spans 999, the median one 1"


@pytest.mark.parametrize(
    ("words", "so"),
    [
        (("train", "--method", "liblinear"), "training may take very many steps"),
        (("train",), "it decides the distances"),
        (("cv", "--folds", "2", "--method", "avsf"), "training may take very many steps"),
    ],
)
def test_training_says_first_that_rows_are_far_from_scaled(tmp_path, words, so):
    raw = tmp_path / "raw"
    raw.write_text(UNSCALED)
    said = done(*words, "--max-iterations", "100", raw).stderr.splitlines()[0]
    assert said == f"fwsvm: {FAR_FROM_SCALED}, so {so}; --scale '[0,1]' brings all to one range"
    assert "far from scaled" not in done(*words, "--scale", "[0,1]", raw).stderr


@IN_TMP
@given(text=st.from_regex(r"([-+0-9:. e#,a\n]|1 1:2 2:3\n){0,40}", fullmatch=True))
def test_check_and_reader_agree(tmp_path, text):
    path = tmp_path / "data"
    path.write_text(text)
    try:
        svmlight.read(path)
    except DataError:
        done("check", path, code=3)
    else:
        done("check", path)


def labelled(counts):
    """Return a file with that many rows of each label, mixed."""
    labels = [label for label, count in counts.items() for _ in range(count)]
    order = np.random.default_rng(5).permutation(len(labels))
    return "".join(f"{labels[i]} 1:{i}\n" for i in order)


@IN_TMP
@given(
    counts=st.dictionaries(st.sampled_from(["+1", "-1", "red", "2"]), st.integers(1, 40), min_size=1),
    part=st.floats(0.01, 1),
    seed=st.integers(0, 5),
    method=st.sampled_from(["0", "1"]),
)
def test_subset_and_rest_are_the_file(tmp_path, counts, part, seed, method):
    path, output, rest = (tmp_path / name for name in ("data", "output", "rest"))
    path.write_text(labelled(counts))
    rows = path.read_text().splitlines()
    size = max(math.ceil(part * len(rows)), len(counts))
    arguments = ["subset", "-s", method, "--seed", seed, path, size, output, rest]
    done(*arguments)
    chosen, left = output.read_text().splitlines(), rest.read_text().splitlines()
    assert len(chosen) == size
    assert [row for row in rows if row in set(chosen)] == chosen
    assert [row for row in rows if row not in set(chosen)] == left
    done(*arguments)
    assert output.read_text().splitlines() == chosen
    if method == "0":
        # LIBSVM's tools/subset.py: small classes first, shares rounded up while rows remain
        remaining, expected = size, {}
        for label, count in sorted(counts.items(), key=lambda item: item[1]):
            expected[label] = min(remaining, max(1, math.ceil(count * size / len(rows))))
            remaining -= expected[label]
        drawn = Counter(row.split()[0] for row in chosen)
        assert set(drawn) == set(counts)
        if all(expected.values()) and len(set(counts.values())) == len(counts):
            assert drawn == expected


@pytest.mark.parametrize(
    ("size", "why"),
    [(0, "0 rows cannot be drawn from the 5"), (6, "6 rows cannot"), (1, "too few to have one of each")],
)
def test_subset_refuses(heart, size, why):
    assert why in done("subset", heart, size, code=2).stderr


def test_subset_writes_no_libsvm_rows_to_a_table(heart, tmp_path):
    assert "name a file without .csv" in done("subset", heart, 3, tmp_path / "few.csv", code=2).stderr


def test_summary(tmp_path):
    path = tmp_path / "data"
    path.write_text("1 1:3 2:4\n-1 4:-2\n-1\n1 1:3 2:0\n")
    printed = done("summary", path).stdout
    found = yaml.safe_load(printed)
    X = np.array([[3, 4, 0, 0], [0, 0, 0, -2], [0, 0, 0, 0], [3, 0, 0, 0]])
    distances = [np.sum((X[i] - X[j]) ** 2) for i in range(4) for j in range(4) if i != j]
    D = float(np.mean(distances))
    counts = ("rows", "features", "features_in_use", "nonzeros", "density", "rows_without_nonzeros")
    assert [found[name] for name in counts] == [4, 4, 3, 4, 0.25, 1]
    assert (found["minimum"], found["maximum"], found["classes"]) == (-2.0, 4.0, {"1": 2, "-1": 2})
    assert found["mean_squared_distance"] == pytest.approx(D)
    assert [
        found["widths"][rule]["gamma"] * D for rule in ("paper", "inverse-distance", "libcvm")
    ] == pytest.approx([0.5, 1, 2])
    assert max(map(len, printed.replace(str(path), "").split("\n"))) <= 80


@pytest.mark.parametrize("command", ["summary", "scale", "subset"])
def test_what_is_neither_file_nor_name_is_said(command):
    size = [5] if command == "subset" else []
    assert "did you mean 'pendigits'" in done(command, "pendigts", *size, code=3).stderr
    assert done(command, "no/where", *size, code=3).stderr.count("\n") == 1
