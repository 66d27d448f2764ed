"""``--alpha`` of ``stats`` and ``plot``: the critical difference by printed quantiles, and who is told apart by it."""

import csv
import io
import re
from pathlib import Path

import pytest

from tests.analysis.folders import like_paper, row, write
from tests.cli.running import done

#: Quantiles of the studentized range over sqrt(2), as Demsar (2006, Table 5) prints them, by level and methods.
PRINTED = {(0.05, 3): 2.343, (0.1, 3): 2.052, (0.05, 5): 2.728, (0.1, 5): 2.459}
each_level = pytest.mark.parametrize("level", [0.05, 0.1])
each_number = pytest.mark.parametrize("extra", [{}, {"swap": 0.3, "swap-2o": 0.5}], ids=["three", "five"])


def difference(level: float, k: int, n: int) -> float:
    """Return the critical difference of mean ranks of k methods on n data sets."""
    return PRINTED[level, k] * (k * (k + 1) / (6 * n)) ** 0.5


@each_level
@each_number
def test_the_critical_difference_of_stats_is_that_of_the_level(
    tmp_path: Path, level: float, extra: dict[str, float]
) -> None:
    folder = write(tmp_path, like_paper("003", repetitions=1, extra=extra))
    given = ("--alpha", level) * (level != 0.05)
    made = done("stats", folder, "--design", "pairs", *given, "--format", "csv")
    lines = [line for line in csv.DictReader(io.StringIO(made.stdout)) if line["test"] == "friedman"]
    assert [line["measure"] for line in lines] == ["time", "accuracy"]
    for line in lines:
        assert float(line["alpha"]) == level
        assert float(line["critical_difference"]) == pytest.approx(
            difference(level, 3 + len(extra), 26), abs=1e-3
        )


@each_level
@each_number
def test_the_bar_of_the_picture_of_ranks_is_that_of_the_level(
    tmp_path: Path, level: float, extra: dict[str, float]
) -> None:
    pytest.importorskip("matplotlib")
    folder = write(tmp_path / "results", like_paper("003", repetitions=1, extra=extra))
    given = ("--alpha", level) * (level != 0.05)
    made = done("plot", folder, "--figure", "ranks", "--measure", "time", *given, "-f", "svg", "-o", tmp_path)
    said = re.search(r"the critical difference ([0-9.]+) \(Nemenyi, alpha ([0-9.]+)\)", made.output)
    assert said is not None
    expected = difference(level, 3 + len(extra), 26)
    assert (float(said[1]), float(said[2])) == (pytest.approx(expected, abs=1e-3), level)
    assert f"CD = {expected:.2f}" in (tmp_path / "ranks-time.svg").read_text("utf-8")


def test_a_looser_level_tells_methods_apart_that_a_stricter_one_does_not(tmp_path: Path) -> None:
    """On six data sets FW is first four times and MFW twice: ranks 4/3, 5/3 and 3; critical are 1.353 and 1.185."""
    first = {"fw": (1, 1, 1, 1, 2, 2), "mfw": (2, 2, 2, 2, 1, 1), "cvm": (3,) * 6}
    names = ("a1a", "a2a", "a3a", "w1a", "w2a", "usps")
    folder = write(tmp_path, [row(dataset=name, method=method, train_seconds=seconds)
                              for method, times in first.items()
                              for name, seconds in zip(names, times, strict=True)])  # fmt: skip
    words = ("stats", folder, "--design", "pairs", "--measure", "time")
    groups = []
    for level in (0.05, 0.1):
        said = " ".join(done(*words, "--alpha", level).stdout.split())
        found = re.search(rf"alpha {level}\): ([0-9.]+); not told apart: (.*?) Friedman:", said)
        assert found is not None
        assert float(found[1]) == pytest.approx(difference(level, 3, 6), abs=1e-3)
        groups.append(found[2])
    assert groups == ["{FW, MFW}, {MFW, CVM}", "{FW, MFW}"]
