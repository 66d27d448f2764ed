"""`auto` beside the methods it chooses among: seconds of training to a certified relative gap of 1e-3.

    python benchmarks/choosing.py [--mirror FOLDER] [--repeat 3] [--threads 2] [--clock wall|user] [--limit 60]
                                  [--csv FILE] [SET:C ...]

rbf with gamma = 1/(2D). All runs of a set are in one process, by turns, and the least of --repeat counts; one that
compiles is made again. A run that takes a tenth of --limit is made once. The ratio is auto's time / the time of the
fastest of the others that converged within --limit seconds; one that refused the set has no seconds. SET/N is an Nth of
the set's rows, the first of a permutation with seed 0. ``--clock user`` counts what the process computes on all its
threads, which other work on the machine and first touches of memory leave alone: for one thread. auto is kept from
samples, which a limit would have it try.
"""

import resource
from types import SimpleNamespace
from typing import Any

import numpy as np
import side_by_side as bench

from fwsvm import data
from fwsvm.data.labels import encode
from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit, loop

SETS = (
    "pendigits", "usps", "satimage", "mushrooms", "a5a", "letter", "w7a", "shuttle", "a7a", "a9a", "skin-nonskin",
    "ijcnn1", "mnist/10",
)  # fmt: skip
PENALTIES = ("1", "8", "64", "1024")
COMPILED = 0.01  # seconds; of what a run does not compile
OTHERS = ("swap-2o", "newton", "chunking")


def compare(name: str, C: float, repeat: int, threads: int, limit: float) -> dict[str, Any]:
    """Return the row of a data set and a penalty."""
    named, _, part = name.partition("/")
    found = data.load(named)
    X, codes = found.train.X, encode(found.train.labels, found.classes)
    if part:
        some = np.random.default_rng(0).permutation(X.shape[0])[: X.shape[0] // int(part)]
        X, codes = X[some], codes[some]
    runs: dict[str, list[Any]] = {method: [] for method in (*OTHERS, "auto")}
    for turn in range(repeat):
        for method, done in runs.items():
            if turn == 0 or (done and done[-1].train_seconds < limit / 10):
                settings = Settings(method, C=C, threads=threads, time_limit=limit)
                done.extend(_run(X, codes, found.classes, settings))
    seconds = {
        method: min((one.train_seconds for one in done), default=float("nan"))
        for method, done in runs.items()
    }
    in_time = [
        seconds[method] for method in OTHERS if runs[method] and runs[method][-1].status is Status.CONVERGED
    ]
    last = runs["auto"][-1]
    row: dict[str, Any] = {"set": name, "rows": X.shape[0], "C": C, "threads": threads, "chosen": last.chosen}
    row |= {f"{method}_seconds": value for method, value in seconds.items()}
    row["ratio"] = seconds["auto"] / min(in_time) if in_time else float("nan")
    return row | {"relative_gap": last.relative_gap, "certified": last.certified}


def _run(X: Any, codes: np.ndarray, classes: Any, settings: Settings) -> list[Any]:
    """Return a run that compiled nothing; none where the method refuses, as newton does a factor beyond its memory."""
    try:
        while (one := fit(X, codes, classes, settings)).compile_seconds > COMPILED:
            pass
    except UsageError:
        return []
    return [one]


def _user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main() -> None:
    """Measure, print a line a set and penalty and the geometric mean of the ratios; write them as CSV if asked to."""
    asked = bench.parser(__doc__, 3)
    asked.add_argument(
        "sets", nargs="*", default=[f"{name}:{C}" for name in SETS for C in PENALTIES], metavar="SET:C"
    )
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--limit", type=float, default=60.0)
    asked.add_argument("--clock", choices=["wall", "user"], default="wall")
    given = bench.parse(asked)
    if given.clock == "user":
        vars(loop)["time"] = SimpleNamespace(perf_counter=_user_seconds)
    rows = []
    for name, _, C in (text.rpartition(":") for text in given.sets):
        rows.append(compare(name, float(C), given.repeat, given.threads, given.limit))
        bench.show(rows[-1])
        bench.write(given.csv, rows)
    ratios = [row["ratio"] for row in rows if row["ratio"] == row["ratio"]]
    bench.show({"set": "geometric mean", "ratio": bench.geometric_mean(ratios), "most": max(ratios)})


if __name__ == "__main__":
    main()
