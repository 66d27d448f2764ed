"""Frandi et al. (2013): FW and MFW against CVM; claims, design and tables.

The printed numbers differ from what the paper's own Tables 2 and 3 give in five entries of Tables 5 and 6
(`fwsvm stats --published frandi`): p-values of Friedman's test are twice the right tail, F and p of accuracy break the
tie on a1a as unrounded means would, and W of FW against MFW in accuracy is not the one of the printed p.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

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
    friedman_rejects,
    growing_speedup,
    peak_speedup,
    quadratic_like_rbf,
    significant,
)
from fwsvm.analysis.claims.model import (
    CheckResult,
    Fact,
    Number,
    View,
    all_hold,
    all_of,
    claims_of,
    conclude,
    every,
    makes_check,
    measured_by_C,
    of_growth,
    per_cent,
)
from fwsvm.analysis.comparisons import Design, Evaluation, conclusions, p_entry, two_hypotheses
from fwsvm.analysis.layouts import NONE, Layout
from fwsvm.analysis.measures import three_digits
from fwsvm.analysis.tables import Entry, Row, Table

METHODS = ("cvm", "fw", "mfw")
SWEPT = ("shuttle", "kdd99-10pc", "pendigits", "reuters")
CHARACTERS = ("letter", "pendigits", "mnist", "usps", "usps-ext")
IJCNN_REUTERS = ("ijcnn1", "reuters")
LARGEST = ("protein", "kdd99-full")


@of_growth
def _flatter_growth(view: View, _on: Sequence[str]) -> CheckResult | None:
    """Check that log time rises with log m more slowly for FW and MFW than for CVM, in most series.

    The slopes of two methods are of the data sets on which neither was cut short.
    """
    facts = []
    for name, datasets in (("Web", WEB), ("Adult", ADULT)):
        for method in METHODS[1:]:
            exact = view.speedups(method, datasets, exact=True)
            seconds = [
                (a.low, b.low) for d, a, b in view.pairs("time", method, "cvm", datasets) if d in exact
            ]
            rows = [view.rows(d, method) for d in exact]
            if len({*rows}) >= 3:
                slope, of_cvm = np.polyfit(np.log(rows), np.log(seconds), 1)[0]
                where = f"{name} {method} (cvm m^{of_cvm:.2f}, {len(rows)} sets)"
                facts.append(Fact(where, float(slope), bool(slope < of_cvm)))
    exponents = ", ".join(f"{fact.where} m^{fact.value:.2f}" for fact in facts)
    return conclude(f"times grow as {exponents}; flatter than those of cvm", facts, "most")


def _large_support(view: View) -> Iterator[Fact]:
    """Yield whether about 60% (50 to 70) of the rows of each Adult set become support vectors."""
    for dataset, method in itertools.product(ADULT, METHODS):
        size = view.number(dataset, method, "size")
        if size is not None:
            part = size.low / view.rows(dataset, method)
            yield Fact(f"{view.title(dataset)} {method}", part, 0.5 <= part <= 0.7)


def _underlined_is_fastest(view: View) -> Iterator[Fact]:
    """Yield whether the method underlined in Table 3 is the fastest; with the ratio of its time to the shortest."""
    printed = published.cells("frandi")
    underlined = printed[printed["underlined"] != ""].set_index("dataset")["method"]
    for dataset in published.in_order(underlined.index):
        times = {m: view.number(dataset, m, "time") for m in METHODS}
        known = {m: time.low for m, time in times.items() if time is not None and time.exact}
        if len(known) == len(METHODS):
            fastest = min(known, key=known.__getitem__)
            ratio = known[underlined[dataset]] / known[fastest]
            where = f"{view.title(dataset)}, where {fastest} is"
            yield Fact(where, ratio, fastest == underlined[dataset])


def _more_moderate(view: View) -> CheckResult | None:
    """Check that fw's median speed-up, of exact times, is lower on the Adult series than on the Web series."""
    of_series = [[*view.speedups("fw", on, exact=True).values()] for on in (WEB, ADULT)]
    if min(map(len, of_series)) < LEAST_SPEEDUPS:
        return None
    web, adult = (statistics.median(speedup.low for speedup in each) for each in of_series)
    return CheckResult(
        adult < web, f"fw's median speed-up: Web {three_digits(web)}, Adult {three_digits(adult)}"
    )


@makes_check
def _reaches(view: View, least: float, on: tuple[str, ...], what: str) -> CheckResult | None:
    """Check that FW and MFW reach a speed-up over cvm on all data sets, or one of them on a single data set."""
    facts = [
        Fact(f"{m} on {view.title(d)}", found.low, found.at_least(least))
        for m in METHODS[1:]
        for d, found in view.speedups(m, on).items()
    ]
    if len(on) == 1 and len(facts) < 2:
        return None
    return conclude(what, facts, "all" if len(on) > 1 else "any", strict=True)


def _swept(view: View) -> list[tuple[str, dict[str, dict[float, Number]]]]:
    """Return the data sets of the sweeps, with times by method and C."""
    found = measured_by_C(view.swept[view.swept["dataset"].isin(SWEPT)])
    return [(dataset, methods) for (*_, dataset, _), methods in found.items()]


def _faster_as_C_grows(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether the time at the largest C of a sweep is below that at the smallest, for each method."""
    for dataset, methods in _swept(view):
        for method, times in methods.items():
            if len(times) > 1:
                first, *_, last = times.values()
                yield Fact(f"{view.title(dataset)} {method}", last.low / first.low, last.below(first))


def _below_cvm_at_most_C(view: View) -> CheckResult | None:  # noqa: N802 - C is the penalty
    """Check that over the sweeps FW and MFW, or the one that ran, are faster than CVM at most values of C."""
    found = (
        conclude(
            f"{method} is faster than cvm",
            [
                Fact(f"{view.title(dataset)} C={C:g}", cvm.low / mine.low, mine.below(cvm))
                for dataset, methods in _swept(view)
                for C, mine in methods.get(method, {}).items()
                for cvm in [methods.get("cvm", {}).get(C)]
                if cvm is not None
            ],
            "most",
        )
        for method in METHODS[1:]
    )
    return all_of(filter(None, found))


FW_FASTER_BUT_TWO = better("fw", "cvm", "time", ADULT, except_on=("a1a", "a2a"))
MFW_FASTER = better("mfw", "cvm", "time", ADULT)

CLAIMS = claims_of(
    "frandi",
    METHODS,
    {
        "web-faster": better("fw mfw", "cvm", "time", WEB),
        "web-less-accurate": all_hold(better("cvm", "fw mfw", "accuracy", WEB), alike("accuracy", WEB, 0.02)),
        "web-fw-speedup-grows": growing_speedup("fw", WEB),
        "web-mfw-speedup-grows": growing_speedup("mfw", WEB),
        "web-fw-peak": peak_speedup("fw", WEB, at="w8a", least=100),
        "adult-fw-faster-but-two": FW_FASTER_BUT_TWO,
        "adult-mfw-faster": MFW_FASTER,
        "adult-mfw-peak": peak_speedup("mfw", ADULT, at="a5a", least=14.5),
        "adult-fw-moderate": _more_moderate,
        "adult-fw-more-accurate": better("fw", "cvm", "accuracy", ADULT, "most"),
        "adult-mfw-as-accurate": better("mfw", "cvm", "accuracy", ADULT, or_equal=True, within=0.001),
        "adult-mfw-fastest": better("mfw", "fw cvm", "time", ADULT),
        "adult-two-exceptions": all_hold(FW_FASTER_BUT_TWO, MFW_FASTER),
        "adult-support": every("50 to 70% of the rows are support vectors", _large_support, show=per_cent),
        "scales-better": _flatter_growth([*WEB, *ADULT]),
        "friedman-time": friedman_rejects("time"),
        "friedman-accuracy": friedman_rejects("accuracy"),
        "fw-faster": significant("fw", "cvm", "time", "less", 0.01),
        "mfw-faster": significant("mfw", "cvm", "time", "less", 0.01),
        "fw-less-accurate": significant("fw", "cvm", "accuracy", "less", 0.01),
        "mfw-less-accurate": significant("mfw", "cvm", "accuracy", "less", 0.01),
        "fw-mfw-equally-fast": significant("fw", "mfw", "time", "two-sided", 0.1, stands=True),
        "mfw-more-accurate-than-fw": significant("fw", "mfw", "accuracy", "less", 0.01),
        "loss-below-a-point": better("fw mfw", "cvm", "accuracy", ALL, "most", within=0.01),
        "C-faster": every("the time at the largest C is below that at the smallest", _faster_as_C_grows),
        "C-below-cvm": _below_cvm_at_most_C,
        "quadratic-accuracy": quadratic_like_rbf("fw mfw", "accuracy"),
        "quadratic-time": quadratic_like_rbf("fw mfw", "time"),
        "single-fw-slower": better("fw", "cvm", "time", SINGLE, except_on=("pendigits", "usps", "shuttle")),
        "characters-alike": alike("accuracy", CHARACTERS, 0.01),
        "ijcnn-reuters": all_hold(
            better("cvm", "fw mfw", "accuracy", IJCNN_REUTERS),
            better("fw mfw", "cvm", "time", IJCNN_REUTERS),
        ),
        "kdd10pc": all_hold(
            better("cvm", "fw mfw", "accuracy", ["kdd99-10pc"]),
            _reaches(50, ("kdd99-10pc",), "speed-ups of 50 or more"),
        ),
        "protein-kddfull": all_hold(
            alike("accuracy", LARGEST, 0.005),
            better("fw mfw", "cvm", "time", LARGEST),
            _reaches(2, LARGEST, "twice as fast as cvm"),
        ),
        "table3-underlines": every("the underlined method is the fastest", _underlined_is_fastest),
    },
)

DESIGN = Design(
    "Frandi et al. (2013), section 5.6 and Table 4",
    METHODS,
    ("time", "accuracy"),
    two_hypotheses(
        ("fw", "cvm", "less", "less"),
        ("mfw", "cvm", "less", "less"),
        ("fw", "mfw", "two-sided", "less"),
    ),
)
LAYOUTS = {
    f"frandi-{number}": Layout(
        f"Frandi et al. (2013), Table {number}: {title}", measures, "frandi", methods, kernel
    )
    for number, title, measures, methods, kernel in (
        (2, "test accuracy (%)", ("accuracy",), METHODS, "rbf"),
        (3, "training time (s)", ("time",), METHODS, "rbf"),
        (
            8,
            "quadratic kernel, test accuracy (%) and training time (s)",
            ("accuracy", "time"),
            METHODS[1:],
            "quadratic",
        ),
    )
}

#: The tests of Tables 5 and 6, in the order of their columns.
TESTS = ("fw vs cvm", "mfw vs cvm", "fw vs mfw", "all three")


def test_tables(evaluation: Evaluation) -> dict[str, Table]:
    """Return Tables 5 and 6 (W and F, and p-values, ours above the printed ones) and 7 of this design's tests."""
    ours = {
        (h.measure, " vs ".join(h.pair)): (Entry(f"{test.W:g}", value=test.W), p_entry(p))
        for h, test, p, _ in evaluation.tested
    }
    ours |= {
        (name, "all three"): (Entry(f"{round(test.F, 4):g}", value=test.F), p_entry(test.p_F))
        for name, test in evaluation.overall.items()
        if math.isfinite(test.F)
    }
    notes = [
        f"{name}: ours on {test.n} data sets, the paper's on 26" for name, test in evaluation.overall.items()
    ]
    found = {}
    for place, what in enumerate(("W of Wilcoxon's signed-rank test, F of Friedman's", "p-values")):
        rows = []
        number = str(5 + place)
        printed = published.read_table(f"published/003-table{number}")
        for name, *texts in printed.itertuples(index=False, name=None):
            both = (ours.get((name.lower(), test), (NONE, NONE)) for test in TESTS)
            rows.append(Row((name, "ours"), tuple(each[place] for each in both)))
            rows.append(Row(("", "paper"), tuple(map(Entry, texts))))
        title = f"Frandi et al. (2013), Table {number}: {what}"
        found[number] = Table(title, ("measure", ""), TESTS, tuple(rows), (*notes, *evaluation.notes))
    return found | {"7": conclusions(evaluation, "Frandi et al. (2013), Table 7: conclusions")}
