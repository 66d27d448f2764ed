"""Zhang and Sen (2024): SCS against Pegasos and Wolfe's method; claims and table."""

from collections.abc import Iterator

from fwsvm.analysis.claims.checks import better
from fwsvm.analysis.claims.model import Fact, View, all_hold, claims_of, every
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.published import series

METHODS = ("wolfe", "pegasos", "scs")
UCI = series("uci")  # by size
SMALL_AND_MEDIUM, FROM_7500, FOUR_LARGEST = UCI[:5], UCI[5:], UCI[6:]


def _competitive(view: View) -> Iterator[Fact]:
    """Yield whether on the sets below 7,500 samples SCS takes at most twice Pegasos's time."""
    for dataset, pegasos, scs in view.pairs("time", "pegasos", "scs", SMALL_AND_MEDIUM):
        speedup = pegasos / scs
        yield Fact(view.title(dataset), 1 / speedup.high, speedup.at_least(0.5))


FASTER = better("scs", "pegasos", "time", UCI, "most")

CLAIMS = claims_of(
    "zhang",
    METHODS,
    {
        "lower-objective": better("scs", "pegasos", "objective", UCI),
        "converges-faster": all_hold(
            FASTER,
            better("scs", "pegasos", "objective", UCI, "most"),
        ),
        "more-accurate": better("scs", "pegasos", "accuracy", UCI, or_equal=True),
        "four-largest": all_hold(
            better("scs", "pegasos", "time", FOUR_LARGEST),
            better("scs", "pegasos", "accuracy", FOUR_LARGEST),
        ),
        "faster-from-7500": better("scs", "pegasos", "time", FROM_7500),
        "faster": FASTER,
        "competitive-when-small": every(
            "scs takes at most twice the time of pegasos", _competitive, of=len(SMALL_AND_MEDIUM)
        ),
        "wolfe-benchmark": better("wolfe", "pegasos scs", "accuracy", UCI[:4], or_equal=True),
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
