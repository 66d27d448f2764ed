"""Two versions of fwsvm, the same command lines by turns: what a commit costs or gains.

    python benchmarks/versions.py OLD [--mirror FOLDER] [--repeat 3] [--csv FILE] [GROUP ...]

OLD is a commit; its files are written to a folder of their own, and so are those of this checkout's HEAD. Three sides
take turns: new, old, and old again, which shows what the old version varies against itself. Only what both command
lines understand is compared: names, options, and the columns of the row.

sets       `fwsvm train --json` on the ten sets of `training.py`, by swap-2o, newton and chunking, two threads.
linear     the same by avsf on text, one thread.
scs        the same by scs and pegasos on 20,000 generated rows, one thread.
grids      `fwsvm grid --workers 2` on the searches of `grids.py`.
predicting `fwsvm predict` of the training rows of a9a by a machine of a7a's.
starting   `fwsvm --help`, and `fwsvm train` on 300 rows.

The first three are the row's train_seconds, the least of three runs in a process; the others are whole commands. A
ratio is the least time of new (or of old again) over the least of old: below 1 the new version is faster.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import grids
import side_by_side as bench
import training

HERE = Path(__file__).parents[1]
SIDES = ("old", "new", "old_again")

ROW = """
import json, os, sys
os.chdir(sys.argv[1])
sys.path.insert(0, sys.argv[1])
from click.testing import CliRunner
import fwsvm
from fwsvm.cli import main
assert fwsvm.__file__.startswith(sys.argv[1])
times = []
for _ in range(3):
    done = CliRunner().invoke(main, ["train", "--json", *sys.argv[2:]])
    if done.exit_code or done.exception:
        sys.exit(done.output + repr(done.exception))
    times.append(json.loads(done.stdout)["train_seconds"])
print(json.dumps({"seconds": min(times)}))
"""

WHOLE = """
import json, os, shutil, subprocess, sys, time
os.chdir(sys.argv[1])
os.environ["PYTHONPATH"] = sys.argv[1]
if "--out" in sys.argv:
    shutil.rmtree(sys.argv[sys.argv.index("--out") + 1], ignore_errors=True)
begun = time.perf_counter()
done = subprocess.run([sys.executable, "-m", "fwsvm", *sys.argv[2:]], capture_output=True, text=True)
seconds = time.perf_counter() - begun
if done.returncode:
    sys.exit(done.stderr)
print(json.dumps({"seconds": seconds}))
"""


class Task(NamedTuple):
    """A command line of fwsvm, and the script that runs and times it."""

    group: str
    name: str
    script: str
    words: tuple[str, ...]


def tasks(scratch: Path, old: Path) -> Iterator[Task]:
    """Return all tasks; their files are written to ``scratch``, a machine by the old version."""
    for name, _, C in (each.rpartition(":") for each in training.SETS):
        for method in ("swap-2o", "newton", "chunking"):
            yield Task("sets", f"{name} {method}", ROW, ("-m", method, "-C", C, "--threads", "2", name))
    for name in ("sector", "news20"):
        for C in ("1", "10"):
            yield Task("linear", f"{name} C={C} avsf", ROW, ("-m", "avsf", "-C", C, "--threads", "1", name))
    for method in ("scs", "pegasos"):
        words = ("-m", method, "--lambda", "1e-3", "--threads", "1", "synthetic:gaussians?rows=20000")
        yield Task("scs", f"gaussians {method}", ROW, words)
    for name in grids.SETS:
        file = grids.experiment(name, "newton", 1e-3, scratch)
        yield Task("grids", name, WHOLE, ("grid", str(file), "--out", str(scratch / "out"), "--workers", "2"))
    machine = str(scratch / "a7a.model")
    trained = [sys.executable, "-m", "fwsvm", "train", "--model", machine, "a7a"]
    subprocess.run(
        trained, check=True, capture_output=True, cwd=old, env=os.environ | {"PYTHONPATH": str(old)}
    )
    yield Task("predicting", "a9a by a7a", WHOLE, ("predict", machine, "a9a", str(scratch / "labels")))
    yield Task("starting", "--help", WHOLE, ("--help",))
    yield Task("starting", "train on 300 rows", WHOLE, ("train", "synthetic:gaussians?rows=300&test=0"))


def checkout(commit: str, folder: Path) -> Path:
    """Write the files of a commit to a folder."""
    packed = subprocess.run(
        ["git", "-C", str(HERE), "archive", commit], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def compare(task: Task, places: dict[str, Path], repeat: int) -> dict[str, Any]:
    """Return the row of a task."""
    commands = {side: bench.python(task.script, places[side], *task.words) for side in SIDES}
    found = bench.by_turns(commands, repeat)
    least = {side: min(each["seconds"] for each in runs) for side, runs in found.items()}
    return (
        {"group": task.group, "task": task.name}
        | {side: least[side] / least["old"] for side in SIDES if side != "old"}
        | {f"{side}_seconds": bench.spread(found[side]) for side in SIDES}
    )


def mean(rows: list[dict[str, Any]], group: str) -> dict[str, Any]:
    """Return the geometric means of a group of tasks, or of all."""
    chosen = [row for row in rows if group in ("all", row["group"])]
    return {"group": group, "task": f"geometric mean of {len(chosen)}"} | {
        side: bench.geometric_mean(row[side] for row in chosen) for side in SIDES if side != "old"
    }


def main() -> None:
    """Measure, print a line a task, and write them with the geometric means as CSV if asked to."""
    asked: argparse.ArgumentParser = bench.parser(__doc__, 3)
    asked.add_argument("old", help="a commit")
    asked.add_argument("groups", nargs="*", metavar="GROUP", help="sets linear scs grids predicting starting")
    given = bench.parse(asked)
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else every start compiles the package's sources, as no user's does
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        old, new = checkout(given.old, scratch / "old"), checkout("HEAD", scratch / "new")
        places = {"old": old, "new": new, "old_again": old}
        for task in tasks(scratch, old):
            if given.groups and task.group not in given.groups:
                continue
            rows.append(compare(task, places, given.repeat))
            bench.show({key: value for key, value in rows[-1].items() if not key.endswith("_seconds")})
            bench.write(given.csv, rows)
    means = [mean(rows, group) for group in (*dict.fromkeys(row["group"] for row in rows), "all")]
    for row in means:
        bench.show(row)
    bench.write(given.csv, [*rows, *means])


if __name__ == "__main__":
    main()
