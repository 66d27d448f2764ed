"""scs beside kernel pegasos: the objective against seconds, over seeds.

    python benchmarks/stochastic.py [SET ...] [--lambda 1e-2 1e-3 1e-4 | -C 1] [--seconds 60] [--seeds 5]
                                    [--batches 1 64] [--reference 600] [--out FOLDER] [--csv FILE] [--wall]

SET is a name of datasets.lock, a path, or synthetic:...; if left out
synthetic:gaussians?rows=200000&features=28&test=0. The kernel is rbf with gamma = 1/(2 D). The objective is
lambda/2 |beta|^2 plus the mean hinge loss on one fixed sample of up to 20,000 rows, the same for every run, and is
computed off the clock. Pegasos runs with each batch size, and its best one counts. A run goes on for --seconds, or to
its own end. Then for each lambda:

    seconds to 1% above the best value that any run reached, median of the seeds (and least and most); a star where a
    run did not get there and its whole time stands instead; ratio: pegasos / scs.

With --reference the best value is that of one more run of each method, of so many seconds, and the timed runs end
where they reach 1% above it.

Times are those of the processor, one thread, so that a busy machine spoils a comparison less; --wall takes the clock
on the wall. Compiling is done before. --out writes a folder that `fwsvm plot FOLDER --figure convergence` draws: one
run a row, every point in its trace. --csv writes the table.
"""

import argparse
import csv
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SET = "synthetic:gaussians?rows=200000&features=28&test=0"
SPACING = 1.25  # a point of the curve whenever the time has grown by this factor
FIRST = 0.002  # seconds
REFERENCE_SEED = 1000


class Point(NamedTuple):
    """A point of a curve, in the columns of a trace."""

    seconds: float
    iteration: int
    objective: float
    gap: str
    support_vectors: int


Curve = list[Point]


def curve(
    method: str, X: Any, y: np.ndarray, settings: dict[str, Any], seconds: float, clock: Any, goal: float
) -> Curve:
    """Return the points of a run that ends by itself, after so many seconds, or at the goal."""
    from fwsvm.problems.binary import Binary
    from fwsvm.problems.hinge import estimate
    from fwsvm.solvers import Settings, resolve
    from fwsvm.solvers.stochastic.run import begin

    resolved = resolve(Settings(method=method, threads=1, **settings), X)
    few = Binary(X[:400], y[:400], np.full(min(400, len(y)), 1.0), (0, 0))
    begin(resolved.rule, few, resolved).advance(100)  # compiles
    started = clock()
    process = begin(resolved.rule, Binary(X, y, np.full(len(y), resolved.C), (resolved.seed, 0)), resolved)
    spent, due, points = clock() - started, FIRST, []
    chunk = 1 if method == "scs" else 64
    while True:
        started = clock()
        ended = process.advance(chunk) < chunk
        spent += clock() - started
        if ended or spent >= due:
            at = process.iterate()
            value = estimate(resolved.kernel, X, y, process.lam, at.rows, at.alpha, at.square, 1).value
            points.append(Point(spent, at.iterations, value, "", at.support_vectors))
            due = spent * SPACING
            if value <= goal:
                return points
        if spent >= seconds or (ended and process.check_stop() is not None):
            return points


def reached(points: Curve, goal: float) -> tuple[float, bool]:
    """Return the first time at or below the goal and True, or the whole time and False."""
    there = (point.seconds for point in points if point.objective <= goal)
    return next(((t, True) for t in there), (points[-1].seconds, False))


class Folder:
    """A results folder of runs and their traces; without a name nothing is written."""

    FIELDS = (
        "run_id", "experiment", "profile", "role", "status", "dataset", "data_sha256", "rows", "features", "method",
        "kernel", "gamma", "C", "lambda", "tolerance", "seed", "fold", "repetition", "objective", "test_accuracy",
        "train_seconds", "iterations", "support_vectors", "threads", "parallel_cells",
    )  # fmt: skip

    def __init__(self, name: str | None) -> None:
        self.place, self.rows = Path(name) if name else None, 0
        if self.place:
            (self.place / "traces").mkdir(parents=True, exist_ok=True)
            _append(self.place / "runs.csv", [self.FIELDS])

    def add(self, points: Curve, **fields: Any) -> None:
        """Write a run."""
        if not self.place:
            return
        self.rows += 1
        last, number = points[-1], f"{self.rows:04d}"
        fields |= {
            "run_id": number, "experiment": "scs-curve", "profile": "bench", "role": "final", "status": "time_limit",
            "kernel": "rbf", "objective": last.objective, "train_seconds": last.seconds, "threads": 1,
            "iterations": last.iteration, "support_vectors": last.support_vectors, "parallel_cells": 1,
        }  # fmt: skip
        _append(self.place / "runs.csv", [[fields.get(name, "") for name in self.FIELDS]])
        _append(self.place / "traces" / f"{number}.csv", [Point._fields, *points])


def _append(file: Path, lines: list[Any]) -> None:
    with file.open("a", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(lines)


def main() -> None:
    """Run the comparison and print its table."""
    from fwsvm.data import labels, load
    from fwsvm.kernels.kernel import family

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=[SET])
    parser.add_argument("--lambda", dest="lambdas", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("-C", type=float)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--reference", type=float)
    parser.add_argument("--out")
    parser.add_argument("--csv")
    parser.add_argument("--wall", action="store_true")
    asked = parser.parse_args()
    clock = time.perf_counter if asked.wall else time.process_time
    runs: list[tuple[str, str, dict[str, Any]]] = [("scs", "scs", {})]
    runs += [
        ("pegasos" if batch == 1 else f"pegasos(batch={batch})", "pegasos", {"batch": batch})
        for batch in asked.batches
    ]
    folder, table = Folder(asked.out), []
    for name in asked.sets:
        data = load(name)
        X, gamma = data.train.X, family("rbf").width("paper")[1].gamma(data.train.X)
        y = np.where(labels.encode(data.train.labels, data.classes) == 0, 1.0, -1.0)
        print(f"{name}: {X.shape[0]} rows, {X.shape[1]} features, gamma {gamma:.4g}")
        for lam in [1.0 / (asked.C * len(y))] if asked.C else asked.lambdas:
            settings = {"lambda_": lam, "gamma": gamma}
            best, goal = np.inf, -np.inf
            if asked.reference:
                for _, method, parameters in runs:
                    more = {**settings, "seed": REFERENCE_SEED, "parameters": parameters}
                    points = curve(method, X, y, more, asked.reference, clock, -np.inf)
                    best = min(best, *(point.objective for point in points))
                goal = 1.01 * best
            curves: dict[str, list[Curve]] = {title: [] for title, _, _ in runs}
            for seed in range(asked.seeds):
                for title, method, parameters in runs:
                    more = {**settings, "seed": seed, "parameters": parameters}
                    points = curve(method, X, y, more, asked.seconds, clock, goal)
                    curves[title].append(points)
                    folder.add(
                        points, dataset=name, data_sha256=data.fingerprint, rows=X.shape[0], features=X.shape[1],
                        method=title, gamma=gamma, C=1.0 / (lam * len(y)), **{"lambda": lam}, seed=seed,
                        repetition=seed, tolerance=1e-3,
                    )  # fmt: skip
            table += report(name, lam, curves, best)
    if asked.csv:
        fields = ["dataset", "lambda", "method", "best", "median_seconds", "least", "most", "all_reached", "last_value",
                  "ratio_to_scs"]  # fmt: skip
        with Path(asked.csv).open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([fields, *table])


def report(name: str, lam: float, curves: dict[str, list[Curve]], best: float) -> list[list[Any]]:
    """Print the times of one lambda and the ratio of pegasos' best to scs; return them as lines."""
    best = min(
        best,
        *(point.objective for many in curves.values() for points in many for point in points),
    )
    print(f"lambda {lam:g}: best objective {best:.5f}, goal {1.01 * best:.5f}")
    lines: list[list[Any]] = []
    for title, many in curves.items():
        times = [reached(points, 1.01 * best) for points in many]
        seconds, everyone = [t for t, _ in times], all(there for _, there in times)
        middle = statistics.median(seconds)
        last = statistics.median(points[-1].objective for points in many)
        print(
            f"  {title:18s} {middle:8.3f}{'' if everyone else '*'} s ({min(seconds):.3f} ... {max(seconds):.3f}), "
            f"last value {last:.5f}"
        )
        lines.append([name, lam, title, f"{best:.6f}", f"{middle:.4f}", f"{min(seconds):.4f}", f"{max(seconds):.4f}",
                      str(everyone).lower(), f"{last:.6f}", ""])  # fmt: skip
    scs = float(lines[0][4])
    for line in lines[1:]:
        line[-1] = f"{float(line[4]) / scs:.2f}"
    print(f"  ratio {min(float(line[-1]) for line in lines[1:]):.2f}")
    sys.stdout.flush()
    return lines


if __name__ == "__main__":
    main()
