"""Our runs under `--protocol fw-svms` beside those of the program of 003's authors: counts, gaps and accuracies.

    python benchmarks/referee.py [--repeat 5] [--csv FILE] [SET:METHOD ...]
    python benchmarks/referee.py --candidates [--repeat 5] [--csv FILE] [SET ...]

Medians over seeds 0, 1, ...; theirs are single runs, in `THEIRS`: the licence of their program is restrictive, so it is
not run here. Their CVM counts each inner step twice, here each counts once. The second form compares what cvm draws its
candidates from, under `--protocol libcvm` at the width 1/(2D), by the gap over all rows that a sampled run ends with.
"""

import statistics
from itertools import product
from typing import Any, NamedTuple

import processes as bench


class Theirs(NamedTuple):
    """A run of the authors' program: iterations, inner steps, R, gap over all rows, support vectors, accuracy."""

    C: float
    width_rule: str
    iterations: float | None
    steps: float | None = None
    objective: float | None = None
    gap: float | None = None
    support_vectors: int | None = None
    test_accuracy: float | None = None


#: By set and method; where several runs of theirs are known, the middle of the range.
THEIRS = {
    "a1a:cvm": Theirs(1, "paper", 1053, 815e3, test_accuracy=0.844),
    "a1a:fw": Theirs(1, "paper", 332_660, test_accuracy=0.844),
    "a1a:mfw": Theirs(1, "paper", 7520, test_accuracy=0.844),
    "a1a:swap": Theirs(1, "paper", 4702),
    "a2a:cvm": Theirs(1, "paper", 1504, 1.49e6),
    "a2a:fw": Theirs(1, "paper", 274_557),
    "a2a:mfw": Theirs(1, "paper", 10_472),
    "a2a:swap": Theirs(1, "paper", 6224),
    "a4a:cvm": Theirs(1, "paper", 3046, 4.485e6),
    "a4a:fw": Theirs(1, "paper", 290_445),
    "a4a:mfw": Theirs(1, "paper", 18_535),
    "a4a:swap": Theirs(1, "paper", 12_949),
    "a5a:cvm": Theirs(1, "paper", 3984, 6.8e6, 3.8291e-4, 1.2e-4, 3976),
    "a5a:fw": Theirs(1, "paper", 230_967, None, 3.8509e-4, 1.1e-5, 4082),
    "a5a:mfw": Theirs(1, "paper", 23_074, None, 3.8288e-4, 8.4e-6, 4118),
    "a5a:swap": Theirs(1, "paper", 13_425, None, 3.8291e-4, 1.4e-5, 4079),
    "w7a:fw": Theirs(16, "paper", 513, test_accuracy=0.9778),
    "w7a:mfw": Theirs(16, "paper", 780, test_accuracy=0.9764),
    "w1a:fw": Theirs(1024, "paper", 299, test_accuracy=0.9747),
    "w1a:mfw": Theirs(1024, "paper", 523, test_accuracy=0.9720),
    "pendigits:cvm": Theirs(8, "libcvm", None, test_accuracy=0.9860),
    "pendigits:fw": Theirs(8, "libcvm", 14_684, test_accuracy=0.9828),
    "pendigits:mfw": Theirs(8, "libcvm", 22_829, test_accuracy=0.9848),
}
FIGURES = ("iterations", "steps", "objective", "gap", "support_vectors", "test_accuracy", "train_seconds")
ADULT = ("a1a", "a2a", "a5a")


def median_row(repeat: int, name: str, *words: object) -> dict[str, Any]:
    """Run with as many seeds, a fresh process each, and return the medians, and all iterations and gaps."""
    runs = [
        bench.run(bench.fwsvm("train", "--json", "--threads", 1, "--seed", seed, *words, name))
        for seed in range(repeat)
    ]
    row = {key: statistics.median(run[key] for run in runs) for key in FIGURES}
    return row | {f"{key}_all": " ".join(f"{run[key]:.7g}" for run in runs) for key in ("iterations", "gap")}


def beside_theirs(case: str, repeat: int) -> dict[str, Any]:
    """Return a line of ours beside theirs, with the ratio of iterations."""
    theirs, (name, _, method) = THEIRS[case], case.partition(":")
    ours = median_row(
        repeat, name, "-m", method, "--protocol", "fw-svms", "-C", theirs.C, "--width-rule", theirs.width_rule
    )
    known = {f"their_{key}": value for key, value in theirs._asdict().items() if value is not None}
    ratio = {} if theirs.iterations is None else {"ratio": ours["iterations"] / theirs.iterations}
    return {"set": name, "method": method} | known | ours | ratio


def by_candidates(name: str, candidates: str, repeat: int) -> dict[str, Any]:
    """Return a line of cvm with these candidates."""
    given = ("-m", "cvm", "--protocol", "libcvm", "--width-rule", "paper", "--candidates", candidates)
    ours = median_row(repeat, name, *given)
    return {"set": name, "candidates": candidates} | ours


def main() -> None:
    """Measure."""
    asked = bench.parser(__doc__, 5)
    asked.add_argument("cases", nargs="*", metavar="SET[:METHOD]")
    asked.add_argument("--candidates", action="store_true", help="compare what cvm draws its candidates from")
    given = asked.parse_intermixed_args()
    if given.candidates:
        pairs = product(given.cases or ADULT, ("uniform", "outside", "balanced"))
        lines = (by_candidates(name, which, given.repeat) for name, which in pairs)
    else:
        lines = (beside_theirs(case, given.repeat) for case in given.cases or THEIRS)
    bench.report(lines, given.csv)


if __name__ == "__main__":
    main()
