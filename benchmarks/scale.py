"""Cost against size: rows, kernel cache, threads, and files larger than the memory that a process may have.

    python benchmarks/scale.py rows    [--most 60] [--csv FILE] [KIND ...]
    python benchmarks/scale.py cache   [--csv FILE] [SET ...]
    python benchmarks/scale.py threads [--csv FILE] [SET ...]
    python benchmarks/scale.py memory  [--rows 3000000] [--limit 1024] [--csv FILE] [METHOD ...]

rows     `swap-2o`, C = 1, on 1,000 ... 200,000 generated rows of each KIND, as long as a run takes less than --most
         seconds: sampled search under the papers' rule (meb, 1e-4), and full search to a relative gap of 1e-2. The last
         lines are exponents of growth, by least squares of the logarithms.
cache    full search with room for 100, 90, 75, 50, 25 and 10 per cent of the kernel columns that a run computes.
threads  seconds with one and with two threads, by turns.
memory   `fwsvm train` on --rows dense rows of 100 features, in a file of float32, by a process that may have --limit
         MiB of memory of its own (RLIMIT_DATA). Two classes are normal distributions; the best machine is right on all
         but 3 in a million rows.

Every run is a fresh process of `fwsvm train --json`.
"""

import argparse
import functools
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import processes as bench

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
SHARES = (100, 90, 75, 50, 25, 10)
SEARCHES = {
    "sampled": ("--search", "sampled", "--stop", "meb", "--tol", "1e-4", "--no-final-gap"),
    "full": ("--tol", "1e-2"),
}
MEASURED = (
    *("status", "rows", "train_seconds", "relative_gap", "certified", "support_vectors"),
    *("steps", "kernel_evaluations", "peak_memory_mib"),
)
FEATURES, BLOCK, CENTRE = 100, 1 << 16, 0.45


def trained(*words: object, limit: int | None = None) -> dict[str, Any]:
    """Return what a run measured, of a process with at most ``limit`` MiB of its own."""
    before = None
    if limit is not None:
        before = functools.partial(resource.setrlimit, resource.RLIMIT_DATA, (limit << 20, limit << 20))
    row = bench.run(bench.fwsvm("train", "--json", *words), before)
    return {name: row[name] for name in MEASURED}


def rows(kinds: list[str], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield all sizes of all kinds under both searches, then the exponents."""
    for search, options in SEARCHES.items():
        for kind in kinds:
            done = []
            for size in SIZES:
                name = f"synthetic:{kind}?rows={size}&test=0"
                found = trained("--method", "swap-2o", *options, "--time-limit", given.most, name)
                yield {"kind": kind, "search": search, **found}
                if found["status"] == "time_limit":
                    break
                done.append(found)
            growth: dict[str, Any] = {"kind": kind, "search": search, "status": "exponent"}
            n = np.log([each["rows"] for each in done])
            for column in ("train_seconds", "kernel_evaluations", "peak_memory_mib"):
                growth[column] = float(np.polyfit(n, np.log([each[column] for each in done]), 1)[0])
            yield growth


def cache(sets: list[str], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a run under ever smaller budgets for columns."""
    for name in sets:
        words = ("--method", "swap-2o", name)
        whole = trained(*words)["kernel_evaluations"] * 4 / (1 << 20)
        for share in SHARES:
            mib = max(1, round(share / 100 * whole) + (share == 100))
            runs = [trained("--cache-mb", mib, *words) for _ in range(given.repeat)]
            yield {"set": name, "percent": share, "cache_mib": mib, **runs[-1]} | {
                "train_seconds": bench.median(runs, "train_seconds")
            }


def threads(sets: list[str], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one and two threads by turns."""
    for name in sets:
        commands = {
            n: bench.fwsvm("train", "--json", "--method", "swap-2o", "--threads", n, name) for n in "12"
        }
        runs = bench.by_turns(commands, given.repeat)
        one, two = (bench.median(runs[n], "train_seconds") for n in "12")
        yield {"set": name, "one_seconds": one, "two_seconds": two, "ratio": one / two}


def memory(methods: list[str], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a training of each method on a file that is written first."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        write(file, given.rows)
        for method in methods:
            linear = method in {"avsf", "liblinear"}
            options = ("-C", 1e-5) if linear else ("-C", 1.0, "--cache-mb", given.limit // 4)
            found = trained("--method", method, *options, file, limit=given.limit)
            yield {"method": method, "file_mb": file.stat().st_size >> 20, "limit_mib": given.limit, **found}


def write(file: Path, count: int) -> None:
    """Write rows of two classes and their labels, block by block."""
    rng, labels = np.random.default_rng(0), np.empty(count)
    with file.open("wb") as stream:
        head = {"descr": "<f4", "fortran_order": False, "shape": (count, FEATURES)}
        np.lib.format.write_array_header_1_0(stream, head)
        for first in range(0, count, BLOCK):
            y = np.where(rng.random(min(BLOCK, count - first)) < 0.5, np.float32(1), np.float32(-1))
            X = rng.standard_normal((len(y), FEATURES), dtype=np.float32) + np.float32(CENTRE) * y[:, None]
            stream.write(X.data)
            labels[first : first + len(y)] = y
    np.save(file.with_suffix(".labels.npy"), labels)


def main() -> None:
    """Measure what is asked for."""
    work: dict[str, Any] = {
        "rows": (rows, ["sparse-text", "checkerboard"]),
        "cache": (cache, ["a5a"]),
        "threads": (threads, ["a7a", "usps"]),
        "memory": (memory, ["chunking", "avsf", "scs"]),
    }
    asked = bench.parser(__doc__, 3)
    asked.add_argument("what", choices=work)
    asked.add_argument("names", nargs="*")
    asked.add_argument("--most", type=float, default=60.0, help="seconds a run may take")
    asked.add_argument("--rows", type=int, default=3_000_000)
    asked.add_argument("--limit", type=int, default=1024, help="MiB")
    given = asked.parse_intermixed_args()
    measure, usual = work[given.what]
    bench.report(measure(given.names or usual, given), given.csv)


if __name__ == "__main__":
    main()
