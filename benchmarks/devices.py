"""What each speed device buys: the same tasks with the device and without it, by turns.

    python benchmarks/devices.py [--mirror FOLDER] [--repeat 5] [--csv FILE] [DEVICE ...]

A device is switched off in a copy of the package: a tuning constant (`fwsvm/solvers/tuning.py`) takes a value at which
the device has no part in a run, or a few words of a source are replaced. A text that is to be replaced and is not there
ends the benchmark. Tasks on one thread are timed by the processor, so that a busy machine spoils a comparison less,
those on two threads by the wall. The ratio is the least time without the device over the least time with it: above 1
the device pays. `lines` counts the lines of source that would go with it.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import side_by_side as bench

SOURCES = Path(__file__).parents[1] / "fwsvm"
NEVER = "1 << 60"

START = """
import json, sys, time
sys.path.insert(0, sys.argv.pop(1))
import fwsvm
assert fwsvm.__file__.startswith(sys.path[0])
"""

TRAIN = (
    START
    + """
import numpy as np
from fwsvm import data
from fwsvm.data import labels
from fwsvm.solvers import Settings, fit

name, C, method, threads, search = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]
train = data.load(name).train
classes = data.load(name).classes
codes = labels.encode(train.labels, classes)
sampled = {"search": "sampled", "stop": "meb", "tolerance": 1e-4} if search == "sampled" else {}
settings = Settings(method=method, C=C, threads=threads, **sampled)
few = np.concatenate([np.flatnonzero(codes == k)[:20] for k in range(len(classes))])
fit(train.X[few], codes[few], classes, settings)
clock = time.perf_counter if threads > 1 else time.process_time
times, begun = [], time.perf_counter()
while len(times) < 2 or len(times) < 20 and time.perf_counter() - begun < 0.5:
    at = clock()
    fit(train.X, codes, classes, settings)
    times.append(clock() - at)
print(json.dumps({"seconds": min(times[1:])}))
"""
)

LOADED = (
    START
    + """
import numpy as np
from fwsvm import data
from fwsvm.data import labels
from fwsvm.solvers import Settings
from fwsvm.solvers.c_path import CPath

found = data.load(sys.argv[1])
X, codes = found.train.X, labels.encode(found.train.labels, found.classes)
few = np.concatenate([np.flatnonzero(codes == k)[:20] for k in range(len(found.classes))])
"""
)

TIMED = """
along(X[few], codes[few])
at = time.process_time()
along(X, codes)
print(json.dumps({"seconds": time.process_time() - at}))
"""

PATH = (
    LOADED
    + """
def along(X, codes):
    path, runs = CPath(X, codes, found.classes), []
    for k in range(13):
        runs.append(path.train(Settings(method=sys.argv[2], C=2.0**k)))
        if path.due(runs):
            path.certify(runs)
            runs = []
    path.certify(runs)
"""
    + TIMED
)


SEARCH = (
    LOADED
    + """
def along(X, codes):
    path = CPath(X, codes, found.classes)
    runs = path.train_together([Settings(C=2.0**k, threads=1, tolerance=0.1) for k in range(10)], None)
    for decision in path.decisions(path.certify(runs), found.test.X):
        pass
"""
    + TIMED
)


class Task(NamedTuple):
    """A script that prints its seconds, and its arguments."""

    name: str
    script: str
    arguments: tuple[str, ...]


def train(name: str, C: str, method: str, threads: int = 1, search: str = "full") -> Task:
    """Return the task of training on a data set, from the rows to the result with its certificate."""
    said = f"{name} C={C} {method}" + (f", {threads} threads" if threads > 1 else "")
    return Task(said, TRAIN, (name, C, method, str(threads), search))


def path(name: str, method: str = "newton") -> Task:
    """Return the task of training along C = 1, 2, ..., 4096 with warm starts."""
    return Task(f"{name} along C, {method}", PATH, (name, method))


def search(name: str) -> Task:
    """Return the task of a search's ten values of C on many pairs of classes, from rows to decisions on test rows."""
    return Task(f"{name}, ten C and their decisions", SEARCH, (name,))


class Device(NamedTuple):
    """A device: how it is switched off, where its effect would show, and how many lines would go with it."""

    off: dict[str, tuple[tuple[str, str], ...]]  # file: texts and what takes their place
    tasks: tuple[Task, ...]
    lines: int


def constants(**values: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the change that gives tuning constants other values."""
    return {
        "solvers/tuning.py": tuple(
            (f"\n{name} = ", f"\n{name} = {value}  # ") for name, value in values.items()
        )
    }


ONE_CLASS = (train("a5a", "1", "swap-2o"), train("w7a", "8", "swap-2o"), train("a5a", "256", "swap-2o"))
PAIRS = (
    train("letter", "64", "swap-2o"),
    train("usps", "64", "swap-2o"),
    train("pendigits", "64", "swap-2o"),
)
FEW = (train("shuttle", "64", "swap-2o"), train("mushrooms", "64", "swap-2o"))
NEWTON = (train("a5a", "256", "newton"), train("a5a", "4096", "newton"), train("w7a", "64", "newton"))
PATHS = (path("a5a"), path("w7a"), path("satimage"))
SEARCHES = (search("usps"), search("letter"))
LINEAR = tuple(
    train(*each, "avsf") for each in (("a9a", "10"), ("w7a", "100"), ("sector", "10"), ("news20", "1"))
)
SAMPLED = tuple(
    train(f"synthetic:adult-like?rows={rows}", "1", method, search="sampled")
    for rows, method in ((5_000, "fw"), (10_000, "swap"))
)  # fmt: skip

DEVICES = {
    "columns in blocks": Device(
        {
            "solvers/frank_wolfe/gradient/full.py": (
                ("        return WIDE\n", "        return 1\n"),
                ("return max(NARROW, min(WIDE, SMALLEST_BLOCK // columns.slot_of.size))", "return 1"),
            )
        },
        (*ONE_CLASS, *PAIRS), 40,
    ),
    "larger blocks for few rows": Device(constants(SMALLEST_BLOCK="1"), PAIRS, 2),
    "scan of all rows for a partner": Device(constants(SCAN_FROM="0"), (*ONE_CLASS, *PAIRS), 60),
    "walk through the active rows": Device(constants(SCAN_FROM="1 << 30"), (*ONE_CLASS, *FEW, *PAIRS), 20),
    "scans in stretches": Device(constants(SCAN_STRETCH="8"), ONE_CLASS, 12),
    "margin of the goal": Device(constants(MARGIN="0.0"), (*ONE_CLASS, *PAIRS), 3),
    "team of threads in a scan": Device(
        constants(ROWS_A_THREAD=NEVER),
        (train("a7a", "1", "swap-2o", 2), train("w7a", "8", "swap-2o", 2), train("a9a", "1", "swap-2o", 2)), 200,
    ),
    "first steps by swap-2o": Device(constants(FIRST_SWAPS="0.0", NEWTON_OVERHEAD="0"), NEWTON, 25),
    "repairs by swap-2o": Device(constants(MOST_REPAIRS="0"), (*NEWTON, *PATHS[:2]), 12),
    "border of a factor": Device(constants(BORDER_SHARE="0.0"), (*NEWTON, *PATHS), 125),
    "rough systems first": Device(constants(ROUGH_RESIDUAL="1e-10", RESIDUAL_SHARE="1e-9"), NEWTON, 10),
    "certificates of several C together": Device(constants(CERTIFY_AFTER="0.0", CERTIFIED_TOGETHER="1"), PATHS, 110),
    "columns kept along C": Device(
        {"solvers/column_store.py": (("if found is not None and (", "if False and ("),)}, PATHS, 84,
    ),
    "half tiles in float64": Device(
        {"kernels/dense_tiles.py": (("if takes_two_registers(numbers):", "if False:"),)}, SEARCHES, 30,
    ),
    "decisions of several C together": Device(constants(DECIDED_TOGETHER="32"), SEARCHES, 2),
    "visits of rows at rest": Device(
        {"solvers/dual_coordinate/avsf.py": (("return s.now[0].distance < s.coordinates[i].slack", "return False"),)},
        LINEAR, 20,
    ),
    "surveys before they are due": Device(constants(IDLE_VISITS_FOR_SURVEY="1e300"), LINEAR, 8),
    "multiples of w": Device(constants(MULTIPLE_TRY_FACTOR="0.0"), LINEAR, 40),
    "prefetch of rows": Device(constants(MAX_PREFETCHED_VALUES="np.uint64(0)"), LINEAR, 15),
    "prefetch of what is known of rows": Device(constants(RECORDS_AHEAD=NEVER), LINEAR, 10),
    "prefetch of candidates": Device(constants(PREFETCH_WITHIN="0"), SAMPLED, 20),
    "the gradient over all rows in sampled search": Device(constants(UPDATE_COST="1e300"), SAMPLED, 90),
    "larger chunks of steps": Device(constants(MOST_FIRST_STEPS="16"), PAIRS, 4),
}  # fmt: skip


def without(device: Device, folder: Path) -> None:
    """Write a copy of the package that does without a device."""
    shutil.copytree(SOURCES, folder / "fwsvm", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCES.parent / "datasets.lock", folder / "fwsvm" / "data")  # as a wheel has it
    for name, changes in device.off.items():
        source = folder / "fwsvm" / name
        text = source.read_text("utf-8")
        for old, new in changes:
            if text.count(old) != 1:
                raise SystemExit(f"{name}: {old!r} stands there {text.count(old)} times, not once")
            text = text.replace(old, new)
        source.write_text(text, "utf-8")


def measure(name: str, device: Device, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row for each task of a device."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        without(device, Path(folder))
        for task in device.tasks:
            found = bench.by_turns(
                {
                    side: bench.python(task.script, where, *task.arguments)
                    for side, where in (("with", SOURCES.parent), ("without", folder))
                },
                given.repeat,
            )
            least = {side: min(each["seconds"] for each in runs) for side, runs in found.items()}
            rows.append(
                {"device": name, "task": task.name, "lines": device.lines, "ratio": least["without"] / least["with"]}
                | {f"{side}_seconds": least[side] for side in found}
                | {f"{side}_all": bench.spread(runs) for side, runs in found.items()}
            )  # fmt: skip
            bench.show({key: value for key, value in rows[-1].items() if not key.endswith("_all")})
    return rows


def main() -> None:
    """Measure, print a line a task and the geometric mean of a device, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 5)
    asked.add_argument("devices", nargs="*", default=list(DEVICES), metavar="DEVICE", help=", ".join(DEVICES))
    given = bench.parse(asked)
    rows: list[dict[str, Any]] = []
    for name in given.devices:
        found = measure(name, DEVICES[name], given)
        mean = bench.geometric_mean(row["ratio"] for row in found)
        rows += [
            *found,
            {"device": name, "task": "geometric mean", "lines": DEVICES[name].lines, "ratio": mean},
        ]
        bench.show(rows[-1])
        bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
