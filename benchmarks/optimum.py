"""wolfe and scs against an independent solver of the dual: how far above the optimum they end, on real sets.

    python benchmarks/optimum.py [SET ...] [--rows 5000] [-C 0.1 1 10] [--csv FILE]

A set is a name of datasets.lock; of a longer one --rows rows are drawn with seed 0. The kernel is rbf with gamma =
1/(2 D), lambda = 1/(C m). The samples of scs may grow to all rows. The independent solver is L-BFGS-B on the box dual
over the whole kernel matrix (`tests.naive`); its dual value is a lower bound D. The column `above` is f / D - 1: an
upper bound on how far f is above the optimum. Run it from the root of a checkout.
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import naive

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "wolfe": ("wolfe", {}),
    "wolfe:keep=full": ("wolfe", {"keep": "full"}),
    "scs": ("scs", {}),
}


def main() -> None:
    """Print and write a line for each set, C and method."""
    import fwsvm
    from fwsvm.data import labels, load

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=["magic", "room-occupancy"])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("-C", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--csv")
    asked = parser.parse_args()
    header = [
        "dataset",
        "rows",
        "C",
        "method",
        "objective",
        "dual_independent",
        "above",
        "gap",
        "iterations",
        "seconds",
    ]
    lines = []
    for name in asked.sets:
        data = load(name)
        codes = labels.encode(data.train.labels, data.classes)
        chosen = np.random.default_rng(0).permutation(len(codes))[: asked.rows]
        X, y = np.asarray(data.train.X[chosen]), np.where(codes[chosen] == 0, 1.0, -1.0)
        m = len(y)
        for C in asked.C:
            bound = None
            for method, (plain, parameters) in METHODS.items():
                settings = {"C": C, "parameters": parameters, "threads": 1, "max_iterations": 20_000}
                found = fwsvm.train(X, y, method=plain, **settings)
                if bound is None:
                    Q = np.outer(y, y) * naive.gram("rbf", X, X, found.settings["gamma"])
                    bound = naive.box_optimum(Q, np.full(m, C))[0] / (C * m)
                f, gap = found.objective, found.relative_gap
                line = [name, m, C, method, f"{f:.6f}", f"{bound:.6f}", f"{f / bound - 1:.5f}", f"{gap:.5f}",
                        found.iterations, f"{found.train_seconds:.2f}"]  # fmt: skip
                print(*line, flush=True)
                lines.append(line)
    if asked.csv:
        with Path(asked.csv).open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *lines])


if __name__ == "__main__":
    main()
