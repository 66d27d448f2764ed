"""``fwsvm grid`` through the real command line, on shipped data: what is done, what is kept, what is said."""

import contextlib
import csv
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from fwsvm.analysis import results
from fwsvm.experiments.store import open_results
from tests.cli.running import run
from tests.clusters import wait_until

QUICK = """\
name: quick
datasets: [wdbc]
test_fraction: 0.25
methods: [mfw, swap]
tolerance: 1e-2
select: {holdout: 0.3, method: swap, C: [1, 4, 16]}
"""
#: The second run takes far longer than any test waits; what it needs is compiled in the first.
LONG = """\
name: long
datasets: [wdbc]
methods: [{name: fw, tolerance: 0.1}, {name: fw, tolerance: 1e-12}]
"""
#: Runs ``fwsvm``, and makes a file once the second run tells how far it is. A worker has long to answer an interrupt,
#: for the machine may be busy.
TELLING = """
import pathlib, runpy
from fwsvm.cli import _progress
from fwsvm.experiments import executors
from fwsvm.solvers.loop import Progress

watch = _progress.RunsDisplay.watch

def telling(display, cell, inside):
    if display.done == 1 and isinstance(inside, Progress):
        pathlib.Path("at-work").touch()
    watch(display, cell, inside)

_progress.RunsDisplay.watch = telling
executors.GRACE_SECONDS = 100.0
runpy.run_module("fwsvm", run_name="__main__")
"""
VOLATILE = {
    "load_seconds", "compile_seconds", "train_seconds", "predict_seconds", "peak_memory_mib", "started_utc",
    "commit",
}  # fmt: skip


def start(folder: Path, text: str, *options: str, program: str | None = None) -> subprocess.Popen[str]:
    """Start ``fwsvm grid``, by a Python program that runs ``fwsvm`` if one is given."""
    (folder / "trial.yaml").write_text(text)
    run = ["-m", "fwsvm"] if program is None else ["-c", program]
    command = [sys.executable, *run, "grid", "trial.yaml", "--out", "out", "--offline", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def grid(folder: Path, text: str, *options: str, program: str | None = None) -> tuple[int, str, str]:
    """Run ``fwsvm grid`` in a process of its own and return exit code, stdout and stderr."""
    process = start(folder, text, *options, program=program)
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in err
    return process.returncode, out, err


def here(folder: Path, text: str, *options: str) -> tuple[int, str, str]:
    """Run ``fwsvm grid`` in this process, which is quicker, and return exit code, stdout and stderr."""
    (folder / "trial.yaml").write_text(text)
    with contextlib.chdir(folder):
        found = run("grid", "trial.yaml", "--out", "out", "--offline", *options)
    return found.exit_code, found.stdout, found.stderr


def rows(folder: Path) -> list[dict[str, str]]:
    path = folder / "out" / "runs.csv"
    return list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []


def in_the_second_run(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Return a process that makes the runs of `LONG`: the first has its row, and the second is at work."""
    process = start(folder, LONG, *options, program=TELLING)
    wait_until(lambda: (folder / "at-work").exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    assert len(rows(folder)) == 1
    return process


class Ended(NamedTuple):
    """A folder where an experiment was run, and the exit code, stdout and stderr of that."""

    folder: Path
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Run `QUICK` once, for all tests that begin with its results."""
    folder = tmp_path_factory.mktemp("quick")
    return Ended(folder, *here(folder, QUICK, "--threads", "1"))


def test_an_experiment_ends_with_its_table_and_its_files(quick):
    folder, code, out, err = quick
    assert code == 0, err
    lines = out.splitlines()
    assert [line.split()[-1] for line in lines] == [
        "status",
        "\u2500" * len(lines[1]),
        "converged",
        "converged",
    ]
    assert max(map(len, lines)) <= 80
    found = rows(folder)
    assert [(row["role"], row["method"]) for row in found] == [("select", "swap")] * 3 + [
        ("final", "mfw"),
        ("final", "swap"),
    ]
    assert {row["certified"] for row in found} == {"true"}
    assert all(float(row["test_accuracy"]) > 0.9 for row in found)
    finals = found[3:]
    assert len({row["C"] for row in finals}) == 1
    assert {row["shared"] for row in finals} == {"false"}
    assert [(folder / "out" / "traces" / f"{row['run_id']}.csv").exists() for row in finals] == [True, True]
    kept = (folder / "out" / "experiment.yaml").read_text()
    assert kept.startswith("# trial.yaml, by fwsvm ")
    assert "name: quick" in kept
    events = [json.loads(line)["event"] for line in (folder / "out" / "log.jsonl").read_text().splitlines()]
    assert events[0] == "start"
    assert events[-1] == "end"
    assert events.count("run") == 5
    assert "5 runs: 3 to choose parameters, 2 to report; 0 done" in err
    assert err.splitlines()[-1] == "next: fwsvm report out makes one page of all results"


def test_what_is_done_is_not_repeated_unless_forced(quick, tmp_path):
    shutil.copytree(quick.folder / "out", tmp_path / "out")
    before = (tmp_path / "out" / "runs.csv").read_bytes()
    code, out, err = here(tmp_path, QUICK)
    assert (code, (tmp_path / "out" / "runs.csv").read_bytes()) == (0, before)
    assert "5 done" in err
    assert out.count("converged") == 2
    _, out, _ = here(tmp_path, QUICK, "--dry-run")
    assert out.count("converged") == 5
    code, _, _ = here(tmp_path, QUICK, "--force", "--threads", "1")
    again = rows(tmp_path)
    assert (code, len(again)) == (0, 10)
    for first, second in zip(again[:5], again[5:], strict=True):
        assert {k: v for k, v in first.items() if k not in VOLATILE} == {
            k: v for k, v in second.items() if k not in VOLATILE
        }


def test_runs_of_another_folder_are_taken_over_not_made_again(quick, tmp_path):
    shutil.copytree(quick.folder / "out", tmp_path / "lender")
    lent = list(csv.DictReader((tmp_path / "lender" / "runs.csv").read_text().splitlines()))
    wider = QUICK.replace("quick", "wider").replace("swap]", "swap, fw]")
    _, out, err = here(tmp_path, wider, "--reuse", "lender", "--dry-run")
    assert (out.count("converged"), out.count("to do")) == (5, 1)
    code, _, err = here(tmp_path, wider, "--reuse", "lender", "--reuse", "not-there-yet")
    assert (code, "5 done" in err) == (0, True)
    assert "nothing to reuse: not-there-yet: no such folder; give the folder that fwsvm grid wrote" in err
    found = rows(tmp_path)
    assert [{**row, "experiment": "quick"} for row in found[:5]] == lent
    assert [row["experiment"] for row in found] == ["wider"] * 6
    assert (found[5]["method"], found[5]["C"]) == ("fw", lent[4]["C"])
    trace = f"traces/{lent[4]['run_id']}.csv"
    assert (tmp_path / "out" / trace).read_bytes() == (tmp_path / "lender" / trace).read_bytes()
    code, _, err = here(tmp_path, wider, "--reuse", "lender", "--force")
    assert (code, "give --reuse or --force, not both" in err) == (2, True)


def test_a_dry_run_lists_everything_and_writes_nothing(tmp_path):
    code, out, err = here(tmp_path, QUICK, "--dry-run")
    assert code == 0
    assert len(out.splitlines()) == 5
    assert out.count("to do") == 3
    assert out.count("open: parameters to be chosen") == 2
    assert "0 done" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize(
    ("options", "sent"),
    [
        pytest.param((), signal.SIGINT, id="inline"),
        # slow: tests of the executors interrupt workers, too
        pytest.param(("--workers", "2"), signal.SIGINT, id="workers", marks=pytest.mark.slow),
        pytest.param((), signal.SIGTERM, id="terminated", marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_keeps_the_partial_run_and_is_resumed(tmp_path, options, sent):
    process = in_the_second_run(tmp_path, *options)
    process.send_signal(sent)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "the same command again goes on from here" in err.splitlines()[-1]
    assert "interrupted" in out
    first, second = rows(tmp_path)
    assert (first["status"], second["status"]) == ("converged", "interrupted")
    assert int(second["iterations"]) > 0
    assert float(second["gap"]) > 0
    _, out, _ = here(tmp_path, LONG, "--dry-run")
    assert [line.rsplit("  ", 1)[1] for line in out.splitlines()] == ["converged", "to do"]


FAILING = "name: trial\ndatasets: [wdbc]\nmethods: [{name: mfw, class_weight: {x: 2}}, swap]\n"


def test_a_failing_run_is_a_row_and_the_others_go_on(tmp_path):
    code, out, err = here(tmp_path, FAILING)
    assert code == 4
    found = {row["method"]: row for row in rows(tmp_path)}
    assert (found["mfw"]["status"], found["swap"]["status"]) == ("error", "converged")
    assert "class_weight names 'x', which is no class" in found["mfw"]["message"]
    assert "which is no class" in err
    assert "error" in out
    here(tmp_path, FAILING)
    assert [row["method"] for row in rows(tmp_path)].count("swap") == 1


def test_missing_data_leaves_missing_rows_and_is_no_work(tmp_path):
    text = QUICK.replace("[wdbc]", "[usps-ext, w2a, wdbc]")  # the first was on its authors' page only
    for made in (["[1/5]", "[5/5]"], []):  # once rows say what is missing, there are no more of them
        code, out, err = here(tmp_path, text)
        assert (code, out.count("missing")) == (3, 4)
        assert "usps-ext is not available (offline)" in err
        counted = [line.split()[0] for line in err.splitlines() if line.startswith("[")]
        assert counted[:1] + counted[-1:] == made
        found = rows(tmp_path)
        missing = [(row["dataset"], row["method"]) for row in found if row["status"] == "missing"]
        assert missing == [(name, method) for name in ("usps-ext", "w2a") for method in ("mfw", "swap")]
        assert [row["status"] for row in found].count("converged") == len(found) - 4 == 5


def test_an_entry_may_have_a_test_file_and_a_label_column(tmp_path):
    for name, rows_of in (("a", range(20)), ("b", range(20, 30))):
        lines = "".join(f"{i},{'yes' if i % 3 else 'no'}\n" for i in rows_of)
        (tmp_path / f"{name}.csv").write_text("width,kind\n" + lines)
    text = "name: t\ndatasets: [{train: a.csv, test: b.csv, label: kind}]\nmethods: [swap]\n"
    code, _, err = here(tmp_path, text)
    assert code == 0, err
    assert "a.csv: 20 rows + 10 to test, 1 feature, 2 classes" in err
    assert rows(tmp_path)[0]["test_accuracy"] != ""


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        (
            QUICK + "tolerence: 1\n",
            (),
            2,
            "trial.yaml:7: unknown key 'tolerence'; did you mean 'tolerance'?",
        ),
        (
            QUICK + "lambda: 0.01\n",
            (),
            2,
            "trial.yaml:7: lambda is given here and C chosen by select; leave one of them out",
        ),
        (QUICK, ("--profile", "big"), 2, "there is no profile 'big'; it has none"),
        (QUICK, ("--workers", "2", "--scheduler", "tcp://x:1"), 2, "give --workers or --scheduler, not both"),
    ],
)
def test_mistakes_are_one_line(tmp_path, text, options, code, said):
    found, out, err = here(tmp_path, text, *options)
    assert (found, out) == (code, "")
    assert said in err.splitlines()[-1]
    assert rows(tmp_path) == []


def test_a_folder_in_use_is_refused_before_data_is_loaded(tmp_path):
    with open_results(tmp_path / "out"):
        code, _, err = here(tmp_path, QUICK)
    assert (code, "another fwsvm writes here" in err, "wdbc: " in err) == (2, True, False)


def test_a_second_experiment_in_a_folder_leaves_the_rows_of_the_first(tmp_path):
    other = "name: other\ndatasets: [wdbc]\nmethods: [{name: fw, tolerance: 0.1}]\n"
    for text in (other.replace("other", "first") + "protocol: fw-svms\n", other):
        code, _, err = here(tmp_path, text)
        assert code == 0, err
    assert "name: other" in (tmp_path / "out" / "experiment.yaml").read_text()
    frame = results.read([tmp_path / "out"]).frame
    ran = dict(zip(frame["experiment"], frame["protocol"], strict=True))
    assert ran == {"first": "fw-svms", "other": "default"}


def test_more_folds_than_rows_are_refused_before_any_run(tmp_path):
    search = "name: few\ndatasets: [{train: few.svm}]\nmethods: [swap]\nselect: {folds: 50, C: [1, 2]}\n"
    (tmp_path / "few.svm").write_text("".join(f"{i % 2} 1:{i}\n" for i in range(20)))
    code, _, err = here(tmp_path, search)
    assert code == 3
    assert "20 rows cannot make 50 folds" in err
    assert not rows(tmp_path)


def test_errors_are_told_with_quiet_too(tmp_path):
    code, _, err = here(tmp_path, QUICK + "class_weight: {9: 3}\n", "--quiet")
    assert code == 4
    assert "class_weight names '9', which is no class" in err
