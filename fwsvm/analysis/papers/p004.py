"""004 (Zhang and Sen): SCS against Pegasos and Wolfe's method; claims and table."""

from fwsvm.analysis import published
from fwsvm.analysis.claims.checks import all_hold, better, coverage, quotient_range
from fwsvm.analysis.claims.model import Check, CheckResult, Claim, View
from fwsvm.analysis.layouts import Layout, per_dataset
from fwsvm.analysis.published import series

METHODS = ("wolfe", "pegasos", "scs")
UCI = series("uci")  # by size
SMALL_AND_MEDIUM, FROM_7500, FOUR_LARGEST = UCI[:5], UCI[5:], UCI[6:]


def _competitive(view: View) -> CheckResult | None:
    """Check that on the sets below 7,500 samples SCS takes at most twice Pegasos's time.

    A data set on which a time limit cut SCS short before that is left out.
    """
    pairs = list(view.pairs("time", "scs", "pegasos", SMALL_AND_MEDIUM))
    pairs = [(d, a, b) for d, a, b in pairs if a > 2 * b or not view.cut_short(d, "scs")]
    if not pairs:
        return None
    slow = [published.title(d) for d, a, b in pairs if a > 2 * b]
    said = (
        "Pegasos's time over SCS's" + quotient_range("time", pairs) + coverage(len(pairs), SMALL_AND_MEDIUM)
    )
    return CheckResult(not slow, said + (f"; more than twice as long on {', '.join(slow)}" if slow else ""))


def _claim(name: str, place: str, statement: str, check: Check, printed: str | None = "004") -> Claim:
    return Claim(f"004-{name}", place, statement, METHODS, check, printed)


CLAIMS = [
    _claim("lower-objective", "Remark 3(i), Figures 1 and 2",
           "SCS reaches lower objective values than Pegasos.",
           better("scs", "pegasos", "objective", UCI), None),
    _claim("converges-faster", "Remark 3(ii), Figures 1 and 2",
           "SCS converges faster than Pegasos (read as: mostly sooner at its end, with a lower objective there).",
           all_hold(better("scs", "pegasos", "time", UCI, "most"),
                better("scs", "pegasos", "objective", UCI, "most")), None),
    _claim("more-accurate", "Remark 4, Table 1", "SCS is at least as accurate as Pegasos on every data set.",
           better("scs", "pegasos", "accuracy", UCI, or_equal=True)),
    _claim("four-largest", "Remark 4, Table 1",
           "On the four largest data sets SCS is faster and more accurate than Pegasos.",
           all_hold(better("scs", "pegasos", "time", FOUR_LARGEST),
                better("scs", "pegasos", "accuracy", FOUR_LARGEST))),
    _claim("faster-from-7500", "1.4 and Table 1", "From 7,500 samples on SCS is faster than Pegasos.",
           better("scs", "pegasos", "time", FROM_7500)),
    _claim("faster", "Remark 4, Table 1",
           "SCS is faster than Pegasos, the larger the data the more (read as: mostly).",
           better("scs", "pegasos", "time", UCI, "most")),
    _claim("competitive-when-small", "1.4",
           "On small and medium data sets SCS's times are competitive (read as: at most twice Pegasos's).",
           _competitive),
    _claim("wolfe-benchmark", "4, Table 1",
           "Where it can be run, Wolfe's method (the benchmark) is at least as accurate as Pegasos and SCS.",
           all_hold(better("wolfe", "pegasos", "accuracy", UCI[:4], or_equal=True),
                better("wolfe", "scs", "accuracy", UCI[:4], or_equal=True))),
]  # fmt: skip

LAYOUTS = {
    "004-1": Layout("004, Table 1: test accuracy (%) and training time (s)", "004", METHODS, None,
                    ("accuracy", "time"), per_dataset),
}  # fmt: skip
