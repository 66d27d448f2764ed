"""``fwsvm scale`` by the long names of its options, and by short ones: svm-scale's formula, one number at a time."""

from pathlib import Path

import pytest

from tests.cli.running import done

LABELS, VALUES = [3.0, 1.0, 2.0], [[2.0, 5.0], [4.0, 6.0], [10.0, 9.0]]
TEST = [[3.0, 7.5], [12.0, 5.0]]


def rows(values: list[list[float]], labels: list[float]) -> str:
    pairs = zip(labels, values, strict=True)
    return "".join(f"{label:g} 1:{one!r} 2:{two!r}\n" for label, (one, two) in pairs)


def mapped(value: float, known: list[float], lower: float, upper: float) -> float:
    """Map the range of known values to an interval."""
    low, high = min(known), max(known)
    return lower + (upper - lower) * (value - low) / (high - low)


def scaled(values: list[list[float]], lower: float, upper: float) -> list[list[float]]:
    columns = list(map(list, zip(*VALUES, strict=True)))
    return [
        [mapped(value, known, lower, upper) for value, known in zip(row, columns, strict=True)]
        for row in values
    ]


def numbers(text: str) -> list[list[float]]:
    """Return label and values of each line; zeros are left out of it."""
    read = []
    for line in text.splitlines():
        label, *entries = line.split()
        found = {int(place): float(value) for place, _, value in (entry.partition(":") for entry in entries)}
        read.append([float(label), found.get(1, 0.0), found.get(2, 0.0)])
    return read


def expected(labels: list[float], values: list[list[float]]) -> list[list[float]]:
    return [pytest.approx([label, *row], abs=1e-14) for label, row in zip(labels, values, strict=True)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a file to take ranges from, and one of two more rows."""
    (tmp_path / "train").write_text(rows(VALUES, LABELS))
    (tmp_path / "test").write_text(rows(TEST, [2.0, 5.0]))
    return tmp_path / "train", tmp_path / "test"


def made(*words: object) -> str:
    return done("scale", "--digits", 17, *words).stdout


@pytest.mark.parametrize(
    ("words", "lower", "upper"),
    [
        ("--lower 0", 0, 1),
        ("--upper 3", -1, 3),
        ("--lower 2 --upper 5", 2, 5),
        ("-l 2 --upper 5", 2, 5),
        ("", -1, 1),
    ],
)
def test_the_ends_are_those_that_are_given(
    files: tuple[Path, Path], words: str, lower: float, upper: float
) -> None:
    found = numbers(made(*words.split(), files[0]))
    assert found == expected(LABELS, scaled(VALUES, lower, upper))


@pytest.mark.parametrize(
    ("save", "restore", "output"), [("--save", "--restore", "--output"), ("-s", "-r", "-o")]
)
def test_saved_ranges_are_restored_for_other_rows(
    files: tuple[Path, Path], tmp_path: Path, save: str, restore: str, output: str
) -> None:
    ranges, out = tmp_path / "ranges", tmp_path / "out"
    made("--lower", 0, "--upper", 4, save, ranges, files[0])
    assert ranges.read_text().split() == ["x", "0", "4", "1", "2", "10", "2", "5", "9"]
    assert numbers(made(restore, ranges, files[1])) == expected([2.0, 5.0], scaled(TEST, 0, 4))
    assert made(restore, ranges, output, out, files[1]) == ""
    assert numbers(out.read_text()) == expected([2.0, 5.0], scaled(TEST, 0, 4))


@pytest.mark.parametrize("target", ["--target", "-y"])
def test_labels_are_mapped_to_the_target(files: tuple[Path, Path], tmp_path: Path, target: str) -> None:
    ranges = tmp_path / "ranges"
    found = numbers(made(target, -2, 6, "--save", ranges, files[0]))
    assert found == expected([mapped(label, LABELS, -2, 6) for label in LABELS], scaled(VALUES, -1, 1))
    assert ranges.read_text().split()[:5] == ["y", "-2", "6", "1", "3"]
    more = numbers(made("--restore", ranges, files[1]))
    assert more == expected([mapped(label, LABELS, -2, 6) for label in (2.0, 5.0)], scaled(TEST, -1, 1))


@pytest.mark.parametrize(
    "words",
    ["--save a --restore b", "--lower -1 --restore b", "--upper 2 --restore b", "--target 0 9 --restore b"],
)
def test_long_names_that_contradict_each_other_are_refused(files: tuple[Path, Path], words: str) -> None:
    assert "cannot be used together" in done("scale", *words.split(), files[0], code=2).stderr
