"""scs beside kernel pegasos: the objective against seconds, over seeds, median and band.

    python benchmarks/stochastic.py [SET] [--lambda 1e-2 1e-3 1e-4] [--seconds 60] [--seeds 5] [--batches 1 64]
                                    [--csv FILE] [--wall]

SET is a name of datasets.lock, a path, or synthetic:...; if left out
synthetic:gaussians?rows=200000&features=28&test=0. The kernel is rbf with gamma = 1/(2 D). The objective is
lambda/2 |beta|^2 plus the mean hinge loss on one fixed sample of up to 20,000 rows, the same for every run, and is
computed off the clock. Pegasos runs with each batch size, and its best one counts. A run goes on for --seconds, or
to its own end. Then for each lambda:

    seconds to 1% above the best value that any run reached, median of the seeds (and least and most); a star where a
    run did not get there and its whole time stands instead; ratio: pegasos / scs.

Times are those of the processor, one thread, so that a busy machine spoils a comparison less; --wall takes the clock
on the wall. Compiling is done before. --csv writes every point of every curve.
"""

import argparse
import csv
import statistics
import sys
import time
from typing import Any

import numpy as np

SET = "synthetic:gaussians?rows=200000&features=28&test=0"
SPACING = 1.3  # a point of the curve whenever the time has grown by this factor
FIRST = 0.01  # seconds

Curve = list[tuple[float, float]]


def curve(method: str, X: Any, y: np.ndarray, settings: dict[str, Any], seconds: float, clock: Any) -> Curve:
    """Return (seconds, objective) along a run."""
    from fwsvm.problems.hinge import estimate
    from fwsvm.solvers import Settings, resolve
    from fwsvm.solvers.process import Binary
    from fwsvm.solvers.stochastic.run import begin

    resolved = resolve(Settings(method=method, threads=1, **settings), X)
    few = Binary(X[:400], y[:400], np.full(400, 1.0), (0, 0))
    begin(resolved.rule, few, resolved).advance(100)  # compiles
    started = clock()
    process = begin(resolved.rule, Binary(X, y, np.full(len(y), resolved.C), (resolved.seed, 0)), resolved)
    spent, due, points = clock() - started, FIRST, []
    chunk = 1 if method == "scs" else 32
    while True:
        started = clock()
        ended = process.advance(chunk) < chunk
        spent += clock() - started
        if ended or spent >= due:
            at = process.solution()
            value = estimate(resolved.kernel, X, y, process.lam, at.rows, at.alpha, at.square, 1)
            points.append((spent, value.value))
            due = spent * SPACING
        if spent >= seconds or (ended and process.verdict() is not None):
            return points


def reached(points: Curve, goal: float) -> tuple[float, bool]:
    """Return the first time at or below the goal and True, or the whole time and False."""
    return next(((t, True) for t, value in points if value <= goal), (points[-1][0], False))


def main() -> None:
    """Run the comparison and print its table."""
    from fwsvm.data import labels, load
    from fwsvm.kernels.widths import default_gamma

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", nargs="?", default=SET)
    parser.add_argument("--lambda", dest="lambdas", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--csv")
    parser.add_argument("--wall", action="store_true")
    asked = parser.parse_args()
    data = load(asked.set)
    X, gamma = data.train.X, default_gamma("rbf", data.train.X)
    y = np.where(labels.encode(data.train.labels, data.classes) == 0, 1.0, -1.0)
    clock = time.perf_counter if asked.wall else time.process_time
    runs: list[tuple[str, str, dict[str, Any]]] = [("scs", "scs", {})]
    runs += [(f"pegasos {batch}", "pegasos", {"batch": batch}) for batch in asked.batches]
    writer = csv.writer(open(asked.csv, "w", newline="")) if asked.csv else None  # noqa: SIM115, PTH123
    if writer:
        writer.writerow(["dataset", "lambda", "method", "seed", "seconds", "objective"])
    print(f"{asked.set}: {X.shape[0]} rows, {X.shape[1]} features, gamma {gamma:.4g}")
    for lam in asked.lambdas:
        curves: dict[str, list[Curve]] = {name: [] for name, _, _ in runs}
        for seed in range(asked.seeds):
            for name, method, parameters in runs:
                settings = {"lambda_": lam, "gamma": gamma, "seed": seed, "parameters": parameters}
                points = curve(method, X, y, settings, asked.seconds, clock)
                curves[name].append(points)
                if writer:
                    writer.writerows([asked.set, lam, name, seed, f"{t:.4f}", f"{v:.6f}"] for t, v in points)
        report(lam, curves)


def report(lam: float, curves: dict[str, list[Curve]]) -> None:
    """Print the times of one lambda and the ratio of pegasos' best to scs."""
    best = min(value for many in curves.values() for points in many for _, value in points)
    print(f"lambda {lam:g}: best objective {best:.5f}, goal {1.01 * best:.5f}")
    medians = {}
    for name, many in curves.items():
        times = [reached(points, 1.01 * best) for points in many]
        seconds = [t for t, _ in times]
        star = "" if all(there for _, there in times) else "*"
        ends = sorted(points[-1][1] for points in many)
        medians[name] = statistics.median(seconds)
        print(
            f"  {name:12s} {medians[name]:8.3f}{star} s ({min(seconds):.3f} ... {max(seconds):.3f}), "
            f"last value {statistics.median(ends):.5f} ({ends[0]:.5f} ... {ends[-1]:.5f})"
        )
    pegasos = min(seconds for name, seconds in medians.items() if name != "scs")
    print(f"  ratio {pegasos / medians['scs']:.2f}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
