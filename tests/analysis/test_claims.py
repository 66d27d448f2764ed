"""Claims: each is decidable, each can fail, and what the papers' own tables say of them."""

from pathlib import Path

import pytest

from fwsvm.analysis import published, results
from fwsvm.analysis.cells import cells_of_runs
from fwsvm.analysis.claims import show
from fwsvm.analysis.claims.checks import ADULT, WEB, better, growing_speedup
from fwsvm.analysis.claims.evaluate import caveats, check_claims
from fwsvm.analysis.claims.model import View
from fwsvm.analysis.papers import CLAIMS
from fwsvm.errors import ResultsError, UsageError
from tests.analysis.folders import cells_of, like_paper, row, write

#: Sentences of the papers that their own printed numbers contradict.
CONTRADICTED = {
    "003-web-fw-speedup-grows",  # 12.6 on w1a, 12.0 on w2a
    "003-web-mfw-speedup-grows",  # up and down between 2 and 9
    "003-quadratic-time",  # 484 times longer on Shuttle
    "003-table3-underlines",  # USPS
    "000-web-fw-speedup-grows",
    "000-fw-mfw-equally-accurate",  # 003 itself rejects it
    "002-baseline-at-small-C",  # kdd-a at 0.001
    "002-time-grows-with-C",  # AVSF on news20 and rcv1
    "002-grid-dominated",  # the same
    "004-faster",  # on five of ten
    "004-competitive-when-small",  # eight times Pegasos's time on heart failure
}


def test_there_are_claims_of_all_four_papers_with_place_and_statement() -> None:
    assert {claim.paper for claim in CLAIMS.values()} == {"000", "002", "003", "004"}
    assert len(CLAIMS) >= 25
    for claim in CLAIMS.values():
        assert claim.place
        assert claim.statement.endswith(".")


def test_the_papers_own_numbers_contradict_these_claims_and_no_others() -> None:
    verdicts = check_claims(None)
    assert {v.claim.name for v in verdicts if v.printed and not v.printed.holds} == CONTRADICTED
    assert all(v.word == "not run" for v in verdicts)
    assert all(v.printed is not None for v in verdicts if v.claim.printed), (
        "a printed claim must be decidable"
    )


def test_results_like_the_papers_give_the_papers_verdicts(tmp_path: Path) -> None:
    folder = write(tmp_path / "as-printed", like_paper("003", repetitions=1, scatter=0.0))
    verdicts = check_claims(cells_of_runs(results.read([folder]).frame), ["003"])
    decided = {v.claim.name: v for v in verdicts if v.printed is not None}
    compared = [v for v in decided.values() if v.ours is not None]
    assert {name for name in decided if "quadratic" in name} == decided.keys() - {
        v.claim.name for v in compared
    }
    for verdict in compared:
        assert verdict.ours.holds == verdict.printed.holds
        assert verdict.ours.evidence.removesuffix(" [protocol default]") == verdict.printed.evidence


def exchanged(paper: str, a: str, b: str):
    """Return a paper's cells with two methods exchanged: what was true of one is now true of the other."""
    cells = published.cells(paper)
    return cells.assign(method=cells["method"].replace({a: b, b: a}))


@pytest.mark.parametrize(
    ("paper", "a", "b"),
    [("003", "cvm", "fw"), ("003", "cvm", "mfw"), ("002", "liblinear", "avsf"), ("004", "pegasos", "scs")],
)
def test_no_comparison_survives_exchanging_the_methods(paper: str, a: str, b: str) -> None:
    held = {v.claim.name for v in check_claims(published.cells(paper), [paper]) if v.ours and v.ours.holds}
    still = {v.claim.name for v in check_claims(exchanged(paper, a, b), [paper]) if v.ours and v.ours.holds}
    assert len(held - still) > len(held) / 3
    assert "003-fw-faster" not in still or (a, b) != ("cvm", "fw")


def web(times: dict[str, list[float]], **more):
    """Return cells of the Web series with these times per method."""
    return cells_of(
        *(
            row(dataset=d, method=m, train_seconds=t, **more)
            for m, seconds in times.items()
            for d, t in zip(WEB, seconds, strict=False)
        )
    )


def test_everywhere_means_every_data_set_measured_and_says_how_many() -> None:
    check = better("fw", "cvm", "time", WEB)
    finding = check(View(web({"cvm": [5, 5, 5], "fw": [1, 1, 4]}), ("cvm", "fw")))
    assert finding is not None
    assert finding.holds
    assert "3 of 3 data sets (of the claim's 8, 3 were measured)" in finding.evidence
    worse = check(View(web({"cvm": [5, 5, 5], "fw": [1, 1, 6]}), ("cvm", "fw")))
    assert worse is not None
    assert not worse.holds
    assert "not on w3a" in worse.evidence
    assert check(View(web({"cvm": [5]}), ("cvm", "fw"))) is None


def test_a_time_cut_short_decides_only_what_its_bound_decides() -> None:
    check = better("fw", "cvm", "time", WEB)

    def cut(method: str, seconds: float, other: float):
        slow = row(dataset="w1a", method=method, status="time_limit", train_seconds=seconds)
        return check(
            View(
                cells_of(
                    slow, row(dataset="w1a", method="fw" if method == "cvm" else "cvm", train_seconds=other)
                ),
                ("cvm", "fw"),
            )
        )

    assert cut("cvm", 60, other=2).holds, "CVM needs more than 60, FW took 2"
    assert cut("cvm", 60, other=70) is None, "CVM may need 61 or 600"
    assert not cut("fw", 60, other=2).holds
    assert cut("fw", 60, other=70) is None


def test_growth_is_from_each_data_set_to_the_next() -> None:
    check = growing_speedup("fw", WEB)
    grown = check(View(web({"cvm": [1, 2, 4], "fw": [1, 1, 1]}), ("cvm", "fw")))
    fallen = check(View(web({"cvm": [1, 4, 3], "fw": [1, 1, 1]}), ("cvm", "fw")))
    assert grown is not None
    assert grown.holds
    assert fallen is not None
    assert fallen.evidence.endswith("falls at w3a")


def test_times_of_different_experiments_are_never_compared() -> None:
    """FW ran in another experiment, on another machine perhaps: its times say nothing about CVM's here."""
    cells = cells_of(
        row(dataset="w1a", method="cvm", train_seconds=5),
        row(dataset="w1a", method="mfw", train_seconds=3),
        row(dataset="w1a", method="fw", train_seconds=1, experiment="other"),
    )
    assert better("fw", "cvm", "time", WEB)(View(cells, ("cvm", "fw", "mfw"))) is None


def test_a_doubled_cell_stops_the_claims_that_read_it_alone() -> None:
    rows = [row(dataset=d, method=m, train_seconds=t) for d in ADULT for m, t in (("cvm", 2), ("mfw", 1))]
    rows += [row(dataset="w1a", method="mfw", tolerance=t) for t in (0.1, 0.01)]
    rows += [
        row(dataset="a1a", method="mfw", status="error", search="", stop="", tolerance="", train_seconds="")
    ]
    (verdict,) = check_claims(cells_of(*rows), ["003-adult-mfw-faster"])
    assert verdict.word == "reproduced"
    with pytest.raises(ResultsError, match="several results for w1a, mfw: tolerance"):
        check_claims(cells_of(*rows), ["003-web-faster"])


def test_claims_over_C_are_decided_by_sweeps() -> None:  # noqa: N802 - C is the penalty
    def swept(falling: bool):
        return cells_of(
            *(
                row(dataset="shuttle", method=m, C=c, train_seconds=(1 / c if falling else c) * f)
                for c in (1, 4, 16)
                for m, f in (("cvm", 2), ("fw", 1), ("mfw", 1))
            )
        )

    down, up = (
        {v.claim.name: v.word for v in check_claims(swept(falling), ["003-C"])} for falling in (True, False)
    )
    assert down == {"003-C-faster": "reproduced", "003-C-below-cvm": "reproduced"}
    assert up["003-C-faster"] == "not reproduced"


def test_support_sets_of_sixty_per_cent() -> None:
    def sized(part: float):
        return cells_of(
            *(
                row(dataset=d, method=m, rows=1000, support_vectors=1000 * part)
                for d in ADULT
                for m in ("cvm", "fw", "mfw")
            )
        )

    assert check_claims(sized(0.6), ["003-adult-support"])[0].word == "reproduced"
    assert check_claims(sized(0.3), ["003-adult-support"])[0].word == "not reproduced"


def test_a_deadline_that_both_missed_says_nothing_of_the_one_that_finished() -> None:
    def pair(dataset: str, liblinear: str, avsf: str):
        ended = (("liblinear", liblinear), ("avsf", avsf))
        return [row(dataset=dataset, method=m, kernel="linear", C=1, status=status) for m, status in ended]

    both = pair("a9a", "time_limit", "time_limit")
    alone = pair("covtype", "time_limit", "converged")
    (verdict,) = check_claims(cells_of(*both, *alone), ["002-avsf-finishes"])
    assert verdict.word == "reproduced"
    assert verdict.ours.evidence.startswith("cut short alone: liblinear 1 times, AVSF 0 times; both 1 times")
    (verdict,) = check_claims(cells_of(*both), ["002-avsf-finishes"])
    assert verdict.word == "not run"


def test_same_solution_compares_objectives_of_converged_pairs() -> None:
    def solved(objective: float):
        rows = [
            row(dataset="rcv1", method=m, kernel="linear", tolerance=0.01, objective=o)
            for m, o in (("liblinear", 100), ("avsf", objective))
        ]
        return check_claims(cells_of(*rows), ["002-same-solution"])[0].word

    assert solved(100.5) == "reproduced"
    assert solved(103) == "not reproduced"


def test_claims_of_most_problems_say_when_the_problems_are_not_the_papers() -> None:
    def timed(dataset: str):
        rows = [
            row(dataset=dataset, method=m, kernel="linear", tolerance=0.01, C=c, train_seconds=t)
            for c in (1, 100)
            for m, t in (("liblinear", 20 * c), ("avsf", c))
        ]
        return check_claims(cells_of(*rows), ["002-order"])[0].ours

    assert "[with problems not the paper's: a9a]" in timed("a9a").evidence
    assert "not the paper's" not in timed("rcv1").evidence


@pytest.mark.parametrize("form", ["terminal", "markdown", "csv"])
def test_every_form_has_every_claim(form: str) -> None:
    text = show.render(check_claims(None), form)
    assert all(name in text for name in CLAIMS)
    assert form != "terminal" or max(map(len, text.splitlines())) <= 80


def test_numbers_borrowed_from_003_say_so() -> None:
    found = check_claims(None, ["000-adult-mfw-faster-than-fw"])
    assert "paper: holds in the printed numbers of 003: " in show.render(found, "terminal")


def test_verdicts_on_smaller_or_unfinished_runs_say_so() -> None:
    cells = web({"cvm": [5, 5, 5], "fw": [1, 1, 1]}, rows=2477)
    assert caveats(cells) == ["fewer training rows than published: w2a 2,477 of 3,470, w3a 2,477 of 4,912"]
    unfinished = cells_of(row(dataset="w1a", method="fw", rows=2477, status="time_limit"))
    assert caveats(unfinished) == ["time_limit in w1a/fw"]
    text = show.render(check_claims(cells, ["003-web-faster"]), "terminal", caveats(cells))
    assert "fewer training rows" in text


def test_an_unknown_claim_is_an_error() -> None:
    with pytest.raises(UsageError, match="no claim's name begins with 005"):
        check_claims(None, ["005"])


def test_a_comparison_of_times_that_were_all_cut_short_is_not_run() -> None:
    cut = {m: [10.0] * 8 for m in ("cvm", "mfw")}
    rows = [
        row(dataset=d, method=m, train_seconds=t)
        for m, ts in cut.items()
        for d, t in zip(WEB, ts, strict=True)
    ]
    rows += [row(dataset=d, method="fw", train_seconds=20.0, status="time_limit") for d in WEB]
    (verdict,) = check_claims(cells_of(*rows), ["003-friedman-time"])
    assert verdict.word == "not run"


def test_bounds_decide_only_what_they_can() -> None:
    """A growth, or the course over C, of times that were all cut short at one limit says nothing."""

    def run(dataset, method, seconds, **more):
        return row(dataset=dataset, method=method, train_seconds=seconds, **more)

    cut = {"status": "time_limit"}
    series = [run(d, "cvm", 1.0 + i, rows=1000 * (i + 1)) for i, d in enumerate(WEB)]
    series += [run(d, "fw", 10.0, rows=1000 * (i + 1), **cut) for i, d in enumerate(WEB)]
    (verdict,) = check_claims(cells_of(*series), ["003-scales-better"])
    assert verdict.word == "not run"
    times = {"cvm": (10, 5, 10), "fw": (10, 6, 4)}
    sweep = [
        run("shuttle", m, t, C=C, **(cut if t == 10 else {}))
        for m in times
        for C, t in zip((1, 16, 256), times[m], strict=True)
    ]
    faster, below = check_claims(cells_of(*sweep), ["003-C-faster", "003-C-below-cvm"])
    assert (faster.ours.holds, faster.ours.evidence.count("FW")) == (True, 1)
    assert "FW faster than CVM at 1 of 2 points" in below.ours.evidence


def linear(seconds: dict[str, list[float]], cut: dict[str, list[int]], **more):
    """Return rows of both solvers on cover type at C = 1, 10, ..., some of which a limit cut short."""
    return [
        row(
            dataset="covtype", method=method, kernel="linear", C=10**place, train_seconds=time,
            status="time_limit" if place in cut.get(method, ()) else "converged", **{"tolerance": 0.01} | more,
        )
        for method, times in seconds.items() for place, time in enumerate(times)
    ]  # fmt: skip


def test_equal_limits_are_no_equal_times() -> None:
    times = {"liblinear": [1.0, 600.0], "avsf": [1.0, 600.0]}
    both = {"liblinear": [1], "avsf": [1]}
    rows = [*linear(times, both), *linear(times, both, tolerance=0.001)]
    (verdict,) = check_claims(cells_of(*rows), ["002-covtype-tolerance"])
    assert verdict.word == "reproduced"
    assert verdict.ours.evidence.startswith("time at eps=0.001 over eps=0.01: 1.00 to 1.00")
    late, cut = {m: t[1:] for m, t in times.items()}, {m: [0] for m in both}
    rows = [*linear(late, cut), *linear(late, cut, tolerance=0.001)]
    (verdict,) = check_claims(cells_of(*rows), ["002-covtype-tolerance"])
    assert verdict.word == "not run"


def test_growth_and_share_of_the_largest_C_are_of_times_or_of_bounds_that_decide() -> None:  # noqa: N802
    rows = linear({"liblinear": [1, 5, 8, 10], "avsf": [1, 2, 4, 40]}, {"liblinear": [1, 2, 3]})
    grown, share = check_claims(cells_of(*rows), ["002-time-grows", "002-grid-dominated"])
    assert grown.ours.evidence.startswith("times grow by factors of 10.0 to 40.0")
    assert share.ours.evidence.startswith("the largest C takes 85% to 85% of a row's time")


def test_sweeps_of_two_experiments_are_not_mixed() -> None:
    def swept(experiment: str, fw: float):
        times = (("cvm", 2.0), ("fw", fw), ("mfw", 1.0))
        return [
            row(experiment=experiment, dataset="shuttle", method=m, C=c, train_seconds=t * scale / c)
            for c in (1, 4, 16) for m, t in times for scale in [100.0 if experiment == "slow" else 1.0]
        ]  # fmt: skip

    rows = [*swept("quick", fw=1.0), *swept("slow", fw=1.0)]
    (below,) = check_claims(cells_of(*rows), ["003-C-below-cvm"])
    assert "FW faster than CVM at 6 of 6 points" in below.ours.evidence
    times = linear({"liblinear": [1, 2], "avsf": [1, 2]}, {}, experiment="short")
    times += linear({"liblinear": [10, 20, 30], "avsf": [5, 10, 15]}, {}, experiment="long")
    (grown,) = check_claims(cells_of(*times), ["002-time-grows"])
    assert grown.ours.evidence.startswith("times grow by factors of 3.00 to 3.00")


def test_a_speed_up_over_a_baseline_that_was_cut_short_leaves_growth_open() -> None:
    check = growing_speedup("fw", WEB)

    def found(cvm: list[float], *cut: int):
        rows = [
            row(dataset=d, method=m, train_seconds=t, status="time_limit" if m == "cvm" and i in cut else "converged")
            for m, times in (("cvm", cvm), ("fw", [1.0] * 3)) for i, (d, t) in enumerate(zip(WEB, times, strict=False))
        ]  # fmt: skip
        return check(View(cells_of(*rows), ("cvm", "fw")))

    assert found([2, 4, 8], 2).holds, "the last is 8 or more"
    assert found([2, 4, 8], 1) is None, "the second may be above the last"
    assert found([2, 4, 4], 2) is None
    assert not found([2, 4, 3], 1).holds, "3 is below 4 or more"
