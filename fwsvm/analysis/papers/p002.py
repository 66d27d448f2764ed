"""002 (Glasmachers and Dogan): AVSF against liblinear's dual coordinate descent; claims and tables."""

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.claims.model import Check, CheckResult, Claim, View, listed_titles
from fwsvm.analysis.layouts import Layout, over_C
from fwsvm.analysis.measures import three_digits

METHODS = ("liblinear", "avsf")
OF_ONE = ["experiment", "profile"]  # columns of runs whose times are compared


def _times(view: View, column: str = "train_seconds") -> pd.DataFrame:
    """Return rows (dataset, tolerance, C) with both solvers' values and whether each was cut short.

    All rows of a data set are of the experiment that has most of them.
    """
    key = ["dataset", "tolerance", "C"]
    cells = view.all.drop_duplicates([*OF_ONE, *key, "method"])
    wide = cells.pivot_table(
        index=[*OF_ONE, *key],
        columns="method",
        values=[column, "censored"],
        aggfunc="first",
        sort=False,
    )
    both = [(column, method) in wide for method in METHODS]
    if not all(both):
        return pd.DataFrame(columns=[*key, *METHODS, "liblinear_cut", "avsf_cut", "speedup"])
    table = pd.DataFrame({method: wide[column, method] for method in METHODS})
    for method in METHODS:
        table[f"{method}_cut"] = wide["censored", method].fillna(value=False).astype(bool)
    table["speedup"] = table["liblinear"] / table["avsf"]
    table = table.dropna(subset=list(METHODS)).reset_index()
    counts = table.groupby(["dataset", *OF_ONE], sort=False)["C"].transform("size")
    most = table.assign(counts=counts).sort_values("counts", ascending=False, kind="stable")
    chosen = most.drop_duplicates("dataset")[["dataset", *OF_ONE]]
    return table.merge(chosen, on=["dataset", *OF_ONE]).drop(columns=OF_ONE)


def _sure(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the comparisons that a time limit leaves open."""
    faster_so_far = table["liblinear"] < table["avsf"]
    unknown = table["avsf_cut"] & (table["liblinear_cut"] | ~faster_so_far)
    unknown |= table["liblinear_cut"] & faster_so_far
    return table[~unknown]


def _where(table: pd.DataFrame, most: int = 6) -> str:
    """Name the rows: problem, C and epsilon."""
    named = [
        f"{published.title(r['dataset'])} C={r['C']:g} eps={r['tolerance']:g} ({three_digits(r['speedup'])})"
        for r in table.to_dict("records")
    ]
    return ", ".join(named[:most]) + (f" and {len(named) - most} more" if len(named) > most else "")


def _wins(winner: str, *, least_C: float = 0, most_C: float = 1e9, problems: str = "all") -> Check:
    """Return the check that a solver is faster at all C in a range, on cover type, the others or all."""

    def check(view: View) -> CheckResult | None:
        table = _sure(_times(view))
        table = table[(table["C"] >= least_C) & (table["C"] <= most_C)]
        if problems != "all":
            table = table[(table["dataset"] == "covtype") == (problems == "covtype")]
        if table.empty:
            return None
        won = table["speedup"] > 1 if winner == "avsf" else table["speedup"] < 1
        said = f"{winner} is faster in {int(won.sum())} of {len(table)} comparisons; liblinear / AVSF is "
        said += f"{three_digits(table['speedup'].min())} to {three_digits(table['speedup'].max())}"
        return CheckResult(
            bool(won.all()), said + (f"; not at {_where(table[~won])}" if not won.all() else "")
        )

    return check


def _same_solution(view: View) -> CheckResult | None:
    """Check that the two solvers' primal objectives agree to 1% at every converged pair."""
    table = _times(view, "objective")
    table = table[~table["liblinear_cut"] & ~table["avsf_cut"]]
    if table.empty:
        return None
    apart = (table["liblinear"] - table["avsf"]).abs() / table[list(METHODS)].abs().max(axis=1)
    said = f"objectives differ by at most {100 * apart.max():.3g}% in {len(table)} pairs"
    return CheckResult(bool((apart <= 0.01).all()), said)


def _order_of_magnitude(view: View) -> CheckResult | None:
    """Check that the largest speed-up is about ten or more (at least 9.5) on most problems.

    A problem on which a time limit cut liblinear short before that counts neither way.
    """
    times = _times(view)
    table = _sure(times)
    if table.empty:
        return None
    top = table.groupby("dataset", sort=False)["speedup"].max()
    bounds = times.groupby("dataset", sort=False)["liblinear_cut"].any()
    left_open = bounds.reindex(top.index) & (top < 9.5)
    judged = top[~left_open]
    if judged.empty:
        return None
    said = "largest speed-ups: " + ", ".join(
        f"{published.title(str(d))} {three_digits(s)}" for d, s in judged.items()
    )
    open_ones = [f"{published.title(str(d))} {three_digits(s)}" for d, s in top[left_open].items()]
    said += f"; left open by time limits: {', '.join(open_ones)}" if open_ones else ""
    return CheckResult(2 * int((judged >= 9.5).sum()) > len(judged), said)


def _largest_for_large_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that on every problem but cover type the largest speed-up falls at C of 10 or more."""
    table = _sure(_times(view))
    table = table[table["dataset"] != "covtype"]
    if table.empty or table["C"].max() < 10:
        return None
    at = table.loc[table.groupby(["dataset", "tolerance"], sort=False)["speedup"].idxmax()]
    bounds = table[table["liblinear_cut"]][["dataset", "tolerance"]].drop_duplicates()
    open_ended = (
        at[["dataset", "tolerance"]].merge(bounds, how="left", indicator=True)["_merge"].eq("both").to_numpy()
    )
    early = at[
        (at["C"] < 10) & ~open_ended
    ]  # where liblinear was cut short at a larger C, that one may be larger yet
    left_open = f"; left open by time limits at {_where(at[open_ended])}" if open_ended.any() else ""
    return CheckResult(early.empty, f"the largest speed-ups are at {_where(at, 12)}{left_open}")


def _covtype_difference_diminishes(view: View) -> CheckResult | None:
    """Check that on cover type liblinear's advantage at the largest C is smaller than at the smallest.

    A tolerance at which a time limit leaves that open is left out.
    """
    table = _sure(_times(view))
    table = table[table["dataset"] == "covtype"].sort_values("C")
    said, holds = [], True
    for tolerance, rows in table.groupby("tolerance"):
        if len(rows) > 1:
            factors = 1 / rows["speedup"]
            smaller = bool(factors.iloc[-1] < factors.iloc[0])
            first, last = rows.iloc[0], rows.iloc[-1]
            if (
                (last["avsf_cut"] or first["liblinear_cut"])
                if smaller
                else (last["liblinear_cut"] or first["avsf_cut"])
            ):
                continue
            holds &= smaller
            said.append(f"eps={tolerance:g}: AVSF / liblinear is {', '.join(map(three_digits, factors))}")
    return CheckResult(holds, "; ".join(said)) if said else None


def _covtype_tolerance(view: View) -> CheckResult | None:
    """Check that on cover type the two tolerances take nearly the same time (within 15%).

    A time that was cut short counts where it is too long already beside one that was not.
    """
    table = _times(view)
    here = table[table["dataset"] == "covtype"].set_index(["tolerance", "C"])
    if not {0.01, 0.001} <= {*here.index.get_level_values("tolerance")}:
        return None
    found = []
    for method in METHODS:
        rough, fine = here.loc[0.01], here.loc[0.001]
        ratio, cut = fine[method] / rough[method], f"{method}_cut"
        rough_cut, fine_cut = (each[cut].reindex(ratio.index) == True for each in (rough, fine))  # noqa: E712 - NaN
        found.append(ratio[~(rough_cut | fine_cut) | (fine_cut & ~rough_cut & (ratio >= 1.15))])
    ratios = pd.concat(found).dropna()
    if ratios.empty:
        return None
    said = f"time at eps=0.001 over eps=0.01: {three_digits(ratios.min())} to {three_digits(ratios.max())}"
    return CheckResult(bool(((ratios < 1.15) & (ratios > 1 / 1.15)).all()), said)


def _grows_with_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that times at the largest C are at least ten times those at the smallest, for both solvers.

    A time that was cut short counts at the largest C where it is ten times as long already.
    """
    table = _times(view)
    grown = {}
    for (dataset, tolerance), rows in table.sort_values("C", kind="stable").groupby(
        ["dataset", "tolerance"], sort=False
    ):
        if len(rows) > 1:
            for method in METHODS:
                factor = rows[method].iloc[-1] / rows[method].iloc[0]
                first_cut, last_cut = rows[f"{method}_cut"].iloc[[0, -1]]
                if not first_cut and (not last_cut or factor >= 10):
                    grown[dataset, tolerance, method] = factor
    if not grown:
        return None
    slow = [f"{published.title(str(d))} {m} ({three_digits(g)})" for (d, _, m), g in grown.items() if g < 10]
    said = (
        f"times grow by factors of {three_digits(min(grown.values()))} to {three_digits(max(grown.values()))}"
    )
    return CheckResult(
        not slow, said + (f"; less than tenfold: {', '.join(dict.fromkeys(slow))}" if slow else "")
    )


def _dominated_by_largest_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that the largest C takes at least half of the time of the whole grid, for both solvers.

    Where times were cut short, a row counts if what they are at least decides.
    """
    table = _times(view)
    shares = {}
    for (dataset, tolerance), rows in table.sort_values("C", kind="stable").groupby(
        ["dataset", "tolerance"], sort=False
    ):
        if rows["C"].max() >= 1000:
            for method in METHODS:
                share = rows[method].iloc[-1] / rows[method].sum()
                cut = rows[f"{method}_cut"].to_numpy(dtype=bool)
                if not (cut[-1] and share < 0.5) and not (cut[:-1].any() and share >= 0.5):
                    shares[dataset, tolerance, method] = share
    if not shares:
        return None
    small = [
        f"{published.title(str(d))} {m} eps={t:g} ({100 * s:.0f}%)"
        for (d, t, m), s in shares.items()
        if s < 0.5
    ]
    least, most = 100 * min(shares.values()), 100 * max(shares.values())
    said = f"the largest C takes {least:.0f}% to {most:.0f}% of a row's time"
    return CheckResult(not small, said + (f"; less than half: {', '.join(small)}" if small else ""))


def _steps_cost_more(view: View) -> CheckResult | None:
    """Check that in the median a step of AVSF takes longer than one of liblinear, but not twice as long."""
    seconds, steps = _times(view), _times(view, "steps")
    if seconds.empty or steps.empty:
        return None
    key = ["dataset", "tolerance", "C"]
    joined = seconds.merge(steps, on=key, suffixes=("_s", "_n"))
    ratio = (joined["avsf_s"] / joined["avsf_n"]) / (joined["liblinear_s"] / joined["liblinear_n"])
    ratio = ratio.dropna()
    if ratio.empty:
        return None
    said = f"seconds per step, AVSF over liblinear: median {ratio.median():.2f}, "
    said += f"{ratio.min():.2f} to {ratio.max():.2f} in {len(ratio)} pairs"
    return CheckResult(1 < ratio.median() < 2, said)


def _finishes_first(view: View) -> CheckResult | None:
    """Check that where one of the two was cut short, and not the other, it was liblinear."""
    table = _times(view)
    alone = table[table["liblinear_cut"] != table["avsf_cut"]]
    if alone.empty:
        return None
    both = int((table["liblinear_cut"] & table["avsf_cut"]).sum())
    said = f"cut short alone: liblinear {alone['liblinear_cut'].sum()} times, AVSF {alone['avsf_cut'].sum()} times"
    said += f"; both {both} times" if both else ""
    return CheckResult(not bool(alone["avsf_cut"].any()), said)


def _saying_what_on(check: Check) -> Check:
    """Return the check with a remark if it was put to other problems than the paper's."""

    def remarked(view: View) -> CheckResult | None:
        finding = check(view)
        others = [d for d in dict.fromkeys(view.all["dataset"]) if d not in published.series("linear")]
        if finding is None or not others:
            return finding
        return CheckResult(
            finding.holds, f"{finding.evidence} [with problems not the paper's: {listed_titles(others)}]"
        )

    return remarked


def _claim(name: str, place: str, statement: str, check: Check, printed: str | None = "002") -> Claim:
    check = check if name.startswith("covtype") else _saying_what_on(check)
    return Claim(f"002-{name}", place, statement, METHODS, check, printed)


CLAIMS = [
    _claim("same-solution", "4", "Both algorithms deliver the same solution (read as: objectives within 1%).",
           _same_solution, None),
    _claim("baseline-at-small-C", "5", "For small C (0.01) the original algorithm is superior.",
           _wins("liblinear", most_C=0.01)),
    _claim("avsf-at-large-C", "5",
           "For large C (100 and 1000) AVSF is faster on every problem but cover type.",
           _wins("avsf", least_C=100, problems="others")),
    _claim("covtype-baseline", "5", "On cover type the original algorithm is superior for all C.",
           _wins("liblinear", problems="covtype")),
    _claim("covtype-diminishes", "5", "On cover type the difference diminishes for large C.",
           _covtype_difference_diminishes),
    _claim("covtype-tolerance", "5",
           "On cover type both target accuracies take nearly the same time (within 15%).",
           _covtype_tolerance),
    _claim("order-of-magnitude", "5 and 6", "On most problems speed-ups reach an order of magnitude or more.",
           _order_of_magnitude),
    _claim("largest-for-large-C", "6", "Speed-ups are largest for large C (read as: C of 10 or more).",
           _largest_for_large_C),
    _claim("time-grows-with-C", "5",
           "Training times increase drastically with C (read as: tenfold over the grid).",
           _grows_with_C),
    _claim("grid-dominated", "5",
           "The cost of a grid over C is dominated by the largest C (read as: half of it or more).",
           _dominated_by_largest_C),
    _claim("steps-cost-more", "4",
           "A step of AVSF is slightly more costly than one of the original algorithm.",
           _steps_cost_more),
    _claim("avsf-finishes", "4, Tables 2 and 3", "Where just one algorithm met the deadline, it was AVSF.",
           _finishes_first),
]  # fmt: skip

LAYOUTS = {
    "002-2": Layout("002, Table 2, epsilon 0.01", "002", METHODS, None, ("time", "steps"), over_C(0.01)),
    "002-3": Layout("002, Table 3, epsilon 0.001", "002", METHODS, None, ("time", "steps"), over_C(0.001)),
}  # fmt: skip
