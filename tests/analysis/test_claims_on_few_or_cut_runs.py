"""Claims on few data sets, on runs that a time limit cut short, and on variants of methods."""

import pytest

from fwsvm.analysis.claims.checks import ADULT, WEB, friedman_rejects, wilcoxon_rejects
from fwsvm.analysis.claims.evaluate import check_claims
from fwsvm.analysis.claims.model import CheckResult, View, of_growth
from fwsvm.analysis.comparisons import Hypothesis
from fwsvm.analysis.papers.p003 import twice_as_fast
from tests.analysis.folders import cells_of, row

METHODS = ("cvm", "fw", "mfw")


def run(dataset: str, method: str, seconds: float, *, cut: bool = False, **more):
    """Return a row with this time, cut short or not."""
    status = "time_limit" if cut else "converged"
    return row(dataset=dataset, method=method, train_seconds=seconds, status=status, **more)


def series(datasets, seconds: dict[str, list[float]], cut: dict[str, set[str]] | None = None, **more):
    """Return rows of data sets with these times per method, some of them cut short."""
    sizes = {d: 1000 * (place + 1) for place, d in enumerate(datasets)}
    return [
        run(d, m, t, cut=d in (cut or {}).get(m, ()), rows=sizes[d], **more)
        for m, times in seconds.items()
        for d, t in zip(datasets, times, strict=True)
    ]


@pytest.mark.parametrize(
    ("number", "alternative", "decided"), [(6, "less", 0), (7, "less", 1), (7, "two-sided", 0)]
)
def test_a_signed_rank_test_is_not_run_on_sets_too_few_for_its_level(number, alternative, decided) -> None:
    check = wilcoxon_rejects(Hypothesis("time", "fw", "cvm", alternative), 0.01)
    datasets = [*ADULT, *WEB][:number]
    view = View(cells_of(*series(datasets, {"cvm": [5.0] * number, "fw": [1.0] * number})), METHODS)
    assert (check(view) is not None) == bool(decided)


def test_friedmans_test_counts_the_sets_that_no_limit_cut_short() -> None:
    check = friedman_rejects(METHODS, "time", 0.01)
    times = {"cvm": [9.0] * 7, "fw": [5.0] * 7, "mfw": [1.0] * 7}
    assert check(View(cells_of(*series(ADULT, times)), METHODS)).holds
    cut = View(cells_of(*series(ADULT, times, {"cvm": {*ADULT[3:]}})), METHODS)
    assert check(cut) is None


def test_exponents_are_of_the_sets_that_both_methods_finished() -> None:
    times = {
        "cvm": [1.0, 4.0, 9.0, 16, 25, 36, 49, 64],
        "fw": [1.0, 2, 3, 4, 5, 6, 70, 800],
        "mfw": [1.0] * 8,
    }
    (verdict,) = check_claims(cells_of(*series(WEB, times, {"cvm": {*WEB[6:]}})), ["003-scales-better"])
    assert "Web FW m^1.00 (CVM 2.00, 6 sets)" in verdict.ours.evidence
    assert verdict.word == "reproduced"


@pytest.mark.parametrize(
    ("cvm", "cut", "word"),
    [(3.0, "cvm", "reproduced"), (1.5, "cvm", "not run"), (1.5, "", "not reproduced")],
)
def test_a_speed_up_that_is_a_bound_decides_only_what_the_bound_does(cvm: float, cut: str, word: str) -> None:
    times = {"cvm": cvm, "fw": 1.0, "mfw": 1.0}
    found = twice_as_fast(
        View(cells_of(*(run("protein", m, t, cut=m == cut) for m, t in times.items())), METHODS)
    )
    assert word == ("not run" if found is None else "reproduced" if found.holds else "not reproduced")


def test_problems_on_which_liblinear_was_cut_short_count_neither_way() -> None:
    def linear(dataset: str, liblinear: float, *, cut: bool):
        same = {"kernel": "linear", "tolerance": 0.01, "C": 1}
        return [run(dataset, "liblinear", liblinear, cut=cut, **same), run(dataset, "avsf", 1.0, **same)]

    rows = [*linear("rcv1", 12.0, cut=False), *linear("url", 5.0, cut=True), *linear("kdda", 6.0, cut=True)]
    (verdict,) = check_claims(cells_of(*rows), ["002-order-of-magnitude"])
    assert verdict.word == "reproduced"
    assert "left open by time limits: kdd-a 6.00, url 5.00" in verdict.ours.evidence or (
        "left open by time limits: url 5.00, kdd-a 6.00" in verdict.ours.evidence
    )


def test_what_a_cut_run_ended_with_is_no_accuracy() -> None:
    rows = [
        run(d, m, 1.0, test_accuracy=a) for d in ADULT for m, a in (("cvm", 0.8), ("fw", 0.9), ("mfw", 0.7))
    ]
    (whole,) = check_claims(cells_of(*rows), ["003-adult-fw-more-accurate"])
    assert whole.word == "reproduced"
    rows = [r | ({"status": "time_limit"} if r["method"] == "fw" else {}) for r in rows]
    (cut,) = check_claims(cells_of(*rows), ["003-adult-fw-more-accurate"])
    assert cut.word == "not run"


def test_an_experiment_s_only_variant_of_a_method_is_that_method() -> None:
    """Beside plain scs of another experiment the one that the paper describes keeps its long name."""
    papers = [
        run("magic", m, t, experiment="scs")
        for m, t in (("scs(growth=theory)", 1.0), ("pegasos", 5.0), ("wolfe", 2.0))
    ]
    ours = [run("magic", m, t, experiment="curve") for m, t in (("scs", 7.0), ("pegasos", 5.0))]
    view = View(cells_of(*papers, *ours), ("wolfe", "pegasos", "scs"))
    assert view.value("magic", "scs", "time") == 1.0


def test_what_stands_in_is_marked_in_the_evidence() -> None:
    rows = series(["a1a", "a5a", "a6a-drawn"], {"cvm": [5.0, 5, 5], "fw": [1.0, 1, 1]})
    check = of_growth(lambda _: CheckResult(True, "peak on a6a, not on a1a"), ADULT)
    assert check(View(cells_of(*rows), METHODS)).evidence.startswith(
        "peak on a6a†, not on a1a [with stand-ins"
    )


def test_runs_of_no_paper_s_protocol_say_so() -> None:
    rows = series(ADULT, {"cvm": [5.0] * 7, "fw": [1.0] * 7, "mfw": [1.0] * 7}, protocol="libcvm")
    (verdict,) = check_claims(cells_of(*rows), ["003-adult-mfw-faster"])
    assert verdict.ours.evidence.endswith("[protocol libcvm]")
