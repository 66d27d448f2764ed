"""auto on large data within a time limit: the whole problem where that fits, else a sample, which says so."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm import _memory
from fwsvm.errors import UsageError
from fwsvm.kernels.rows import as_rows
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.auto import in_time
from fwsvm.solvers.auto.grouped_rows import grouped_rows, pairs_of
from fwsvm.solvers.auto.samples import HELD_OUT, forecast_seconds, nested
from tests import naive

CLASSES = ("a", "b")
ENOUGH = 1e6  # seconds, into which any forecast fits, however busy the machine


def noisy(m=1200, seed=0):
    """Return rows of two features of which many are support vectors, and their class numbers."""
    rng = np.random.default_rng(seed)
    X = rng.random((m, 2)) * 4
    codes = ((np.floor(X).sum(axis=1) % 2 == 0) ^ (rng.random(m) < 0.1)).astype(np.int64)
    return X, codes


def train(X, codes, watch=None, *, samples_from=1000, **given):
    asked = {"C": 10.0, "threads": 1, "cache_mib": 64, "time_limit": ENOUGH, **given}
    parameters = {"samples_from": samples_from}
    return fit(X, codes, CLASSES, Settings("auto", parameters=parameters, **asked), watch=watch)


@pytest.fixture
def whole_never_fits(monkeypatch):
    """Let all samples fit into the time, and the whole problem not: which rows are asked for tells them apart."""

    def fits(course, path, rows, *least):
        return rows < len(course.data.codes)

    monkeypatch.setattr(in_time.SampleTrials, "_fits", fits)


@given(st.lists(st.integers(1, 400), min_size=2, max_size=5), st.integers(0, 2**32))
@settings(deadline=None)
def test_samples_and_rows_held_out_are_apart_and_have_their_share_of_each_class(counts, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    order, held_out = nested(codes, seed % 1000)
    assert sorted([*order, *held_out]) == list(range(len(codes)))
    assert len(held_out) == min(HELD_OUT, len(codes) // 10)
    assert set(codes[order[: len(counts)]].tolist()) == set(range(len(counts)))
    for n in (len(order) // 2, len(order)):
        if n >= len(counts):
            found = Counter(codes[order[:n]].tolist())
            for k, count in enumerate(counts):
                assert abs(found[k] - n * count / len(codes)) <= len(counts) + 1


@pytest.mark.parametrize(
    ("seconds", "least", "expected"),
    [((1.0, 2.0), 1.0, 8.0), ((1.0, 4.0), 1.0, 64.0), ((1.0, 2.0), 2.0, 32.0), ((4.0, 1.0), 1.0, 4.0),
     ((1.0, 100.0), 1.0, 6400.0)],
)  # fmt: skip
def test_seconds_are_forecast_by_the_power_of_the_last_growth(seconds, least, expected):
    assert forecast_seconds((100, 200), seconds, 800, least) == pytest.approx(expected)


def test_where_the_time_is_enough_the_result_is_the_whole_problems():
    X, codes = noisy()
    found = train(X, codes)
    matrix = naive.extended(naive.gram("rbf", X, X, found.settings["gamma"]), 1.0 - 2.0 * codes, 10.0)
    best = naive.simplex_optimum(matrix)
    assert found.sample is None
    assert found.status is Status.CONVERGED
    assert found.certified
    assert found.settings["width_rule"] == "paper"
    assert found.objective - found.gap <= float(best @ matrix @ best) * (1 + 1e-8)
    assert found.objective >= float(best @ matrix @ best) * (1 - 1e-8)


def test_where_the_time_is_enough_by_far_one_sample_is_drawn_and_the_result_is_that_without_a_limit(
    monkeypatch,
):
    X, codes = noisy()
    real, rows = in_time.train, []

    def noted(some, *given):
        rows.append(some.shape[0])
        return real(some, *given)

    monkeypatch.setattr(in_time, "train", noted)
    found, without = train(X, codes), train(X, codes, time_limit=None)
    assert len(rows) == 2
    assert rows[-1] == 1200
    assert "decomposition" not in found.chosen
    assert (found.objective, found.gap, found.steps) == (without.objective, without.gap, without.steps)


def test_where_even_the_forecast_of_the_cube_is_needed_more_samples_decide(monkeypatch):
    X, codes = noisy()
    real, asked = in_time.SampleTrials._fits, []

    def fits(course, path, rows, *least):
        asked.append(least)
        return not least and real(course, path, rows)

    monkeypatch.setattr(in_time.SampleTrials, "_fits", fits)
    assert train(X, codes).certified
    assert asked[0] == (in_time.MOST_POWER,)
    assert len(asked) > 1


def test_fewer_rows_other_methods_and_runs_without_a_limit_are_as_they_were(monkeypatch):
    monkeypatch.setattr(in_time.SampleTrials, "run", lambda _: pytest.fail("no sample was to be drawn"))
    X, codes = noisy()
    assert train(X, codes, samples_from=1201).certified
    assert train(X, codes, time_limit=None).certified
    assert train(X, codes, max_iterations=10**6).certified
    assert train(X, codes, protocol="paper").status is Status.SAMPLED_STOP
    fit(X, codes, CLASSES, Settings("swap-2o", time_limit=ENOUGH, threads=1))


@pytest.mark.usefixtures("whole_never_fits")
def test_a_machine_of_a_sample_says_so_and_is_certified_for_the_sample():
    X, codes = noisy()
    found = train(X, codes, gamma=2.0)
    order, held_out = nested(codes, 0)
    assert found.sample.of == 1200
    assert found.sample.held_out == len(held_out) == 120
    assert found.status is Status.TIME_LIMIT
    assert found.certified
    assert f"sample of {found.sample.rows:,} rows" in found.chosen
    assert "too short for all 1,200 rows" in found.message
    assert found.settings["method"] == "auto"
    assert found.settings["lambda"] == pytest.approx(1.0 / (10.0 * found.sample.rows))
    which = order[: found.sample.rows]
    matrix = naive.extended(naive.gram("rbf", X[which], X[which], 2.0), 1.0 - 2.0 * codes[which], 10.0)
    best = naive.simplex_optimum(matrix)
    assert found.objective - found.gap <= float(best @ matrix @ best) * (1 + 1e-8)
    assert found.objective >= float(best @ matrix @ best) * (1 - 1e-8)
    right = np.mean(found.model.predict(X[held_out]) == codes[held_out])
    assert found.sample.accuracy == pytest.approx(right)
    rows = {tuple(row) for row in X[which]}
    assert all(tuple(row) in rows for row in found.model.support)


@pytest.mark.usefixtures("whole_never_fits")
def test_a_width_is_chosen_where_none_is_given_and_the_default_is_kept_where_one_is():
    X, codes = noisy()
    chosen, given = train(X, codes), train(X, codes, gamma=1e-3)
    assert chosen.settings["width_rule"] == "held-out"
    assert "gamma were chosen" in chosen.message
    assert chosen.sample.accuracy > given.sample.accuracy + 0.1
    assert given.settings["gamma"] == 1e-3
    assert train(X, codes, width_rule="readme").settings["width_rule"] == "readme"


@pytest.mark.usefixtures("whole_never_fits")
def test_samples_keep_lambda_where_lambda_is_given():
    X, codes = noisy()
    found = train(X, codes, C=None, lambda_=1e-3, gamma=2.0)
    assert found.settings["lambda"] == pytest.approx(1e-3)
    assert found.settings["C"] == pytest.approx(1.0 / (1e-3 * found.sample.rows))


def test_the_shortest_limit_still_returns_a_machine():
    X, codes = noisy()
    found = train(X, codes, time_limit=1e-6)
    assert found.status is Status.TIME_LIMIT
    assert found.sample.rows < 1200
    assert found.model.predict(X).shape == (1200,)


def end_after(monkeypatch, trials, error):
    """Let the run after so many of samples raise an error."""
    real, made = in_time.train, []

    def ended(*given):
        if len(made) == trials:
            raise error
        made.append(real(*given))
        return made[-1]

    monkeypatch.setattr(in_time, "train", ended)


@pytest.mark.parametrize("trials", [0, 2])
@pytest.mark.usefixtures("whole_never_fits")
def test_an_interrupt_returns_the_best_machine_so_far(monkeypatch, trials):
    X, codes = noisy()
    end_after(monkeypatch, trials, KeyboardInterrupt)
    if trials:
        found = train(X, codes)
        assert found.status is Status.INTERRUPTED
        assert found.sample.accuracy > 0.5
        assert found.message.startswith(Status.INTERRUPTED.sentence)
    else:
        with pytest.raises(KeyboardInterrupt):
            train(X, codes)


def test_an_interrupt_in_the_first_sample_returns_where_it_stood(monkeypatch):
    X, codes = noisy(4000)
    monkeypatch.setattr("fwsvm.solvers.subproblems.WATCH_EVERY", 0.0)

    def impatient(progress):
        raise KeyboardInterrupt

    found = train(X, codes, impatient, tolerance=1e-9)
    assert found.status is Status.INTERRUPTED
    assert np.isnan(found.sample.accuracy)
    assert not found.certified


@pytest.mark.usefixtures("whole_never_fits")
def test_several_classes_are_sampled_too():
    X, codes = noisy()
    codes = np.where(X[:, 0] < 1, 2, codes)
    found = fit(
        X, codes, ("a", "b", "c"),
        Settings("auto", C=10.0, threads=1, time_limit=ENOUGH, parameters={"samples_from": 1000}),
    )  # fmt: skip
    assert found.subproblems == 3
    assert found.sample.accuracy > 0.6


def few_rows_of_many_classes(K, each):
    """Return rows around K centres, ``each`` of every class, and their class numbers."""
    rng = np.random.default_rng(3)
    codes = rng.permutation(np.repeat(np.arange(K), each))
    return rng.normal(size=(K, 3))[codes] + 0.1 * rng.normal(size=(len(codes), 3)), codes


@pytest.mark.usefixtures("whole_never_fits")
def test_a_first_sample_has_a_row_of_each_class_however_many_there_are(monkeypatch):
    X, codes = few_rows_of_many_classes(60, 3)
    real = in_time.train

    def complete(some, some_codes, *given):
        assert set(some_codes.tolist()) == set(range(60))
        return real(some, some_codes, *given)

    monkeypatch.setattr(in_time, "train", complete)
    asked = Settings("auto", C=10.0, threads=1, time_limit=ENOUGH, parameters={"samples_from": 100})
    found = fit(X, codes, [str(k) for k in range(60)], asked)
    assert found.sample.rows >= 60
    assert found.solved == 60 * 59 // 2


def test_where_samples_cannot_have_a_row_of_each_class_none_is_drawn():
    X, codes = few_rows_of_many_classes(100, 1)
    asked = Settings("auto", C=10.0, threads=1, time_limit=ENOUGH, parameters={"samples_from": 100})
    found = fit(X, codes, [str(k) for k in range(100)], asked)
    assert found.sample is None
    assert found.certified


def test_a_last_class_without_rows_has_an_empty_range_among_grouped_rows():
    codes = np.array([1, 0, 1, 0])
    groups = grouped_rows(as_rows(np.eye(4)), codes, np.ones(4), pairs_of(3), np.arange(1))
    assert groups.starts.tolist() == [0, 2, 4, 4]


@pytest.mark.parametrize("trials", [0, 1, 2])
@pytest.mark.parametrize(
    "error", [UsageError("a kernel matrix would take too much"), MemoryError("400 MiB.")]
)
@pytest.mark.usefixtures("whole_never_fits")
def test_a_later_sample_that_is_refused_leaves_the_best_machine_so_far(monkeypatch, trials, error):
    X, codes = noisy()
    end_after(monkeypatch, trials, error)
    if trials:
        found = train(X, codes, gamma=2.0)
        assert found.status is Status.TIME_LIMIT
        assert found.certified
        assert found.sample.accuracy > 0.5
        assert "No model of all 1,200 rows was trained: " in found.message
        assert str(error).rstrip(".") in found.message
        assert "time limit" not in found.message
    else:
        with pytest.raises(type(error)):
            train(X, codes)


def test_a_whole_problem_that_is_refused_leaves_the_machine_of_the_sample(monkeypatch):
    X, codes = noisy()
    real = in_time.train

    def refused(some, *given):
        if some.shape[0] == len(X):
            raise UsageError("more memory than there is")
        return real(some, *given)

    monkeypatch.setattr(in_time, "train", refused)
    found = train(X, codes)
    assert found.sample.rows == 270
    assert "more memory than there is" in found.message


def test_a_sample_that_does_not_fit_in_memory_is_refused_before_it_is_copied(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1200, 2000))
    real, copied = in_time.Data.some, []

    def noted(data, which):
        copied.append(len(which))
        return real(data, which)

    monkeypatch.setattr(in_time.Data, "some", noted)
    monkeypatch.setattr(_memory, "UNASKED", 1 << 20)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2 << 20)
    with pytest.raises(UsageError, match="copying a sample of 270 rows would take 5 MiB"):
        train(X, np.arange(1200) % 2, gamma=1.0)
    assert copied == [120]  # the rows held out


@pytest.mark.usefixtures("whole_never_fits")
def test_rows_held_out_count_by_their_weights():
    X, codes = noisy()
    weights = np.random.default_rng(5).choice([1.0, 50.0], len(codes))
    asked = Settings(
        "auto", gamma=2.0, C=10.0, threads=1, time_limit=ENOUGH, parameters={"samples_from": 1000}
    )
    found = fit(X, codes, CLASSES, asked, weights=weights)
    _, held_out = nested(codes, 0)
    right = found.model.predict(X[held_out]) == codes[held_out]
    by_weight = weights[held_out][right].sum() / weights[held_out].sum()
    assert abs(by_weight - right.mean()) > 1e-3
    assert found.sample.accuracy == pytest.approx(by_weight)
    assert "right by weight." in found.message


def test_samples_of_too_few_rows_are_refused():
    with pytest.raises(UsageError, match="samples_from must be 100 rows or more, not 99"):
        train(*noisy(), samples_from=99)
