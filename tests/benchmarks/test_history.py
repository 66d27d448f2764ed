"""The history of ratios over commits: what is appended, what is left out, and the picture."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fwsvm.analysis.figures import style

ROOT = Path(__file__).parents[2]
HISTORY = ROOT / "results" / "reference" / "bench" / "history.csv"
MACHINE = {"cores": "2", "cpu": "A CPU"}

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def history(monkeypatch):
    """Return benchmarks/history.py, imported as its neighbours import each other."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import history

    yield history
    sys.modules.pop("history")


@pytest.fixture
def repository(tmp_path):
    """Return a repository with one commit, made at 2026-01-02 03:04:05 UTC, and the commit's name."""
    folder = tmp_path / "repository"
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    at = {f"GIT_{who}_DATE": "2026-01-02T04:04:05+0100" for who in ("AUTHOR", "COMMITTER")}
    for words in (
        ["init", "-q", str(folder)],
        ["-C", str(folder), "commit", "-q", "--allow-empty", "-m", "One"],
    ):
        subprocess.run(["git", *words], check=True, env={**os.environ, **names, **at})
    told = ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"]
    return folder, subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip()


def write(file, rows):
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def read(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def training(commit, **other):
    """Return a row as benchmarks/training.py writes it, of three runs each."""
    return {"set": "a5a", "C": "1", "threads": "2", "fwsvm": "newton", "fwsvm_seconds": "2", "svc_seconds": "9",
            "svc_ratio": "4.5", "svc_all": "8 9 10", "fwsvm_all": "1.6 2 2.5", "swap-2o_all": "7 7 7",
            **MACHINE, "commit": commit, **other}  # fmt: skip


def test_a_ratio_is_appended_with_commit_date_machine_and_spread(tmp_path, history, repository):
    folder, commit = repository
    write(tmp_path / "training.csv", [training(commit)])
    assert history.append(tmp_path / "new" / "history.csv", history.measured(tmp_path), folder) == (1, 0)
    assert read(tmp_path / "new" / "history.csv") == [
        {"commit": commit, "date": "2026-01-02T03:04:05Z", "cpu": "A CPU", "cores": "2", "benchmark": "training",
         "set": "a5a, C=1, threads=2", "peer": "scikit-learn SVC", "ratio": "4.5", "least": "3.2", "most": "6.25"}
    ]  # fmt: skip


def test_the_same_figures_are_appended_once_and_others_of_the_same_commit_too(tmp_path, history, repository):
    folder, commit = repository
    kept = tmp_path / "new" / "history.csv"
    write(tmp_path / "training.csv", [training(commit)])
    history.append(kept, history.measured(tmp_path), folder)
    before = kept.read_bytes()
    assert history.append(kept, history.measured(tmp_path), folder) == (0, 0)
    assert kept.read_bytes() == before
    write(tmp_path / "training.csv", [training(commit, svc_ratio="4.75")])
    assert history.append(kept, history.measured(tmp_path), folder) == (1, 0)
    assert kept.read_bytes().startswith(before)
    assert [line["ratio"] for line in read(kept)] == ["4.5", "4.75"]


def test_a_ratio_rounded_apart_from_its_seconds_lies_within_its_spread(tmp_path, history):
    write(tmp_path / "training.csv", [training("", svc_ratio="4.628", svc_all="46.27", fwsvm_all="10")])
    (line,) = history.measured(tmp_path)
    assert (line["least"], line["ratio"], line["most"]) == ("4.627", "4.628", "4.628")


@pytest.mark.parametrize("said", ["", "0123456789ab", "{commit}+"])
def test_what_names_no_commit_as_it_was_committed_is_left_out(tmp_path, history, repository, said):
    folder, commit = repository
    write(tmp_path / "training.csv", [training(said.format(commit=commit)), training(commit)])
    assert history.append(tmp_path / "new" / "history.csv", history.measured(tmp_path), folder) == (1, 1)


def test_of_linear_methods_the_sums_over_penalties_count(tmp_path, history):
    rows = [
        {"set": "sector", "C": C, "ratio": ratio}
        for C, ratio in (("1", "1.2"), ("10", "2.4"), ("sum", "1.85"))
    ]
    write(tmp_path / "linear-gap-text.csv", [*rows, {"set": "geometric mean, text", "C": "", "ratio": "1.9"}])
    (line,) = history.measured(tmp_path)
    assert (line["set"], line["peer"], line["ratio"], line["least"]) == ("sector", "LinearSVC", "1.85", "")


def test_the_history_names_commits_machines_and_peers_and_no_seconds(history):
    lines = read(HISTORY)
    assert list(lines[0]) == list(history.COLUMNS)
    assert not any("seconds" in column for column in lines[0])
    assert {measure.benchmark for measure in history.MEASURES} >= {line["benchmark"] for line in lines}
    for line in lines:
        assert all(line[name] for name in ("commit", "date", "cpu", "cores", "set", "peer"))
        least, ratio, most = (float(line[name] or line["ratio"]) for name in ("least", "ratio", "most"))
        assert least <= ratio <= most


def test_the_script_draws_what_stands_in_the_file(tmp_path):
    pytest.importorskip("matplotlib")
    lines = [line for line in read(HISTORY) if line["benchmark"] == "large_c"]
    write(tmp_path / "history.csv", [*lines, *({**line, "cpu": "Another"} for line in lines)])
    command = [sys.executable, ROOT / "benchmarks" / "history.py", "--history", tmp_path / "history.csv"]
    subprocess.run([*command, "--figure", tmp_path / "all.svg"], check=True)
    picture = (tmp_path / "all.svg").read_text("utf-8")
    assert picture.count(">2ddbe6a<") == 1
    for words in ("large_c: fwsvm swap-2o / fwsvm", "(Another, 2 cores)", "(AMD EPYC, 2 cores)"):
        assert words in picture
    assert "above 1 fwsvm is faster" in picture


def test_the_picture_has_the_style_of_the_others_and_its_mean_is_black_and_thick(tmp_path, history):
    pytest.importorskip("matplotlib")
    names = ["a5a", "a7a", "w7a", "usps", "letter", "geometric mean"]
    cell = {
        "date": "2026-01-02",
        "cpu": "A CPU",
        "cores": "2",
        "benchmark": "training",
        "peer": "SVC",
        "least": "",
        "most": "",
    }
    lines = [
        {**cell, "commit": c, "set": n, "ratio": f"{k}"} for k, n in enumerate(names, 2) for c in ("aa", "bb")
    ]
    write(tmp_path / "history.csv", lines)
    history.draw(tmp_path / "history.csv", tmp_path / "drawn.svg")
    strokes = re.findall(
        r"stroke: (#\w{6}); stroke-width: ([\d.]+)", (tmp_path / "drawn.svg").read_text("utf-8")
    )
    thick = {colour for colour, width in strokes if width == "2.4"}
    assert thick == {"#000000"}
    used = {colour for colour, _ in strokes}
    ours = {colour.lower() for colour, *_ in (*style.STYLES.values(), *style.SPARE)}
    assert len(used & (ours - {"#000000"})) >= len(names) - 1
    assert not used & {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"}, "colours of matplotlib's own style"


def test_a_folder_that_is_none_is_named(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "history.py", tmp_path / "none"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"{tmp_path / 'none'} is no folder" in done.stderr
