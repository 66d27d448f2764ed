"""Zhang and Sen (2024): SCS against Pegasos and Wolfe's method; claims and table."""

from fwsvm.analysis.claims.checks import better, inverted
from fwsvm.analysis.claims.model import CheckResult, Fact, Number, View, all_hold, claims_of, conclude
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.published import series

METHODS = ("wolfe", "pegasos", "scs")
UCI = series("uci")  # by size
SMALL_AND_MEDIUM, FROM_7500, FOUR_LARGEST = UCI[:5], UCI[5:], UCI[6:]


def _competitive(view: View) -> CheckResult | None:
    """Check that on the sets below 7,500 samples SCS takes at most twice Pegasos's time."""
    ratios = {
        view.title(d): scs / pegasos
        for d, scs, pegasos in view.pairs("time", "scs", "pegasos", SMALL_AND_MEDIUM)
    }
    facts = [Fact(name, ratio.low, inverted(Number(2, 2).below(ratio))) for name, ratio in ratios.items()]
    return conclude("SCS's time over Pegasos's is at most two", facts, of=len(SMALL_AND_MEDIUM))


CLAIMS = claims_of(
    "zhang",
    METHODS,
    "zhang",
    [
        (
            "lower-objective",
            "Remark 3(i), Figures 1 and 2",
            "SCS reaches lower objective values than Pegasos.",
            better("scs", "pegasos", "objective", UCI),
            None,
        ),
        (
            "converges-faster",
            "Remark 3(ii), Figures 1 and 2",
            "SCS converges faster than Pegasos (read as: mostly sooner at its end, with a lower objective there).",
            all_hold(
                better("scs", "pegasos", "time", UCI, "most"),
                better("scs", "pegasos", "objective", UCI, "most"),
            ),
            None,
        ),
        (
            "more-accurate",
            "Remark 4, Table 1",
            "SCS is at least as accurate as Pegasos on every data set.",
            better("scs", "pegasos", "accuracy", UCI, or_equal=True),
        ),
        (
            "four-largest",
            "Remark 4, Table 1",
            "On the four largest data sets SCS is faster and more accurate than Pegasos.",
            all_hold(
                better("scs", "pegasos", "time", FOUR_LARGEST),
                better("scs", "pegasos", "accuracy", FOUR_LARGEST),
            ),
        ),
        (
            "faster-from-7500",
            "1.4 and Table 1",
            "From 7,500 samples on SCS is faster than Pegasos.",
            better("scs", "pegasos", "time", FROM_7500),
        ),
        (
            "faster",
            "Remark 4, Table 1",
            "SCS is faster than Pegasos, the larger the data the more (read as: mostly).",
            better("scs", "pegasos", "time", UCI, "most"),
        ),
        (
            "competitive-when-small",
            "1.4",
            "On small and medium data sets SCS's times are competitive (read as: at most twice Pegasos's).",
            _competitive,
        ),
        (
            "wolfe-benchmark",
            "4, Table 1",
            "Where it can be run, Wolfe's method (the benchmark) is at least as accurate as Pegasos and SCS.",
            all_hold(
                better("wolfe", "pegasos", "accuracy", UCI[:4], or_equal=True),
                better("wolfe", "scs", "accuracy", UCI[:4], or_equal=True),
            ),
        ),
    ],
)

LAYOUTS = {
    "zhang-1": Layout(
        "Zhang and Sen (2024), Table 1: test accuracy (%) and training time (s)",
        "zhang",
        METHODS,
        None,
        ("accuracy", "time"),
    ),
}
