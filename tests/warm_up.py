"""Compile what many tests need: ``python -m tests.warm_up METHOD ...``.

A process that compiles a function keeps tens of megabytes for it; one that reads the machine code does not.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from fwsvm import _mapped
from fwsvm.cli import main
from fwsvm.solvers import Settings, fit

#: What tests need besides what `fwsvm warmup` compiles for a method.
MORE = {
    "auto": [{"kernel": kernel} for kernel in ("linear", "laplacian", "quadratic")],
    "swap-2o": [{"search": "sampled", "tolerance": 1e-15}],
    "liblinear": [{}],
    "avsf": [{}],
}


def warm_up(methods: list[str], folder: Path) -> None:
    """Compile what tests of these methods need; linear ones on rows in a mapped file, too."""
    main(["warmup", *(f"--method={name}" for name in methods)], standalone_mode=False)
    X = np.random.default_rng(0).normal(size=(80, 4))
    np.save(folder / "rows.npy", X.astype(np.float32))
    for name in methods:
        for more in MORE.get(name, []):
            _mapped.LARGE = _mapped.LARGE if more else 1
            rows = X if more else np.load(folder / "rows.npy", mmap_mode="r")
            for classes in ("12", "123"):  # many small pairs are solved at once
                codes = np.arange(len(X)) % len(classes)
                fit(rows, codes, tuple(classes), Settings(name, threads=1, max_iterations=None, **more))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        warm_up(sys.argv[1:], Path(place))
