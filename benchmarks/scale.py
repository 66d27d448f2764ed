"""Cost against size: seconds, memory and kernel evaluations as the rows grow, slopes fitted and drawn.

    python benchmarks/scale.py sizes   [--mirror FOLDER] [--out FOLDER] [--csv FILE] [KIND ...]
    python benchmarks/scale.py cache   [--mirror FOLDER] [--csv FILE] [SET]
    python benchmarks/scale.py threads [--mirror FOLDER] [--csv FILE] [SET ...]

sizes    `swap-2o`, C = 1, rbf with gamma = 1/(2D), n = 1,000 ... 500,000 rows of each KIND (generated, or a data
         set that has so many). Sampled search under the papers' rule (MEB, 1e-6), and full search to a relative gap
         of 1e-2 as long as a run takes less than --most seconds. A fresh process each. Slopes: least squares of the
         logarithms.
cache    full search with room for 100, 90, 75, 50, 25 and 10 per cent of the columns that a run with room for all
         keeps.
threads  seconds with one and with two threads.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import side_by_side as bench

KINDS = ("adult-like", "checkerboard", "covtype", "kdd99-10pc")
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
FEWEST = {"kdd99-10pc": 100_000}  # its rarest class has 52 rows of 494,021
SHARES = (100, 90, 75, 50, 25, 10)
WARM = "synthetic:adult-like?rows=500&test=0"

SCRIPT = """
import json, sys
from dataclasses import replace
import numpy as np
from fwsvm.experiments import samples, training
from fwsvm.experiments.experiment import DataSpec
from fwsvm.solvers import Settings

name, rows, told = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
np.ones(1 << 29)  # 4 GiB touched, see training.py
found = samples.load(DataSpec(name=name, rows=float(rows) if rows else None))
result, row = training.train(replace(found, test=None), Settings(**told))
columns = ("rows", "features", "status", "relative_gap", "support_vectors", "iterations", "steps", "kernel_evaluations",
           "peak_memory_mib", "load_seconds")
print(json.dumps({"seconds": result.train_seconds} | {name: row[name] for name in columns}))
"""
SAMPLED = {"search": "sampled", "stop": "meb", "final_gap": False}
FULL = {"tolerance": 1e-2}


def trained(name: str, rows: int | None, **told: Any) -> dict[str, Any]:
    """Return what a run in a fresh process needed."""
    return bench.run(bench.python(SCRIPT, name, rows or "", json.dumps(told)))


def sizes(kinds: list[str], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure all sizes of all kinds under both searches; then fit the slopes."""
    rows: list[dict[str, Any]] = []
    for search, told in (("sampled", SAMPLED | {"tolerance": given.sampled}), ("full", FULL)):
        trained(WARM, None, method="swap-2o", C=1.0, **told)
        for kind in kinds:
            for size in (size for size in SIZES if size >= FEWEST.get(kind, 0)):
                generated = f"synthetic:{kind}?rows={size}&test=0"
                real = kind in {"covtype", "kdd99-10pc"}
                found = trained(kind if real else generated, size if real else None, method="swap-2o", C=1.0,
                                time_limit=given.most, **told)  # fmt: skip
                rows.append({"kind": kind, "search": search, **found})
                bench.show(rows[-1])
                bench.write(given.csv, rows)
                if found["status"] == "time_limit" or found["rows"] < size:  # those were all that there are
                    break
    rows += slopes(rows)
    bench.write(given.csv, rows)
    if given.out:
        draw(rows, Path(given.out))
    return rows


def slopes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the exponents of growth of each kind and search, over runs that ended by their rule."""
    found = []
    for kind, search in dict.fromkeys((row["kind"], row["search"]) for row in rows):
        mine = [r for r in rows if (r["kind"], r["search"]) == (kind, search) and r["status"] != "time_limit"]
        if len(mine) < 3:
            continue
        n = np.log([row["rows"] for row in mine])
        line: dict[str, Any] = {"kind": kind, "search": search, "status": "slope"}
        for column in ("seconds", "kernel_evaluations", "peak_memory_mib", "steps"):
            line[column] = float(np.polyfit(n, np.log([max(row[column], 1e-9) for row in mine]), 1)[0])
        found.append(line)
        bench.show(line)
    return found


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw seconds, kernel evaluations and memory against rows."""
    from fwsvm.analysis.figures.style import legend, log_axis, panels, set_titles

    folder.mkdir(parents=True, exist_ok=True)
    labels = {
        "seconds": "training time (s)",
        "kernel_evaluations": "kernel evaluations",
        "peak_memory_mib": "peak memory (MiB)",
    }
    figure, axes = panels(3)
    colours = dict(zip(KINDS, ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=True))
    for panel, (column, label) in zip(axes, labels.items(), strict=True):
        for kind, search in dict.fromkeys((row["kind"], row["search"]) for row in rows):
            mine = [r for r in rows if (r["kind"], r["search"]) == (kind, search) and r["status"] != "slope"]
            panel.plot(
                [float(r["rows"]) for r in mine], [float(r[column]) for r in mine],
                "o-" if search == "sampled" else "s--", color=colours.get(kind, "black"),
                label=f"{kind}, {search}", markersize=4, linewidth=1.4,
            )  # fmt: skip
        log_axis(panel, "x")
        log_axis(panel, "y")
        set_titles(panel, "", "training rows", label)
    legend(figure, axes)
    figure.savefig(folder / "scale.png", dpi=150)


def cache(sets: list[str], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure a run under ever smaller budgets of memory for columns."""
    rows: list[dict[str, Any]] = []
    for name in sets:
        whole = trained(name, None, method="swap-2o", C=1.0)
        columns, base = whole["kernel_evaluations"] / whole["rows"], 1.0
        for share in SHARES:
            mib = max(1, round(share / 100 * columns * whole["rows"] * 4 / (1 << 20)) + (share == 100))
            runs = [trained(name, None, method="swap-2o", C=1.0, cache_mib=mib) for _ in range(given.repeat)]
            row = (
                {"set": name, "percent": share, "cache_mib": mib} | runs[-1] | {"seconds": bench.median(runs)}
            )
            base = row["seconds"] if share == SHARES[0] else base
            rows.append(row | {"slower": row["seconds"] / base})
            bench.show(rows[-1])
            bench.write(given.csv, rows)
    return rows


def threads(sets: list[str], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one and two threads by turns."""
    rows: list[dict[str, Any]] = []
    for name in sets:
        runs: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
        for _ in range(given.repeat + 1):
            for count, mine in runs.items():
                mine.append(trained(name, None, method="swap-2o", C=1.0, threads=count))
        one, two = (bench.median(runs[count][1:]) for count in (1, 2))
        rows.append({"set": name, "one_seconds": one, "two_seconds": two, "ratio": one / two,
                     "one_all": bench.spread(runs[1][1:]), "two_all": bench.spread(runs[2][1:])})  # fmt: skip
        bench.show(rows[-1])
        bench.write(given.csv, rows)
    return rows


def main() -> None:
    """Measure what is asked for."""
    asked = bench.parser(__doc__, 3)
    asked.add_argument("what", choices=["sizes", "cache", "threads"])
    asked.add_argument("sets", nargs="*")
    asked.add_argument("--most", type=float, default=60.0, help="seconds a run may take")
    asked.add_argument("--sampled", type=float, default=1e-4, help="tolerance of sampled search")
    asked.add_argument("--out", help="folder for the picture")
    given = bench.parse(asked)
    what = {"sizes": (sizes, KINDS), "cache": (cache, ("a7a",)), "threads": (threads, ("a7a", "w7a", "usps"))}
    work, usual = what[given.what]
    work(given.sets or list(usual), given)


if __name__ == "__main__":
    main()
