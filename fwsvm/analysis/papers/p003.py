"""Frandi et al. (2013): FW and MFW against CVM; claims, design and tables.

The printed numbers differ from what the paper's own Tables 2 and 3 give in five entries of Tables 5 and 6
(`fwsvm stats --published frandi`): p-values of Friedman's test are twice the right tail, F and p of accuracy break the
tie on a1a as unrounded means would, and W of FW against MFW in accuracy is not the one of the printed p.
"""

import math
import statistics

import numpy as np

from fwsvm.analysis import published
from fwsvm.analysis.claims.checks import (
    ADULT,
    ALL,
    LEAST_SPEEDUPS,
    SINGLE,
    WEB,
    alike,
    better,
    exact_speedups,
    friedman_rejects,
    growing_speedup,
    inverted,
    peak_speedup,
    quadratic_like_rbf,
    significant,
    with_quadratic,
)
from fwsvm.analysis.claims.model import (
    CheckResult,
    Fact,
    Number,
    View,
    all_hold,
    claims_of,
    conclude,
    number_of,
    of_growth,
    per_cent,
    points,
)
from fwsvm.analysis.comparisons import Design, Evaluation, conclusions, left_out, p_entry, two_hypotheses
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.measures import three_digits
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.tables import Entry, Row, Table

METHODS = ("cvm", "fw", "mfw")
SWEPT = ("shuttle", "kdd99-10pc", "pendigits", "reuters")
QUADRATIC = ("shuttle", "reuters", *WEB)
CHARACTERS = ("letter", "pendigits", "mnist", "usps", "usps-ext")
IJCNN_REUTERS = ("ijcnn1", "reuters")
LARGEST = ("protein", "kdd99-full")


def _loss_below_a_point(view: View) -> CheckResult | None:
    """Check that FW and MFW lose less than one point against CVM on most data sets."""
    facts = [
        Fact(f"{METHOD_NAMES[m]} on {view.title(d)}", cvm.low - mine.low, cvm.low - mine.low < 0.01)
        for m in ("fw", "mfw")
        for d, mine, cvm in view.pairs("accuracy", m, "cvm", ALL)
    ]
    return conclude("less than a point is lost against CVM", facts, "most", show=points)


def _flatter_growth(view: View) -> CheckResult | None:
    """Check that log time rises with log m more slowly for FW and MFW than for CVM, in most series.

    The slopes of two methods are of the data sets on which neither was cut short.
    """
    facts = []
    for name, datasets in (("Web", WEB), ("Adult", ADULT)):
        for method in ("fw", "mfw"):
            pairs = [pair for pair in view.pairs("time", method, "cvm", datasets) if _are_exact(*pair[1:])]
            rows = [(view.cell(d, method) or {})["rows"] for d, *_ in pairs]
            if len({*rows}) >= 3:
                seconds = [(mine.low, cvm.low) for _, mine, cvm in pairs]
                slope, of_cvm = np.polyfit(np.log(rows), np.log(seconds), 1)[0]
                where = f"{name} {METHOD_NAMES[method]} (CVM m^{of_cvm:.2f}, {len(pairs)} sets)"
                facts.append(Fact(where, float(slope), bool(slope < of_cvm)))
    exponents = ", ".join(f"{fact.where} m^{fact.value:.2f}" for fact in facts)
    return conclude(f"times grow as {exponents}; flatter than CVM's", facts, "most")


def _are_exact(a: Number, b: Number) -> bool:
    return a.exact and b.exact and a.low > 0 and b.low > 0


def _large_support(view: View) -> CheckResult | None:
    """Check that about 60% (50 to 70) of the rows of each Adult set become support vectors."""
    facts = []
    for dataset in ADULT:
        for method in METHODS:
            cell = view.cell(dataset, method)
            size = None if cell is None else number_of(cell, "size")
            if cell is not None and size is not None:
                part = size.low / cell["rows"]
                facts.append(Fact(f"{view.title(dataset)} {METHOD_NAMES[method]}", part, 0.5 <= part <= 0.7))
    return conclude("50 to 70% of the rows are support vectors", facts, show=per_cent)


def _underlined_is_fastest(view: View) -> CheckResult | None:
    """Check that the method underlined in Table 3 is the fastest; with the ratio of its time to the shortest."""
    facts = []
    for _, row in published.table("003-table3").iterrows():
        times = {m: view.number(published.lock_name(row["dataset"]), m, "time") for m in METHODS}
        known = {m: time.low for m, time in times.items() if time is not None and time.exact}
        if len(known) == len(METHODS):
            fastest = min(known, key=lambda m: known[m])
            best = row["underlined_as_best"].lower()
            where = f"{row['dataset']}, where {METHOD_NAMES[fastest]} is"
            facts.append(Fact(where, known[best] / known[fastest], fastest == best))
    return conclude("the underlined method is the fastest", facts)


def _more_moderate(view: View) -> CheckResult | None:
    """Check that FW's median speed-up is lower on the Adult series than on the Web series.

    The medians are over the data sets on which no time was cut short.
    """
    web, adult = ([*exact_speedups(view, "fw", on).values()] for on in (WEB, ADULT))
    if len(web) < LEAST_SPEEDUPS or len(adult) < LEAST_SPEEDUPS:
        return None
    medians = [statistics.median(values) for values in (web, adult)]
    said = f"FW's median speed-up: Web {three_digits(medians[0])}, Adult {three_digits(medians[1])}"
    return CheckResult(medians[1] < medians[0], said)


def _speedup_facts(view: View, least: float, datasets: tuple[str, ...]) -> list[Fact]:
    """Return whether FW and MFW reach a speed-up over CVM."""
    return [
        Fact(f"{METHOD_NAMES[m]} on {view.title(d)}", found.low, inverted(found.below(least)))
        for m in ("fw", "mfw")
        for d, found in view.speedups(m, datasets).items()
    ]


def twice_as_fast(view: View) -> CheckResult | None:
    """Check that FW and MFW are at least twice as fast as CVM on Protein and KDD99-Full."""
    return conclude("twice as fast as CVM", _speedup_facts(view, 2, LARGEST), strict=True)


def _two_orders(view: View) -> CheckResult | None:
    """Check that the larger of two speed-ups on KDD99-10pc is of the order of 100."""
    facts = _speedup_facts(view, 50, ("kdd99-10pc",))
    return conclude("speed-ups of 50 or more", facts, "any", strict=True) if len(facts) == 2 else None


def _within_ten(a: Number, b: Number) -> Fact:
    ratio = a / b
    return Fact("", ratio.low, 0.1 <= ratio.low <= 10 if ratio.exact else None)


def _swept(view: View) -> dict[tuple[str, str, str], dict[str, dict[float, Number]]]:
    """Return times by (experiment, profile, data set), method and C of the sweeps."""
    found: dict[tuple[str, str, str], dict[str, dict[float, Number]]] = {}
    for cell in sorted(view.swept, key=lambda cell: cell["C"]):
        time = number_of(cell, "time") if cell["dataset"] in SWEPT else None
        if time is not None:
            place = cell["experiment"], cell["profile"], cell["dataset"]
            found.setdefault(place, {}).setdefault(cell["method"], {})[cell["C"]] = time
    return found


def _faster_as_C_grows(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that for every method the time at the largest C of a sweep is below that at the smallest."""
    facts = []
    for (*_, dataset), methods in _swept(view).items():
        for method, times in methods.items():
            if len(times) > 1:
                first, last = times[min(times)], times[max(times)]
                shorter = last.below(first)
                where = f"{view.title(dataset)} {METHOD_NAMES[method]}"
                facts.append(Fact(where, last.low / first.low, shorter))
    return conclude("the time at the largest C is below that at the smallest", facts)


def _below_cvm_at_most_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that over the sweeps FW and MFW are faster than CVM at most values of C."""
    results = []
    for method in ("fw", "mfw"):
        facts = [
            Fact(
                f"{view.title(dataset)} C={C:g}",
                methods["cvm"][C].low / time.low,
                time.below(methods["cvm"][C]),
            )
            for (*_, dataset), methods in _swept(view).items()
            for C, time in methods.get(method, {}).items()
            if C in methods.get("cvm", {})
        ]
        results.append(conclude(f"{METHOD_NAMES[method]} is faster than CVM", facts, "most"))
    known = [result for result in results if result is not None]
    return all_hold(*(lambda _, one=one: one for one in known))(view) if known else None


CLAIMS = claims_of(
    "frandi",
    METHODS,
    {
        "web-faster": better("fw mfw", "cvm", "time", WEB),
        "web-less-accurate": all_hold(
            better("cvm", "fw mfw", "accuracy", WEB), alike(METHODS, "accuracy", WEB, difference=0.02)
        ),
        "web-fw-speedup-grows": growing_speedup("fw", WEB),
        "web-mfw-speedup-grows": growing_speedup("mfw", WEB),
        "web-fw-peak": peak_speedup("fw", WEB, at="w8a", least=100),
        "adult-fw-faster-but-two": better("fw", "cvm", "time", ADULT, except_on=("a1a", "a2a")),
        "adult-mfw-faster": better("mfw", "cvm", "time", ADULT),
        "adult-mfw-peak": peak_speedup("mfw", ADULT, at="a5a", least=14.5),
        "adult-fw-moderate": _more_moderate,
        "adult-fw-more-accurate": better("fw", "cvm", "accuracy", ADULT, "most"),
        "adult-mfw-as-accurate": better("mfw", "cvm", "accuracy", ADULT, or_equal=True, within=0.001),
        "adult-mfw-fastest": better("mfw", "fw cvm", "time", ADULT),
        "adult-two-exceptions": all_hold(
            better("fw", "cvm", "time", ADULT, except_on=("a1a", "a2a")),
            better("mfw", "cvm", "time", ADULT, except_on=()),
        ),
        "adult-support": _large_support,
        "scales-better": of_growth(_flatter_growth, [*WEB, *ADULT]),
        "friedman-time": friedman_rejects(METHODS, "time", 0.01),
        "friedman-accuracy": friedman_rejects(METHODS, "accuracy", 0.01),
        "fw-faster": significant("time", "fw", "cvm", "less", 0.01),
        "mfw-faster": significant("time", "mfw", "cvm", "less", 0.01),
        "fw-less-accurate": significant("accuracy", "fw", "cvm", "less", 0.01),
        "mfw-less-accurate": significant("accuracy", "mfw", "cvm", "less", 0.01),
        "fw-mfw-equally-fast": significant("time", "fw", "mfw", "two-sided", 0.1, stands=True),
        "mfw-more-accurate-than-fw": significant("accuracy", "fw", "mfw", "less", 0.01),
        "loss-below-a-point": _loss_below_a_point,
        "C-faster": _faster_as_C_grows,
        "C-below-cvm": _below_cvm_at_most_C,
        "quadratic-accuracy": quadratic_like_rbf(("fw", "mfw"), QUADRATIC),
        "quadratic-time": with_quadratic(
            "time",
            ("fw", "mfw"),
            QUADRATIC,
            _within_ten,
            "times with the quadratic kernel are within a factor of ten of RBF's",
            three_digits,
        ),
        "single-fw-slower": better("fw", "cvm", "time", SINGLE, except_on=("pendigits", "usps", "shuttle")),
        "characters-alike": alike(METHODS, "accuracy", CHARACTERS, difference=0.01),
        "ijcnn-reuters": all_hold(
            better("cvm", "fw mfw", "accuracy", IJCNN_REUTERS),
            better("fw mfw", "cvm", "time", IJCNN_REUTERS),
        ),
        "kdd10pc": all_hold(better("cvm", "fw mfw", "accuracy", ["kdd99-10pc"]), _two_orders),
        "protein-kddfull": all_hold(
            alike(METHODS, "accuracy", LARGEST, difference=0.005),
            better("fw mfw", "cvm", "time", LARGEST),
            twice_as_fast,
        ),
        "table3-underlines": _underlined_is_fastest,
    },
)

DESIGN = Design(
    "Frandi et al. (2013), section 5.6 and Table 4",
    METHODS,
    ("time", "accuracy"),
    (
        *two_hypotheses("fw", "cvm", "less", "less"),
        *two_hypotheses("mfw", "cvm", "less", "less"),
        *two_hypotheses("fw", "mfw", "two-sided", "less"),
    ),
)
LAYOUTS = {
    f"frandi-{number}": Layout(
        f"Frandi et al. (2013), Table {number}: {title}", "frandi", methods, kernel, measures
    )
    for number, title, methods, kernel, measures in (
        (2, "test accuracy (%)", METHODS, "rbf", ("accuracy",)),
        (3, "training time (s)", METHODS, "rbf", ("time",)),
        (
            8,
            "quadratic kernel, test accuracy (%) and training time (s)",
            METHODS[1:],
            "quadratic",
            ("accuracy", "time"),
        ),
    )
}

#: The tests of Tables 5 and 6, in the order of their columns.
TESTS = ("FW vs CVM", "MFW vs CVM", "FW vs MFW", "all three")


def test_tables(evaluation: Evaluation) -> dict[str, Table]:
    """Return Tables 5 and 6 (W and F, and p-values, ours above the printed ones) and 7 of this design's tests."""
    ours: dict[tuple[str, str], tuple[float, float]] = {
        (h.measure, " vs ".join(METHOD_NAMES[m] for m in (h.first, h.second))): (test.W, p)
        for h, test, p, *_ in evaluation.tested
    }
    ours |= {(one.measure, "all three"): (one.friedman.F, one.friedman.p_F) for one in evaluation.compared}
    notes = [
        f"{one.measure}: ours on {one.friedman.n} data sets, the paper's on 26" for one in evaluation.compared
    ]
    found = {}
    for number, what in (("5", "W of Wilcoxon's signed-rank test, F of Friedman's"), ("6", "p-values")):
        rows = []
        for name, *printed in published.table(f"003-table{number}").itertuples(index=False, name=None):
            both = [ours.get((name.lower(), test), (math.nan, math.nan)) for test in TESTS]
            mine = [p_entry(p) if number == "6" else Entry(f"{round(W, 4):g}", value=W) for W, p in both]
            rows.append(Row((name, "ours"), tuple(e if e.value == e.value else Entry("-") for e in mine)))
            rows.append(Row(("", "paper"), tuple(map(Entry, printed)), first=False))
        title = f"Frandi et al. (2013), Table {number}: {what}"
        found[number] = Table(
            title, ("measure", ""), TESTS, tuple(rows), (*notes, *left_out(evaluation), *evaluation.lacking)
        )
    return found | {"7": conclusions(evaluation, "Frandi et al. (2013), Table 7: conclusions")}
