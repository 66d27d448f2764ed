"""Reading LIBSVM text: fwsvm against scikit-learn's load_svmlight_file, one thread, files in the page cache.

    python benchmarks/parse.py [FOLDER] [--repeat 7] [--csv FILE]

reads a7a, a9a, w7a, letter.scale, covtype.libsvm.binary.scale and sector.scale from FOLDER, as far as there
(a .bz2 is unpacked first, off the clock), or generated files of three kinds without a FOLDER. Both read each
file by turns; a line has the medians and their ratio. The values must agree bit for bit, or the run stops. The parsed
copy that fwsvm keeps of a file is read by turns with them, mapped into memory and every value touched once.
"""

import argparse
import bz2
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import side_by_side as bench

NAMES = ("a7a", "a9a", "w7a", "letter.scale", "covtype.libsvm.binary.scale", "sector.scale")
WARM_UP = 2


def unpacked(folder: Path, scratch: Path) -> list[Path]:
    """Return the files of the folder as plain text."""
    found = []
    for name in NAMES:
        plain, packed = folder / name, folder / f"{name}.bz2"
        if plain.is_file():
            found.append(plain)
        elif packed.is_file():
            (scratch / name).write_bytes(bz2.decompress(packed.read_bytes()))
            found.append(scratch / name)
    return found


def generated(scratch: Path) -> list[Path]:
    """Return files of binary, of six-digit and of full-precision values, seeded."""
    rng = np.random.default_rng(0)
    shapes = {
        "binary": (30_000, 14, lambda k: ["1"] * k),
        "six-digits": (15_000, 16, lambda k: [f"{v:.6g}" for v in rng.uniform(-1, 1, k)]),
        "full-precision": (15_000, 16, lambda k: [repr(v) for v in rng.standard_normal(k).tolist()]),
    }
    found = []
    for name, (rows, entries, values) in shapes.items():
        lines = []
        for i in range(rows):
            places = np.sort(rng.choice(123, entries, replace=False)) + 1
            pairs = " ".join(f"{j}:{v}" for j, v in zip(places, values(entries), strict=True))
            lines.append(f"{'+1' if i % 4 == 0 else '-1'} {pairs}\n")
        (scratch / name).write_text("".join(lines))
        found.append(scratch / name)
    return found


def seconds(read, path):
    """Return how long one reading takes, and what it yields."""
    started = time.perf_counter()
    result = read(str(path))
    return time.perf_counter() - started, result


def compare(path: Path, repeat: int) -> dict[str, Any]:
    """Read a file with both by turns and return the medians."""
    from sklearn.datasets import load_svmlight_file

    from fwsvm.data import formats
    from fwsvm.data.fetching.digests import file_sha256
    from fwsvm.data.formats import svmlight

    times: dict[str, list[float]] = {"fwsvm": [], "scikit-learn": [], "copy": []}
    sha256, how = file_sha256(path), {"format": "svmlight"}

    def copy(_: str) -> None:
        table, _notices = formats.read(path, sha256, how)
        table.X.data.sum(), table.X.indices.max(), table.labels.sum()

    for turn in range(WARM_UP + repeat):
        ours, (table, _) = seconds(svmlight.read, path)
        theirs, (X, y) = seconds(load_svmlight_file, path)
        again, _ = seconds(copy, path)
        if turn >= WARM_UP:
            times["fwsvm"].append(ours)
            times["scikit-learn"].append(theirs)
            times["copy"].append(again)
    same = (
        np.array_equal(table.X.indptr, X.indptr)
        and np.array_equal(table.X.indices, X.indices)
        and table.X.data.tobytes() == X.data.tobytes()
        and table.labels.tobytes() == y.tobytes()
    )
    if not same:
        sys.exit(f"{path}: fwsvm and scikit-learn read different values")
    size = path.stat().st_size / 1e6
    ours, theirs, again = (statistics.median(times[who]) for who in ("fwsvm", "scikit-learn", "copy"))
    return {
        "file": path.name,
        "megabytes": round(size, 2),
        "entries": table.X.nnz,
        "fwsvm_seconds": round(ours, 5),
        "scikit_learn_seconds": round(theirs, 5),
        "fwsvm_mb_per_second": round(size / ours, 1),
        "scikit_learn_mb_per_second": round(size / theirs, 1),
        "ratio": round(theirs / ours, 2),
        "copy_seconds": round(again, 5),
        "copy_ratio": round(theirs / again, 1),
        **{f"{who.replace('-', '_')}_all": bench.listed(mine) for who, mine in times.items()},
    }


def main() -> None:
    """Print one line a file, and write them to --csv if given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--repeat", type=int, default=7, help="timed readings of each file by each reader")
    parser.add_argument("--csv", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    rows = []
    print(f"{'file':28} {'MB':>7} {'fwsvm MB/s':>11} {'sklearn MB/s':>13} {'ratio':>7} {'copy':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        paths = unpacked(arguments.folder, Path(scratch)) if arguments.folder else generated(Path(scratch))
        if not paths:
            sys.exit(f"{arguments.folder} has none of {', '.join(NAMES)}")
        for path in paths:
            row = compare(path, arguments.repeat)
            rows.append(row)
            print(
                f"{row['file']:28} {row['megabytes']:7} {row['fwsvm_mb_per_second']:11} "
                f"{row['scikit_learn_mb_per_second']:13} {row['ratio']:7} {row['copy_ratio']:7}",
                flush=True,
            )
    bench.write(arguments.csv, rows)


if __name__ == "__main__":
    main()
