"""Linear methods beside scikit-learn's LinearSVC (hinge loss, no intercept), one thread each, by turns.

    python benchmarks/linear.py steps  [--csv FILE] [SET ...]
    python benchmarks/linear.py gap    [--csv FILE] [--deadline 600] [SET ...]
    python benchmarks/linear.py factor [--csv FILE] [--deadline 600] [SET ...]

steps   seconds of the first ten sweeps of `liblinear` and of LinearSVC. Ratio: LinearSVC / liblinear.
gap     seconds to a relative gap (P - D*) / P <= 1e-3 for C = 0.01 ... 1000, D* the best dual value known. `avsf`
        runs until its own certificate says 1e-3; LinearSVC, which has none, with tolerances 1e-1 ... 1e-7 and no
        limit of sweeps, and its best time counts. What does not get there by the deadline has it for its time,
        with a star. Ratio: LinearSVC / avsf, of the times summed over C, but for those at which neither got there.
factor  update steps of `liblinear` and of `avsf` under the paper's stopping rules, epsilon 0.01 and 0.001, over
        C; the paper's factors for the same C are printed below.

SET is a name of datasets.lock, a path, or synthetic:...; of several classes the first is set against the rest.
Times are those of the processor, so that a busy machine spoils a comparison less; what ends within a second is run
five times by each, and the least time counts. From LinearSVC's the time of a fit
with no sweep at all is taken off (checks and copies of its arguments); ours include setting up.
"""

import argparse
import math
import multiprocessing
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import side_by_side as bench
from scipy import sparse

TEXT = ("news20", "sector", "synthetic:sparse-text?rows=20242&features=47236&test=0")
FEW_FEATURES = ("a9a", "w7a", "covtype")
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
GOAL = 1e-3
BEST_DUAL = 1e-5  # relative gap of the run that D* comes from
SWEEPS, TURNS = 10, 5
SHORT = 1.0  # seconds; what takes less is run as often as there are turns

Set = tuple[sparse.csr_array, np.ndarray]


def load(name: str) -> Set:
    """Return rows, and labels that are +1 in the first class."""
    from fwsvm.data import labels
    from fwsvm.data import load as load_set

    data = load_set(name)
    codes = labels.encode(data.train.labels, data.classes)
    X = sparse.csr_array(data.train.X)
    narrow = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))  # LinearSVC takes no other
    return sparse.csr_array(narrow, shape=X.shape), np.where(codes == 0, 1.0, -1.0)


def primal(w: np.ndarray, X: sparse.csr_array, y: np.ndarray, C: float) -> float:
    """Return P(w)."""
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum())


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds that some work takes, and what it yields.

    Of this thread: under a limit of processor time the clock of a process goes in ticks of 4 ms.
    """
    started = time.thread_time()
    result = work()
    return time.thread_time() - started, result


def in_turns(work: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    """Return what some timed work yields, and the least of its times if these are short."""
    spent, result = work()
    times = [spent, *(work()[0] for _ in range(TURNS - 1 if spent < SHORT else 0))]
    return min(times), result


def linear_svc(C: float, tolerance: float, sweeps: int) -> Any:
    """Return the peer; a seed makes a loose tolerance the beginning of a tight one's run."""
    from sklearn.svm import LinearSVC

    how = {"loss": "hinge", "dual": True, "fit_intercept": False, "random_state": 0}
    return LinearSVC(C=C, tol=tolerance, max_iter=sweeps, **how)


def start(method: str, X: sparse.csr_array, y: np.ndarray, C: float, **settings: Any) -> Any:
    """Return a run of ours on one thread, set up but not begun."""
    from fwsvm.problems.binary import Binary
    from fwsvm.solvers import Settings, resolve

    resolved = resolve(Settings(method=method, C=C, threads=1, **settings), X)
    problem = Binary(X, y, np.full(len(y), C), (0, 0))
    return resolved.family.start(problem, resolved.rule, resolved)


def outcome(run: Any, X: sparse.csr_array, y: np.ndarray, C: float) -> Any:
    """Return what the point of a run of ours is worth, from scratch."""
    from fwsvm.problems.binary import Binary
    from fwsvm.solvers.certify import Candidate

    problem = Binary(X, y, np.full(len(y), C), (0, 0))
    (found,) = run.resolved.family.certify([Candidate(problem, run.resolved, run.iterate())], exact=True)
    return found.outcome


def run_until_miss(run: Any, deadline: float, chunk: int = 100_000) -> tuple[float, bool]:
    """Advance a run to its end; return its seconds and whether it ended by the deadline.

    The certificate at its end is off the clock, as in `fwsvm train`; one that sends the run on is not.
    """
    spent, check = 0.0, 0.0
    while spent < deadline:
        used, taken = seconds(lambda: run.advance(chunk))
        spent += used + check
        if taken < chunk:
            check, ended = seconds(run.check_stop)
            if ended is not None:
                return spent, True
        else:
            check = 0.0
    return spent, False


def warm_up() -> None:
    """Compile before anything is timed."""
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(30, 5)))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    for method in ("liblinear", "avsf"):
        run = start(method, X, y, 1.0)
        run_until_miss(run, math.inf)
        outcome(run, X, y, 1.0)
    linear_svc(1.0, 1.0, 1).fit(X, y)


# -------------------------------------------------------------------------------------------------- step cost


def ten_sweeps(X: sparse.csr_array, y: np.ndarray, C: float) -> float:
    """Return nanoseconds a row and sweep of our first ten sweeps, with setting up."""

    def work() -> None:
        run = start("liblinear", X, y, C, stop="eps", tolerance=1e-300)
        while run.state.now["sweeps"][0] < SWEEPS:  # a sweep has fewer visits the more rows have left it
            run.advance(int(run.state.now["size"][0]))

    return seconds(work)[0] / SWEEPS / len(y) * 1e9


def steps(sets: list[str], _: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the cost of a step of both, and their ratio."""
    for name in sets:
        X, y = load(name)
        ours, theirs = [], []
        for _turn in range(TURNS):
            ours.append(ten_sweeps(X, y, 1.0))
            nothing = seconds(lambda: linear_svc(1.0, 1e-300, 0).fit(X, y))[0]  # noqa: B023
            all_ten = seconds(lambda: linear_svc(1.0, 1e-300, SWEEPS).fit(X, y))[0]  # noqa: B023
            theirs.append((all_ten - nothing) / SWEEPS / len(y) * 1e9)
        yield {
            "set": name,
            "rows": X.shape[0],
            "features": X.shape[1],
            "liblinear_ns": round(statistics.median(ours), 1),
            "linear_svc_ns": round(statistics.median(theirs), 1),
            "ratio": round(statistics.median(theirs) / statistics.median(ours), 2),
        }


# ----------------------------------------------------------------------------------------------- time to a gap


def _fit(send: Any, X: sparse.csr_array, y: np.ndarray, C: float, tolerance: float, deadline: float) -> None:
    limit = math.ceil(deadline)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))  # the system ends the process there
    warnings.simplefilter("ignore")
    nothing, _ = in_turns(lambda: seconds(lambda: linear_svc(C, tolerance, 0).fit(X, y)))
    spent, peer = in_turns(lambda: seconds(lambda: linear_svc(C, tolerance, 2**31 - 1).fit(X, y)))
    send.send((spent - nothing, peer.coef_[0]))


def of_linear_svc(X: sparse.csr_array, y: np.ndarray, C: float, dual: float, deadline: float) -> float:
    """Return the least time after which LinearSVC has the gap, or infinity."""
    processes = multiprocessing.get_context("fork")  # a fit cannot be stopped but with its process
    for tolerance in TOLERANCES:
        receive, send = processes.Pipe(duplex=False)
        child = processes.Process(target=_fit, args=(send, X, y, C, tolerance, deadline))
        child.start()
        send.close()
        try:
            spent, w = receive.recv()
        except EOFError:
            return math.inf
        finally:
            child.join()
        value = primal(w, X, y, C)
        if value - dual <= GOAL * value:
            return float(spent)
    return math.inf


def of_avsf(X: sparse.csr_array, y: np.ndarray, C: float, deadline: float) -> tuple[float, tuple[Any, bool]]:
    """Return our seconds to the goal with setting up, the run, and whether it got there."""
    set_up, run = seconds(lambda: start("avsf", X, y, C, tolerance=GOAL))
    spent, done = run_until_miss(run, deadline)
    return set_up + spent, (run, done)


def gap(sets: list[str], arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a line a set and C, and one of sums a set."""
    deadline, ratios = arguments.deadline, {}
    for name in sets:
        X, y = load(name)
        sums = np.zeros(2)
        for C in PENALTIES:
            run = start("avsf", X, y, C, tolerance=BEST_DUAL)
            run_until_miss(run, 2 * deadline)
            dual = outcome(run, X, y, C).dual
            spent, (run, done) = in_turns(lambda: of_avsf(X, y, C, deadline))  # noqa: B023
            theirs = of_linear_svc(X, y, C, dual, deadline)
            pair = np.array([min(spent, deadline), min(theirs, deadline)])
            known = done or theirs < deadline
            sums += pair * known
            yield {
                "set": name,
                "C": C,
                "avsf_seconds": f"{pair[0]:.3f}{'' if done else '*'}",
                "linear_svc_seconds": f"{pair[1]:.3f}{'' if theirs < deadline else '*'}",
                "ratio": round(float(pair[1] / pair[0]), 2) if known else "",
                "avsf_sweeps": round(run.counters.iterations / len(y), 1),
                "avsf_gap": f"{outcome(run, X, y, C).relative_gap:.1e}",
                "best_dual": f"{dual:.8g}",
            }
        if not sums.all():
            continue
        ratios[name] = float(sums[1] / sums[0])
        yield {"set": name, "C": "sum", "avsf_seconds": f"{sums[0]:.3f}", "linear_svc_seconds": f"{sums[1]:.3f}",
               "ratio": round(ratios[name], 2)}  # fmt: skip
    for kind, names in (("text", TEXT), ("few features", FEW_FEATURES)):
        here = [ratios[name] for name in names if name in ratios]
        if here:
            yield {"set": f"geometric mean, {kind}", "ratio": round(statistics.geometric_mean(here), 2)}


# ----------------------------------------------------------------------------------------- the paper's factor


def factor(sets: list[str], arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield update steps of both methods under the paper's rules, and the paper's own factors."""
    for name in sets:
        X, y = load(name)
        for epsilon in (0.01, 0.001):
            for C in PENALTIES:
                counts, gaps = {}, {}
                for method in ("liblinear", "avsf"):
                    run = start(method, X, y, C, stop="eps", tolerance=epsilon)
                    _, done = run_until_miss(run, arguments.deadline)
                    counts[method] = run.counters.steps, "" if done else "*"
                    gaps[method] = outcome(run, X, y, C).relative_gap
                (base, star), (ours, ours_star) = counts["liblinear"], counts["avsf"]
                yield {
                    "set": name,
                    "epsilon": epsilon,
                    "C": C,
                    "liblinear_steps": f"{base:.3g}{star}",
                    "avsf_steps": f"{ours:.3g}{ours_star}",
                    "factor": f"{base / ours:.2f}{star}",
                    "liblinear_gap": f"{gaps['liblinear']:.1e}",
                    "avsf_gap": f"{gaps['avsf']:.1e}",
                }
    yield from of_the_paper()


def of_the_paper() -> Iterator[dict[str, Any]]:
    """Yield the factors of 002's Tables 2 and 3 on text."""
    from fwsvm.analysis.published import table

    for file, epsilon in (("002-table2", 0.01), ("002-table3", 0.001)):
        printed = table(file)
        for problem in ("news 20", "news-20", "news20", "rcv1"):
            rows = printed[printed["problem"] == problem]
            for C in dict.fromkeys(rows["C"]):
                pair = rows[rows["C"] == C].set_index("solver")["steps"]
                base, ours = pair.get("baseline", ""), pair.get("AVSF", "")
                if base and ours:
                    yield {"set": f"002: {problem}", "epsilon": epsilon, "C": float(C), "liblinear_steps": base,
                           "avsf_steps": ours, "factor": f"{float(base) / float(ours):.2f}"}  # fmt: skip


def main() -> None:
    """Print lines as they come, and write them to --csv if given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=["steps", "gap", "factor"])
    parser.add_argument("sets", nargs="*", default=[*TEXT, *FEW_FEATURES])
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds a cell may take")
    parser.add_argument("--csv", help="write the figures to this file, too")
    arguments = parser.parse_intermixed_args()
    if arguments.what == "factor" and arguments.sets == [*TEXT, *FEW_FEATURES]:
        arguments.sets = list(TEXT)
    warnings.simplefilter("ignore")  # LinearSVC warns that ten sweeps are few
    warm_up()
    lines = []
    for line in {"steps": steps, "gap": gap, "factor": factor}[arguments.what](arguments.sets, arguments):
        lines.append(line)
        print("  ".join(f"{key}={value}" for key, value in line.items()), flush=True)
        bench.write(arguments.csv, lines)


if __name__ == "__main__":
    sys.exit(main())
