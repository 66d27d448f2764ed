"""Zhang and Sen (2024): SCS against Pegasos and Wolfe's method; claims and table."""

from fwsvm.analysis.claims.checks import better
from fwsvm.analysis.claims.model import CheckResult, Fact, View, all_hold, claims_of, conclude
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.published import series

METHODS = ("wolfe", "pegasos", "scs")
UCI = series("uci")  # by size
SMALL_AND_MEDIUM, FROM_7500, FOUR_LARGEST = UCI[:5], UCI[5:], UCI[6:]


def _competitive(view: View) -> CheckResult | None:
    """Check that on the sets below 7,500 samples SCS takes at most twice Pegasos's time."""
    pairs = view.pairs("time", "pegasos", "scs", SMALL_AND_MEDIUM)
    facts = [
        Fact(view.title(d), 1 / (pegasos / scs).high, (pegasos / scs).at_least(0.5))
        for d, pegasos, scs in pairs
    ]
    return conclude("scs takes at most twice the time of pegasos", facts, of=len(SMALL_AND_MEDIUM))


CLAIMS = claims_of(
    "zhang",
    METHODS,
    {
        "lower-objective": better("scs", "pegasos", "objective", UCI),
        "converges-faster": all_hold(
            better("scs", "pegasos", "time", UCI, "most"),
            better("scs", "pegasos", "objective", UCI, "most"),
        ),
        "more-accurate": better("scs", "pegasos", "accuracy", UCI, or_equal=True),
        "four-largest": all_hold(
            better("scs", "pegasos", "time", FOUR_LARGEST),
            better("scs", "pegasos", "accuracy", FOUR_LARGEST),
        ),
        "faster-from-7500": better("scs", "pegasos", "time", FROM_7500),
        "faster": better("scs", "pegasos", "time", UCI, "most"),
        "competitive-when-small": _competitive,
        "wolfe-benchmark": all_hold(
            better("wolfe", "pegasos", "accuracy", UCI[:4], or_equal=True),
            better("wolfe", "scs", "accuracy", UCI[:4], or_equal=True),
        ),
    },
)

LAYOUTS = {
    "zhang-1": Layout(
        "Zhang and Sen (2024), Table 1: test accuracy (%) and training time (s)",
        ("accuracy", "time"),
        "zhang",
        METHODS,
    ),
}
