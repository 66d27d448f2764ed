"""Claims: each is decidable, each can fail, and what the papers' own tables say of them."""

import pytest

from fwsvm.analysis import published
from fwsvm.analysis.claims import show
from fwsvm.analysis.claims.checks import ADULT, WEB, better, friedman_rejects, growing_speedup, significant
from fwsvm.analysis.claims.evaluate import caveats, check_claims
from fwsvm.analysis.claims.model import View
from fwsvm.analysis.papers import CLAIMS
from fwsvm.errors import UsageError
from tests.analysis.folders import cells_of, row

METHODS = ("cvm", "fw", "mfw")
#: Sentences of the papers that their own printed numbers contradict.
CONTRADICTED = {
    "frandi-web-fw-speedup-grows",  # 12.6 on w1a, 12.0 on w2a
    "frandi-web-mfw-speedup-grows",  # up and down between 2 and 9
    "frandi-quadratic-time",  # 484 times longer on Shuttle
    "frandi-table3-underlines",  # USPS
    "nanculef-web-fw-speedup-grows",
    "nanculef-fw-mfw-equally-accurate",  # Frandi et al. themselves reject it
    "glasmachers-baseline-at-small-C",  # kdd-a at 0.001
    "glasmachers-time-grows-with-C",  # AVSF on news20 and rcv1
    "glasmachers-grid-dominated",  # the same
    "zhang-faster",  # on five of ten
    "zhang-competitive-when-small",  # eight times Pegasos's time on heart failure
}


def run(dataset: str, method: str, seconds: float, *, cut: bool = False, **more):
    """Return a row with this time, cut short or not."""
    status = "time_limit" if cut else "converged"
    return row(dataset=dataset, method=method, train_seconds=seconds, status=status, **more)


def series(datasets, seconds: dict[str, list[float]], cut: dict[str, set[str]] | None = None, **more):
    """Return rows of data sets of growing size with these times per method, some of them cut short."""
    return [
        run(d, m, t, cut=d in (cut or {}).get(m, ()), **({"rows": 1000 * (place + 1)} | more))
        for m, times in seconds.items()
        for place, (d, t) in enumerate(zip(datasets, times, strict=False))
    ]


def view(*rows) -> View:
    """Return the view of some rows."""
    return View(cells_of(*rows), METHODS)


def verdict(rows, name: str):
    """Return the verdict of the one claim whose name begins so."""
    (found,) = check_claims(cells_of(*rows), [name])
    return found


@pytest.fixture(scope="module")
def printed():
    """Return the verdicts on the printed numbers alone."""
    return check_claims(None)


def test_the_papers_own_numbers_contradict_these_claims_and_no_others(printed) -> None:
    assert {v.claim.paper for v in printed} == {"nanculef", "glasmachers", "frandi", "zhang"}
    assert {v.claim.name for v in printed if v.printed and not v.printed.holds} == CONTRADICTED
    assert all(v.findings[1][0] == "not run" for v in printed)
    assert all(v.printed for v in printed if v.claim.printed), "a printed claim must be decidable"


@pytest.mark.parametrize(
    ("paper", "a", "b"),
    [("frandi", "cvm", "fw"), ("glasmachers", "liblinear", "avsf"), ("zhang", "pegasos", "scs")],
)
def test_no_comparison_survives_exchanging_the_methods(paper: str, a: str, b: str) -> None:
    cells = published.cells(paper)
    held, still = (
        {v.claim.name for v in check_claims(some, [paper]) if v.ours and v.ours.holds}
        for some in (cells, cells.assign(method=cells["method"].replace({a: b, b: a})))
    )
    assert len(held - still) > len(held) / 3


def test_everywhere_means_every_data_set_measured_and_says_how_many() -> None:
    check = better("fw", "cvm", "time", WEB)
    finding = check(view(*series(WEB, {"cvm": [5, 5, 5], "fw": [1, 1, 4]})))
    assert finding.holds
    assert "in 3 of 3 comparisons (of the claim's 8 data sets): 1.25 to 5.00" in finding.evidence
    worse = check(view(*series(WEB, {"cvm": [5, 5, 5], "fw": [1, 1, 6]})))
    assert not worse.holds
    assert worse.evidence.endswith("not on w3a (0.833)")
    assert check(view(run("w1a", "cvm", 5))) is None


@pytest.mark.parametrize(
    ("slow", "other", "holds"), [("cvm", 2, True), ("cvm", 70, None), ("fw", 2, False), ("fw", 70, None)]
)
def test_a_time_cut_short_decides_only_what_its_bound_decides(slow: str, other: float, holds) -> None:
    """A method that was cut short at 60 seconds needs more; the other takes ``other`` seconds."""
    quick = "fw" if slow == "cvm" else "cvm"
    rows = run("w1a", slow, 60, cut=True), run("w1a", quick, other)
    found = better("fw", "cvm", "time", WEB)(view(*rows))
    assert (found and found.holds) is holds


@pytest.mark.parametrize(
    ("cvm", "cut", "holds"),
    [
        ([1, 2, 4], (), True),
        ([1, 4, 3], (), False),
        ([2, 4, 8], (2,), True),  # the last is 8 or more
        ([2, 4, 8], (1,), None),  # the second may be above the last
        ([2, 4, 3], (1,), False),  # 3 is below 4 or more
    ],
)
def test_growth_is_from_each_data_set_to_the_next(cvm: list[float], cut: tuple[int, ...], holds) -> None:
    rows = series(WEB, {"cvm": cvm, "fw": [1, 1, 1]}, {"cvm": {WEB[place] for place in cut}})
    found = growing_speedup("fw", WEB)(view(*rows))
    assert (found and found.holds) is holds


def test_times_of_different_experiments_are_never_compared() -> None:
    """FW ran in another experiment, on another machine perhaps: its times say nothing about CVM's here."""
    rows = run("w1a", "cvm", 5), run("w1a", "mfw", 3), run("w1a", "fw", 1, experiment="other")
    assert better("fw", "cvm", "time", WEB)(view(*rows)) is None


def test_claims_over_C_are_decided_by_sweeps() -> None:  # noqa: N802 - C is the penalty
    def swept(cvm: tuple[float, ...], fw: tuple[float, ...]):
        return [
            run("shuttle", m, t, C=C, cut=t == 10)
            for m, times in (("cvm", cvm), ("fw", fw))
            for C, t in zip((1, 16, 256), times, strict=True)
        ]

    assert verdict(swept((9, 3, 2), (4, 2, 1)), "003-C-faster").findings[1][0] == "reproduced"
    assert verdict(swept((1, 2, 3), (4, 5, 6)), "003-C-faster").findings[1][0] == "not reproduced"
    cut = swept((10, 5, 10), (10, 6, 4))
    assert "in 1 of 1 comparisons" in verdict(cut, "003-C-faster").ours.evidence
    assert "fw is faster than cvm in 1 of 2" in verdict(cut, "003-C-below-cvm").ours.evidence


def linear(liblinear: list[float], avsf: list[float], cut=(), dataset: str = "covtype", **more):
    """Return rows of both solvers at C = 1, 10, ..., of which those in ``cut`` were cut short."""
    return [
        run(
            dataset,
            method,
            time,
            cut=(method, C) in cut,
            kernel="linear",
            C=10**C,
            **{"tolerance": 0.01} | more,
        )
        for method, times in (("liblinear", liblinear), ("avsf", avsf))
        for C, time in enumerate(times)
    ]


def test_problems_on_which_liblinear_was_cut_short_count_neither_way() -> None:
    cut = {("liblinear", 0)}
    rows = [*linear([12], [1], dataset="rcv1"), *linear([5], [1], cut, "url"), *linear([6], [1], cut, "kdda")]
    found = verdict(rows, "002-order-of-magnitude")
    assert found.findings[1][0] == "reproduced"
    assert "left open by time limits: url (5.00), kdd-a (6.00)" in found.ours.evidence


@pytest.mark.parametrize(
    ("number", "alternative", "decided"), [(6, "less", 0), (7, "less", 1), (7, "two-sided", 0)]
)
def test_a_signed_rank_test_is_not_run_on_sets_too_few_for_its_level(number, alternative, decided) -> None:
    check = significant("fw", "cvm", "time", alternative, 0.01)
    rows = series([*ADULT, *WEB][:number], {"cvm": [5.0] * number, "fw": [1.0] * number})
    assert (check(view(*rows)) is not None) == bool(decided)


def test_friedmans_test_counts_the_sets_that_no_limit_cut_short() -> None:
    check = friedman_rejects("time")
    times = {"cvm": [9.0] * 7, "fw": [5.0] * 7, "mfw": [1.0] * 7}
    assert check(view(*series(ADULT, times))).holds
    assert check(view(*series(ADULT, times, {"cvm": {*ADULT[3:]}}))) is None
    assert check(view(*series(ADULT, times, {"fw": {*ADULT}}))) is None


def test_an_experiment_s_only_variant_of_a_method_is_that_method() -> None:
    """Beside plain scs of another experiment the one that the paper describes keeps its long name."""
    papers = (("scs(growth=theory)", 1.0), ("pegasos", 5.0), ("wolfe", 2.0))
    rows = [run("magic", m, t, experiment="scs") for m, t in papers]
    rows += [run("magic", m, t, experiment="curve") for m, t in (("scs", 7.0), ("pegasos", 5.0))]
    found = View(cells_of(*rows), ("wolfe", "pegasos", "scs"))
    assert found.number("magic", "scs", "time") == (1.0, 1.0)


@pytest.mark.parametrize("form", ["terminal", "markdown", "csv"])
def test_every_form_has_every_claim(form: str, printed) -> None:
    text = show.render(printed, form)
    assert all(name in text for name in CLAIMS)
    assert form != "terminal" or max(map(len, text.splitlines())) <= 80
    assert "holds in the printed numbers of Frandi et al. (2013)" in " ".join(text.split())


def test_verdicts_on_smaller_or_unfinished_runs_say_so() -> None:
    cells = cells_of(*series(WEB, {"cvm": [5, 5, 5], "fw": [1, 1, 1]}, rows=2477))
    assert caveats(cells) == ["fewer training rows than published: w2a 2,477 of 3,470, w3a 2,477 of 4,912"]
    text = show.render(check_claims(cells, ["003-web-faster"]), "terminal", caveats(cells))
    assert "fewer training rows" in text


def test_an_unknown_claim_is_an_error() -> None:
    with pytest.raises(UsageError, match="no claim's name begins with 005"):
        check_claims(None, ["005"])
