"""003 (Frandi et al.): FW and MFW against CVM; claims, design and tables."""

import math
from functools import partial

import numpy as np

from fwsvm.analysis import published
from fwsvm.analysis.cells import is_certain, sweeps
from fwsvm.analysis.claims.checks import (
    ADULT,
    ALL,
    SINGLE,
    WEB,
    alike,
    all_hold,
    better,
    coverage,
    friedman_rejects,
    growing_speedup,
    is_bound,
    peak_speedup,
    quadratic_like_rbf,
    reaches,
    speedups,
    wilcoxon_rejects,
)
from fwsvm.analysis.claims.model import Check, CheckResult, Claim, View, of_growth
from fwsvm.analysis.comparisons import Design, Hypothesis, two_hypotheses
from fwsvm.analysis.layouts import Layout, per_dataset
from fwsvm.analysis.measures import three_digits

METHODS = ("cvm", "fw", "mfw")
SWEPT = ("shuttle", "kdd99-10pc", "pendigits", "reuters")
QUADRATIC = ("shuttle", "reuters", *WEB)


def loss_below_a_point(view: View) -> CheckResult | None:
    """Check that FW and MFW lose less than one point against CVM on most data sets."""
    losses = [(d, m, b - a) for m in ("fw", "mfw") for d, a, b in view.pairs("accuracy", m, "cvm", ALL)]
    if not losses:
        return None
    large = [
        f"{m.upper()} on {published.title(d)} ({100 * loss:.2f})" for d, m, loss in losses if loss >= 0.01
    ]
    said = f"a point or more is lost in {len(large)} of {len(losses)} comparisons"
    return CheckResult(2 * len(large) < len(losses), said + (f": {', '.join(large)}" if large else ""))


@partial(of_growth, on=(*WEB, *ADULT))
def flatter_growth(view: View) -> CheckResult | None:
    """Check that log time rises with log m more slowly for FW and MFW than for CVM, in most series.

    The slopes of two methods are of the data sets on which neither was cut short.
    """
    judged, flatter = [], 0
    for name, datasets in (("Web", WEB), ("Adult", ADULT)):
        for method in ("fw", "mfw"):
            whole = [d for d in datasets if not is_bound(view, method, d)]
            whole = [d for d in whole if all(view.value(d, one, "time") > 0 for one in (method, "cvm"))]
            slope, of_cvm = (_growth(view, one, whole) for one in (method, "cvm"))
            if slope is not None and of_cvm is not None:
                flatter += slope < of_cvm
                judged.append(f"{name} {method.upper()} m^{slope:.2f} (CVM {of_cvm:.2f}, {len(whole)} sets)")
    if not judged:
        return None
    said = f"times grow as {', '.join(judged)}; flatter than CVM's in {flatter} of {len(judged)}"
    return CheckResult(2 * flatter > len(judged), said)


def _growth(view: View, method: str, datasets: list[str]) -> float | None:
    """Return the exponent of time over rows that fits best; None for fewer than three numbers of rows."""
    rows = [float(str((view.cell(d, method) or {})["rows"])) for d in datasets]
    if len({*rows}) < 3:
        return None
    seconds = [view.value(d, method, "time") for d in datasets]
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])


def large_support(view: View) -> CheckResult | None:
    """Check that about 60% (50 to 70) of the rows of each Adult set become support vectors."""
    parts = {
        (d, m): view.value(d, m, "size") / float(str(cell["rows"]))
        for d in ADULT for m in METHODS if (cell := view.cell(d, m)) is not None
    }  # fmt: skip
    parts = {key: part for key, part in parts.items() if not math.isnan(part)}
    if not parts:
        return None
    outside = [d for (d, _), part in parts.items() if not 0.5 <= part <= 0.7]
    least, most = 100 * min(parts.values()), 100 * max(parts.values())
    said = f"support vectors are {least:.0f}% to {most:.0f}% of the rows"
    return CheckResult(not outside, said + coverage(len({d for d, _ in parts}), ADULT))


def underlined_is_fastest(view: View) -> CheckResult | None:
    """Check that the method underlined in Table 3 is the fastest."""
    table = published.table("003-table3")
    wrong, judged = [], 0
    for _, row in table.iterrows():
        dataset, best = published.lock_name(row["dataset"]), row["underlined_as_best"].lower()
        times = {m: view.value(dataset, m, "time") for m in METHODS}
        if any(map(math.isnan, times.values())) or any(view.cut_short(dataset, m) for m in METHODS):
            continue
        judged += 1
        fastest = min(times, key=lambda m: times[m])
        if fastest != best:
            wrong.append(f"{row['dataset']} ({fastest.upper()}, not {best.upper()})")
    if not judged:
        return None
    said = f"the underlined method is fastest on {judged - len(wrong)} of {judged} data sets"
    return CheckResult(not wrong, said + (f"; not on {', '.join(wrong)}" if wrong else ""))


def more_moderate(view: View) -> CheckResult | None:
    """Check that FW's median speed-up is lower on the Adult series than on the Web series.

    The medians are over the data sets on which no time was cut short.
    """
    web, adult = (
        {d: s for d, s in speedups(view, "fw", on).items() if not is_bound(view, "fw", d)}
        for on in (WEB, ADULT)
    )
    if len(web) < 3 or len(adult) < 3:
        return None
    said = (
        f"FW's speed-ups: Web {three_digits(min(web.values()))} to {three_digits(max(web.values()))}, Adult "
    )
    said += f"{three_digits(min(adult.values()))} to {three_digits(max(adult.values()))}"
    return CheckResult(float(np.median(list(adult.values()))) < float(np.median(list(web.values()))), said)


def twice_as_fast(view: View) -> CheckResult | None:
    """Check that FW and MFW are at least twice as fast as CVM on Protein and KDD99-Full."""
    on = ["protein", "kdd99-full"]
    found = [(m, d, s) for m in ("fw", "mfw") for d, s in speedups(view, m, on).items()]
    sure = [reaches(view, m, d, s, 2) for m, d, s in found]
    if not found or (None in sure and False not in sure):
        return None
    decided = [s for (_, _, s), is_sure in zip(found, sure, strict=True) if is_sure is not None]
    return CheckResult(all(sure), f"least speed-up {three_digits(min(decided))}")


def up_to_two_orders(view: View) -> CheckResult | None:
    """Check that CVM is more accurate on KDD99-10pc and the larger speed-up is of the order of 100."""
    accurate = all_hold(*(better("cvm", m, "accuracy", ["kdd99-10pc"]) for m in ("fw", "mfw")))(view)
    found = {m: s for m in ("fw", "mfw") for s in speedups(view, m, ["kdd99-10pc"]).values()}
    sure = [reaches(view, m, "kdd99-10pc", s, 50) for m, s in found.items()]
    if accurate is None or len(found) < 2 or (None in sure and True not in sure):
        return None
    said = f"{accurate.evidence}; speed-ups {three_digits(found['fw'])} (FW) and {three_digits(found['mfw'])} (MFW)"
    return CheckResult(accurate.holds and True in sure, said)


def quadratic_time(view: View) -> CheckResult | None:
    """Check that the quadratic kernel's times are within a factor of ten of the RBF kernel's."""
    factors = {}
    for dataset in QUADRATIC:
        for method in ("fw", "mfw"):
            factor = view.value(dataset, method, "time", "quadratic") / view.value(dataset, method, "time")
            cut = [view.cell(dataset, method, kernel) for kernel in ("quadratic", "rbf")]
            if not math.isnan(factor) and not any(cell and cell["censored"] for cell in cut):
                factors[dataset, method] = factor
    if not factors:
        return None
    far = [
        f"{published.title(d)} {m.upper()} ({three_digits(f)})"
        for (d, m), f in factors.items()
        if not 0.1 <= f <= 10
    ]
    said = f"times with the quadratic kernel are {three_digits(min(factors.values()))} to "
    said += f"{three_digits(max(factors.values()))} times those with RBF"
    return CheckResult(not far, said + (f"; beyond ten: {', '.join(far)}" if far else ""))


def faster_as_C_grows(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that for every method the time at the largest C of a sweep is below that at the smallest."""
    found = []
    swept = sweeps(view.all)
    for (dataset, method, *_), cells in swept[swept["dataset"].isin(SWEPT)].groupby(
        ["dataset", "method", "experiment", "profile"], sort=False
    ):
        known = cells.dropna(subset=["train_seconds"]).sort_values("C")
        if len(known) < 2:
            continue
        (first, last), (first_cut, last_cut) = (
            known["train_seconds"].iloc[[0, -1]],
            known["censored"].iloc[[0, -1]],
        )
        if is_certain(last, last_cut, first, first_cut):
            found.append((f"{published.title(str(dataset))} {str(method).upper()}", last / first))
    if not found:
        return None
    slower = [name for name, ratio in found if ratio >= 1]
    said = "time at the largest C over that at the smallest: " + ", ".join(
        f"{n} {three_digits(r)}" for n, r in found
    )
    return CheckResult(not slower, said)


def below_cvm_at_most_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that over the sweeps FW and MFW are faster than CVM at most values of C."""
    swept = sweeps(view.all)
    known = {
        (cell["experiment"], cell["profile"], cell["dataset"], cell["C"], cell["method"]): (
            cell["train_seconds"],
            bool(cell["censored"]),
        )
        for cell in swept[swept["dataset"].isin(SWEPT)].dropna(subset=["train_seconds"]).to_dict("records")
    }
    said, holds = [], True
    for method in ("fw", "mfw"):
        pairs = [(time, known[*where, "cvm"]) for (*where, m), time in known.items()
                 if m == method and (*where, "cvm") in known]  # fmt: skip
        pairs = [(mine, cvm) for mine, cvm in pairs if is_certain(*mine, *cvm)]
        if pairs:
            won = sum(mine[0] < cvm[0] for mine, cvm in pairs)
            holds &= 2 * won > len(pairs)
            said.append(f"{method.upper()} faster than CVM at {won} of {len(pairs)} points (data set, C)")
    return CheckResult(holds, "; ".join(said)) if said else None


CHARACTERS = ("letter", "pendigits", "mnist", "usps", "usps-ext")


def _claim(name: str, place: str, statement: str, check: Check, printed: str | None = "003") -> Claim:
    return Claim(f"003-{name}", place, statement, METHODS, check, printed)


CLAIMS = [
    _claim("web-faster", "5.3, Figure 3", "FW and MFW are faster than CVM on every Web data set.",
           all_hold(better("fw", "cvm", "time", WEB), better("mfw", "cvm", "time", WEB))),
    _claim("web-less-accurate", "5.3, Figure 3",
           "FW and MFW are slightly less accurate than CVM on the Web data sets.",
           all_hold(better("cvm", "fw", "accuracy", WEB), better("cvm", "mfw", "accuracy", WEB),
                alike(METHODS, "accuracy", WEB, difference=0.02))),
    _claim("web-fw-speedup-grows", "5.3 and 5.9, Figure 3",
           "FW's speed-up over CVM increases monotonically along the Web series, from 12 to 107.",
           growing_speedup("fw", WEB)),
    _claim("web-mfw-speedup-grows", "5.3 and 5.9, Figure 3",
           "MFW's speed-up over CVM increases monotonically along the Web series, from 2 to almost 10.",
           growing_speedup("mfw", WEB)),
    _claim("web-fw-peak", "5.9",
           "On the Web series FW's speed-up peaks at two orders of magnitude, on the largest set.",
           peak_speedup("fw", WEB, at="w8a", least=100)),
    _claim("adult-fw-faster-but-two", "5.4, Figure 4",
           "CVM beats FW in time on just the two smallest Adult data sets.",
           better("fw", "cvm", "time", ADULT, except_on=("a1a", "a2a"))),
    _claim("adult-mfw-faster", "5.4, Figure 4", "MFW is faster than CVM on every Adult data set.",
           better("mfw", "cvm", "time", ADULT)),
    _claim("adult-mfw-peak", "5.4, Figure 4",
           "MFW's speed-up over CVM reaches 15 on the fifth Adult data set.",
           peak_speedup("mfw", ADULT, at="a5a", least=14.5)),
    _claim("adult-fw-moderate", "5.4",
           "FW's speed-ups on the Adult series are more moderate than on the Web series.",
           more_moderate),
    _claim("adult-fw-more-accurate", "5.4, Figure 4", "On most Adult data sets FW is more accurate than CVM.",
           better("fw", "cvm", "accuracy", ADULT, "most")),
    _claim("adult-mfw-as-accurate", "5.4, Figure 4",
           "MFW is as accurate as CVM on the Adult data sets (read as: nowhere a tenth of a point below).",
           better("mfw", "cvm", "accuracy", ADULT, or_equal=True, within=0.001)),
    _claim("adult-mfw-fastest", "5.9",
           "MFW has a clear advantage in time over FW and CVM on the Adult series.",
           all_hold(better("mfw", "fw", "time", ADULT), better("mfw", "cvm", "time", ADULT))),
    _claim("adult-two-exceptions", "5.9", "Both FW and MFW beat CVM's time on all but two Adult data sets.",
           all_hold(better("fw", "cvm", "time", ADULT, except_on=("a1a", "a2a")),
                better("mfw", "cvm", "time", ADULT, except_on=()))),
    _claim("adult-support", "5.9, Figure 4",
           "On the Adult series some 60% of the rows are support vectors, in all methods (read as 50-70).",
           large_support, None),
    _claim("scales-better", "abstract, 5.3",
           "FW and MFW scale better with m than CVM in most cases.",
           flatter_growth),
    _claim("friedman-time", "5.6, Table 6", "The three methods differ in training time (Friedman, 0.01).",
           friedman_rejects(METHODS, "time", 0.01)),
    _claim("friedman-accuracy", "5.6, Table 6", "The three methods differ in accuracy (Friedman, 0.01).",
           friedman_rejects(METHODS, "accuracy", 0.01)),
    _claim("fw-faster", "5.6, Table 7", "FW is faster than CVM (Wilcoxon, one-sided, 0.01).",
           wilcoxon_rejects(Hypothesis("time", "fw", "cvm", "less"), 0.01)),
    _claim("mfw-faster", "5.6, Table 7", "MFW is faster than CVM (Wilcoxon, one-sided, 0.01).",
           wilcoxon_rejects(Hypothesis("time", "mfw", "cvm", "less"), 0.01)),
    _claim("fw-less-accurate", "5.6, Table 7", "CVM is more accurate than FW (Wilcoxon, one-sided, 0.01).",
           wilcoxon_rejects(Hypothesis("accuracy", "fw", "cvm", "less"), 0.01)),
    _claim("mfw-less-accurate", "5.6, Table 7", "CVM is more accurate than MFW (Wilcoxon, one-sided, 0.01).",
           wilcoxon_rejects(Hypothesis("accuracy", "mfw", "cvm", "less"), 0.01)),
    _claim("fw-mfw-equally-fast", "5.6, Table 7",
           "That FW and MFW are equally fast cannot be rejected (Wilcoxon, two-sided, 0.1).",
           wilcoxon_rejects(Hypothesis("time", "fw", "mfw", "two-sided"), 0.1, stands=True)),
    _claim("mfw-more-accurate-than-fw", "5.6, Table 7",
           "FW is less accurate than MFW (Wilcoxon, one-sided, 0.01).",
           wilcoxon_rejects(Hypothesis("accuracy", "fw", "mfw", "less"), 0.01)),
    _claim("loss-below-a-point", "5.6", "The loss in accuracy against CVM is usually below one per cent.",
           loss_below_a_point),
    _claim("C-faster", "5.7, Figures 7 and 8",
           "As C grows, all methods become faster.",
           faster_as_C_grows, None),
    _claim("C-below-cvm", "5.7, Figures 7 and 8",
           "Whatever C, the times of FW and MFW are most of the time below CVM's.",
           below_cvm_at_most_C, None),
    _claim("quadratic-accuracy", "5.8, Table 8",
           "With the quadratic kernel accuracies are comparable to RBF's (read as: within two points).",
           quadratic_like_rbf(("fw", "mfw"), QUADRATIC)),
    _claim("quadratic-time", "5.8, Table 8",
           "With the quadratic kernel times are comparable to RBF's (read as: within a factor of ten).",
           quadratic_time),
    _claim("single-fw-slower", "5.9",
           "Among the single data sets CVM beats FW in time on just Pendigits, USPS and Shuttle.",
           better("fw", "cvm", "time", SINGLE, except_on=("pendigits", "usps", "shuttle"))),
    _claim("characters-alike", "5.9",
           "On Letter, Pendigits, MNIST, USPS and USPS-Ext all methods test alike (read as: within a point).",
           alike(METHODS, "accuracy", CHARACTERS, difference=0.01)),
    _claim("ijcnn-reuters", "5.9", "On IJCNN and Reuters CVM is more accurate and slower than FW and MFW.",
           all_hold(*(better("cvm", m, "accuracy", ["ijcnn1", "reuters"]) for m in ("fw", "mfw")),
                *(better(m, "cvm", "time", ["ijcnn1", "reuters"]) for m in ("fw", "mfw")))),
    _claim("kdd10pc", "5.9",
           "On KDD99-10pc CVM is more accurate, and speed-ups reach two orders of magnitude.",
           up_to_two_orders),
    _claim("protein-kddfull", "5.9",
           "On Protein and KDD99-Full FW and MFW are as accurate as CVM (half a point) and faster (twice).",
           all_hold(alike(METHODS, "accuracy", ["protein", "kdd99-full"], difference=0.005),
                better("fw", "cvm", "time", ["protein", "kdd99-full"]),
                better("mfw", "cvm", "time", ["protein", "kdd99-full"]),
                twice_as_fast)),
    _claim("table3-underlines", "Table 3", "The method underlined as best in Table 3 is the fastest.",
           underlined_is_fastest),
]  # fmt: skip

DESIGN = Design(
    "003, section 5.6 and Table 4",
    METHODS,
    ("time", "accuracy"),
    (
        *two_hypotheses("fw", "cvm", "less", "less"),
        *two_hypotheses("mfw", "cvm", "less", "less"),
        *two_hypotheses("fw", "mfw", "two-sided", "less"),
    ),
)
LAYOUTS = {
    "003-2": Layout("003, Table 2: test accuracy (%)", "003", METHODS, "rbf", ("accuracy",), per_dataset),
    "003-3": Layout("003, Table 3: training time (s)", "003", METHODS, "rbf", ("time",), per_dataset),
    "003-8": Layout("003, Table 8: quadratic kernel, test accuracy (%) and training time (s)", "003",
                    ("fw", "mfw"), "quadratic", ("accuracy", "time"), per_dataset),
}  # fmt: skip
