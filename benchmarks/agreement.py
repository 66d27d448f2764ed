"""Do the linear methods and LIBLINEAR end at the same primal value? C = 0.01 ... 1000, hinge loss, no bias feature.

    python benchmarks/agreement.py [--csv FILE] [--deadline 60] [--gap 1e-4] [SET ...]

A line a set and C. `dual` is the best dual value of ours, which no primal value can be below. The gap of each column
is (P - dual) / P: of `avsf` and of our `liblinear`, run until their certificates say --gap; of LIBLINEAR itself
(package liblinear-official, `-s 3 -e 1e-5`, at most 300 sweeps as it is shipped); and of LinearSVC, the same code
without that limit, its tolerance tightened until the gap is reached. What does not get there by the deadline has
none. `agree` says of those that got to --gap whether all of them are between dual and dual / (1 - gap).

SET is a name of datasets.lock, a path, or synthetic:...; of several classes the first is set against the rest.
"""

import argparse
import multiprocessing
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import side_by_side as bench
from linear import (
    PENALTIES,
    TOLERANCES,
    Set,
    linear_svc,
    load,
    outcome,
    primal,
    run_until_miss,
    start,
    warm_up,
)
from scipy import sparse

SETS = (
    "a9a", "w7a", "news20", "sector", "covtype",
    "synthetic:gaussians?rows=2000&features=20&test=0", "synthetic:sparse-text?rows=2000&features=5000&test=0",
)  # fmt: skip
ROUNDING = 1e-9  # parts of P that a value may be below the dual


def of_ours(method: str, data: Set, C: float, gap: float, deadline: float) -> tuple[float, float]:
    """Return primal and dual of one of our methods, recomputed from scratch; P is infinite after the deadline."""
    run = start(method, *data, C, tolerance=gap)
    _, done = run_until_miss(run, deadline)
    found = outcome(run, *data, C)
    return (found.primal if done else np.inf), found.dual


def of_liblinear(data: Set, C: float) -> np.ndarray:
    """Return LIBLINEAR's weights."""
    from liblinear.liblinearutil import train

    X, y = data
    model = train(y, sparse.csr_matrix(X), f"-s 3 -c {C:.17g} -e 1e-5 -B -1 -q")
    w = np.zeros(X.shape[1])
    w[: model.nr_feature] = [model.w[j] for j in range(model.nr_feature)]
    return w * model.label[0]  # its weights are those of the label it saw first


def of_linear_svc(data: Set, C: float, tolerance: float) -> np.ndarray:
    """Return LinearSVC's weights."""
    return np.asarray(linear_svc(C, tolerance, 2**31 - 1).fit(*data).coef_[0])


def by_deadline(work: Callable[[], np.ndarray], deadline: float) -> np.ndarray | None:
    """Return what a process of its own finds within so many seconds of processor time, or None.

    Raises
    ------
    RuntimeError
        It ended without a result for another reason, which it has printed.
    """

    def there() -> None:
        limit = max(1, round(deadline))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        warnings.simplefilter("ignore")
        send.send(work())

    processes = multiprocessing.get_context("fork")
    receive, send = processes.Pipe(duplex=False)
    child = processes.Process(target=there)
    child.start()
    send.close()
    try:
        return np.asarray(receive.recv())
    except EOFError:
        child.join()
        if child.exitcode not in {-signal.SIGXCPU, -signal.SIGKILL}:
            raise RuntimeError(f"a run of a peer ended with {child.exitcode}") from None
        return None
    finally:
        child.join()


def lines(sets: list[str], gap: float, deadline: float) -> Iterator[dict[str, Any]]:
    """Yield what each of the four reached, a line a set and C."""
    for name in sets:
        data = load(name)
        for C in PENALTIES:
            pairs = {method: of_ours(method, data, C, gap, deadline) for method in ("avsf", "liblinear")}
            dual = max(pair[1] for pair in pairs.values())
            values = {method: pair[0] for method, pair in pairs.items()}
            w = by_deadline(lambda: of_liblinear(data, C), deadline)  # noqa: B023
            values["LIBLINEAR"] = primal(w, *data, C) if w is not None else np.inf
            values["LinearSVC"] = np.inf
            for tolerance in TOLERANCES[1:]:
                w = by_deadline(lambda: of_linear_svc(data, C, tolerance), deadline)  # noqa: B023
                if w is None:
                    break
                values["LinearSVC"] = primal(w, *data, C)
                if values["LinearSVC"] - dual <= gap * values["LinearSVC"]:
                    break
            gaps = {
                who: (value - dual) / value if np.isfinite(value) else np.nan for who, value in values.items()
            }
            there = [found for found in gaps.values() if found <= gap * (1 + ROUNDING)]
            below = (
                min(found for found in gaps.values() if np.isfinite(found)) < -ROUNDING if there else False
            )
            yield {
                "set": name, "C": C, "dual": f"{dual:.10g}",
                **{f"{who}_gap": f"{found:.1e}" if np.isfinite(found) else "" for who, found in gaps.items()},
                "there": len(there),
                "agree": "" if len(there) < 2 else not below,
            }  # fmt: skip


def main() -> None:
    """Print lines as they come, and write them to --csv if given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--deadline", type=float, default=60.0, help="seconds a run may take")
    parser.add_argument("--gap", type=float, default=1e-4, help="relative gap that counts as being there")
    parser.add_argument("--csv", help="write the figures to this file, too")
    arguments = parser.parse_intermixed_args()
    warm_up()
    found = []
    for line in lines(arguments.sets, arguments.gap, arguments.deadline):
        found.append(line)
        print("  ".join(f"{key}={value}" for key, value in line.items()), flush=True)
        bench.write(arguments.csv, found)


if __name__ == "__main__":
    sys.exit(main())
