"""Reading LIBSVM text: fwsvm against scikit-learn's load_svmlight_file, files in the page cache.

    python benchmarks/reading.py [--repeat 7] [--csv FILE] [FILE ...]

FILE is text, or such text packed by bzip2, which is unpacked off the clock; without one, three kinds are generated.
The readers take turns on each file; a line has the medians and their ratios. The values must agree bit for bit.
scikit-learn has one thread; ``fwsvm`` takes all processors, as `fwsvm.data` does, ``one_thread`` one of them.
``copy`` is the parsed copy that fwsvm keeps, mapped into memory, every value touched once.
"""

import bz2
import functools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import processes as bench

WARM_UP = 2


def generated(folder: Path) -> Iterator[Path]:
    """Yield files of binary, of six-digit and of full-precision values, seeded."""
    rng = np.random.default_rng(0)
    kinds: dict[str, Callable[[int], list[str]]] = {
        "binary": lambda k: ["1"] * k,
        "six-digits": lambda k: [f"{v:.6g}" for v in rng.uniform(-1, 1, k)],
        "full-precision": lambda k: [repr(v) for v in rng.standard_normal(k).tolist()],
    }
    for name, values in kinds.items():
        with (folder / name).open("w") as stream:
            for i in range(15_000):
                places = np.sort(rng.choice(123, 16, replace=False)) + 1
                pairs = " ".join(f"{j}:{v}" for j, v in zip(places, values(16), strict=True))
                stream.write(f"{'+1' if i % 4 == 0 else '-1'} {pairs}\n")
        yield folder / name


def unpacked(file: Path, folder: Path) -> Path:
    """Return a file as text."""
    if file.suffix != ".bz2":
        return file
    plain = folder / file.stem
    plain.write_bytes(bz2.decompress(file.read_bytes()))
    return plain


def compare(path: Path, repeat: int) -> dict[str, Any]:
    """Read a file with both by turns and return the medians."""
    from sklearn.datasets import load_svmlight_file

    from fwsvm import data
    from fwsvm.data.formats import svmlight

    def copy(file: str) -> Any:
        table = data.load(file, raw=True).train
        return table.X.data.sum(), table.X.indices.max(), table.labels.sum()

    readers = {
        "fwsvm": svmlight.read,
        "scikit_learn": load_svmlight_file,
        "one_thread": functools.partial(svmlight.read, threads=1),
        "copy": copy,
    }
    times: dict[str, list[float]] = {who: [] for who in readers}
    found: dict[str, Any] = {}
    for _ in range(WARM_UP + repeat):
        for who, read in readers.items():
            begun = time.perf_counter()
            found[who] = read(str(path))
            times[who].append(time.perf_counter() - begun)
    table, (X, y) = found["fwsvm"], found["scikit_learn"]
    ours, theirs = (
        (table.X.indptr, table.X.indices, table.X.data, table.labels),
        (X.indptr, X.indices, X.data, y),
    )
    if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
        sys.exit(f"{path}: fwsvm and scikit-learn read different values")
    seconds = {who: statistics.median(mine[WARM_UP:]) for who, mine in times.items()}
    line = {"file": path.name, "megabytes": path.stat().st_size / 1e6, "entries": table.X.nnz}
    line |= {f"{who}_seconds": value for who, value in seconds.items()}
    return line | {
        f"{who}_ratio": seconds["scikit_learn"] / seconds[who] for who in ("fwsvm", "one_thread", "copy")
    }


def main() -> None:
    """Measure."""
    asked = bench.parser(__doc__, 7)
    asked.add_argument("files", nargs="*", type=Path)
    given = asked.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = (unpacked(file, folder) for file in given.files) if given.files else generated(folder)
        bench.report((compare(file, given.repeat) for file in files), given.csv)


if __name__ == "__main__":
    main()
