"""The classifiers pass scikit-learn's own checks and say what scikit-learn's machines say."""

import os
import pydoc
import re
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import fwsvm
from fwsvm.estimators import DualCoordinateSVC, FrankWolfeSVC, StochasticSVC

EVERY = [kind(random_state=0) for kind in (FrankWolfeSVC, DualCoordinateSVC, StochasticSVC)]
KERNEL = [FrankWolfeSVC(random_state=0), StochasticSVC(random_state=0)]
X, Y3 = make_classification(
    n_samples=150, n_features=6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=1
)
Y3 = np.array(["cat", "ant", "bee"])[Y3]
TWO = Y3 != "cat"
X2, Y2 = X[TWO], Y3[TWO]


def named(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=lambda e: type(e).__name__)


ONE_ROW = "the check leaves a class one row, which cannot be both trained on and held out"
WITH_PROBABILITIES = {
    "check_classifiers_train": "as in SVC, votes of the pairs and coupled probabilities may name different classes",
    "check_sample_weight_equivalence_on_dense_data": ONE_ROW,
    "check_sample_weight_equivalence_on_sparse_data": ONE_ROW,
}  # what the law of weights is without the check: test_probability.py


COPIES = "as in SVC, a weight is a factor of C, and no row given twice for the default width and the steps"
WEIGHTS = {f"check_sample_weight_equivalence_on_{form}_data": COPIES for form in ("dense", "sparse")}


@parametrize_with_checks(EVERY, expected_failed_checks=lambda _: WEIGHTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [FrankWolfeSVC(probability=True)], expected_failed_checks=lambda _: WITH_PROBABILITIES
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks_of_a_machine_with_probabilities(estimator, check):
    check(estimator)


@named(EVERY)
def test_help_shows_every_parameter_with_its_default_and_meaning(estimator):
    text = pydoc.plain(pydoc.render_doc(type(estimator)))
    assert "SVC(C=1.0, *, method=" in text
    for name, default in type(estimator)().get_params().items():
        assert f"{name}={default!r}" in text
        assert re.search(rf"\b{name} : .{{9}}", text)


@named(EVERY)
def test_two_classes_are_scikit_learns_way_round(estimator):
    fitted = clone(estimator).fit(X2, Y2)
    assert fitted.classes_.tolist() == ["ant", "bee"]
    values = fitted.decision_function(X2)
    assert values.shape == (len(X2),)
    assert (fitted.predict(X2) == np.where(values > 0, "bee", "ant")).all()
    assert fitted.score(X2, Y2) > 0.85
    assert (fwsvm.predict(fitted.result_, X2) == fitted.predict(X2)).all()
    assert fitted.result_.certified


@named(KERNEL)
def test_the_attributes_are_the_machine(estimator):
    for rows, labels in ((X2, Y2), (X, Y3)):
        fitted = clone(estimator).set_params(kernel="linear", decision_function_shape="ovo").fit(rows, labels)
        K, s = len(fitted.classes_), fitted.support_vectors_.shape[0]
        assert fitted.dual_coef_.shape == (K - 1, s)
        assert fitted.n_support_.sum() == s
        assert fitted.intercept_.shape == (K * (K - 1) // 2,)
        decision = rows @ fitted.coef_.T + fitted.intercept_
        assert np.allclose(decision.squeeze(), fitted.decision_function(rows))
        ends = np.concatenate([[0], np.cumsum(fitted.n_support_)])
        lookup = {tuple(row): label for row, label in zip(rows, labels, strict=True)}
        for c in range(K):
            assert {lookup[tuple(v)] for v in fitted.support_vectors_[ends[c] : ends[c + 1]]} <= {
                fitted.classes_[c]
            }
    assert not hasattr(clone(estimator).fit(X2, Y2), "coef_")
    two = clone(estimator).set_params(kernel="linear").fit(X2, Y2)
    by_hand = two.dual_coef_ @ two.support_vectors_
    assert np.allclose(by_hand, two.coef_)
    assert (two.dual_coef_[0, : two.n_support_[0]] <= 0).all()


@named(KERNEL)
def test_several_classes_have_a_value_a_class_or_a_pair(estimator):
    fitted = clone(estimator).fit(X, Y3)
    rest = fitted.decision_function(X)
    pairs = fitted.set_params(decision_function_shape="ovo").decision_function(X)
    assert rest.shape == pairs.shape == (len(X), 3)
    votes = np.rint(rest)
    assert (votes.sum(axis=1) == 3).all()
    clear = votes.max(axis=1) == 2
    assert (fitted.classes_[rest.argmax(axis=1)] == fitted.predict(X))[clear].all()
    assert (pairs[:, 0] > 0).sum() > 0
    with pytest.raises(ValueError, match="'ovr' or 'ovo', not 'rest'"):
        clone(estimator).set_params(decision_function_shape="rest").fit(X, Y3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_linear_machine_is_liblinears(loss):
    ours = DualCoordinateSVC(C=0.7, loss=loss, tol=1e-9, max_iter=-1).fit(X, Y3)
    theirs = LinearSVC(C=0.7, loss=loss, dual=True, tol=1e-10, max_iter=1_000_000).fit(X, Y3)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    decision = X @ ours.coef_.T + ours.intercept_
    assert np.allclose(decision, ours.decision_function(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_class_weights_of_the_linear_machine_are_factors_of_c_for_rows():
    ours = DualCoordinateSVC(loss="hinge", class_weight="balanced", tol=1e-9, max_iter=-1).fit(X, Y3)
    theirs = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000)
    theirs.fit(X, Y3, sample_weight=compute_sample_weight("balanced", Y3))
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_words_for_gamma_are_scikit_learns_numbers(form):
    for word, value in (("scale", 1 / (6 * X2.var())), ("auto", 1 / 6)):
        fitted = FrankWolfeSVC(gamma=word).fit(form(X2), Y2)
        assert fitted.result_.settings["gamma"] == pytest.approx(value)


def test_balanced_weights_allow_a_class_without_weight():
    first = np.unique(Y3)[0]
    fitted = FrankWolfeSVC(class_weight="balanced").fit(X, Y3, sample_weight=first != Y3)
    assert first not in fitted.predict(X)


@named(KERNEL)
def test_a_fit_that_fails_leaves_the_machine_that_was(estimator):
    fitted = clone(estimator).set_params(gamma=0.1, max_iter=200, random_state=0)
    fitted.fit(X2, (Y2 == "ant").astype(int))
    before = fitted.predict(X2)
    with pytest.raises(ValueError, match="gamma"):
        fitted.set_params(gamma=-1.0).fit(X2, Y2)
    assert np.array_equal(fitted.predict(X2), before)
    fresh = clone(estimator).set_params(gamma=-1.0)
    with pytest.raises(ValueError, match="gamma"):
        fresh.fit(X2, Y2)
    assert not hasattr(fresh, "classes_")


@pytest.mark.parametrize("labels", [Y2, Y3], ids=["two", "three"])
def test_support_numbers_the_rows_of_fit(labels):
    rows = X2 if labels is Y2 else X
    weights = np.arange(len(rows)) % 3
    for kernel, values in (("rbf", rows), ("precomputed", rows @ rows.T), (lambda A, B: A @ B.T, rows)):
        fitted = FrankWolfeSVC(kernel=kernel).fit(values, labels, sample_weight=weights)
        assert weights[fitted.support_].all()
        expected = np.repeat(fitted.classes_, fitted.n_support_)
        assert (labels[fitted.support_] == expected).all()
        if kernel == "rbf":
            assert (rows[fitted.support_] == fitted.support_vectors_).all()
    assert not hasattr(FrankWolfeSVC(), "support_")


def test_the_stochastic_machine_has_no_weights():
    with pytest.raises(TypeError, match="sample_weight"):
        StochasticSVC().fit(X2, Y2, sample_weight=np.ones(len(X2)))
    assert "class_weight" not in StochasticSVC().get_params()


@named(EVERY)
def test_searches_pipelines_and_clones_work(estimator):
    name = type(estimator).__name__.lower()
    pipeline = make_pipeline(StandardScaler(), clone(estimator))
    search = GridSearchCV(pipeline, {f"{name}__C": [0.01, 1.0]}, cv=3).fit(X2, Y2)
    assert search.best_score_ > 0.85
    best = search.best_estimator_[-1]
    assert best.get_params() == clone(best).get_params()
    assert (search.predict(X2) == clone(search.best_estimator_).fit(X2, Y2).predict(X2)).mean() > 0.98


@named(EVERY)
def test_what_does_not_converge_says_so(estimator):
    hard = clone(estimator).set_params(max_iter=1, tol=1e-4)
    with pytest.warns(ConvergenceWarning, match="iteration limit was reached.*relative gap is"):
        hard.fit(X, Y3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(estimator).fit(X, Y3).result_.certified


def test_a_fit_that_leaves_pairs_of_classes_unsolved_tells_no_gap():
    X, y = make_classification(200, 5, n_informative=5, n_redundant=0, n_classes=8, random_state=0)
    with pytest.warns(ConvergenceWarning, match="were not reached") as told:
        FrankWolfeSVC(C=1e4, time_limit=1e-9, n_jobs=1).fit(X, y)
    assert "nan" not in str(told[0].message)


def test_unscaled_rows_are_said_before_training_and_end_after_a_thousand_visits_to_each():
    rows, labels = load_breast_cancer(return_X_y=True)
    said = 'the widest feature spans .*, so training may take very many steps; scale="\\[0,1\\]" brings all'
    with pytest.warns(UserWarning, match=said), pytest.warns(ConvergenceWarning, match="iteration limit"):
        stopped = DualCoordinateSVC().fit(rows, labels)
    assert stopped.n_iter_ == 1000 * len(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DualCoordinateSVC(scale="[0,1]").fit(rows, labels).result_.certified


@pytest.mark.parametrize("kind", [DualCoordinateSVC, FrankWolfeSVC, StochasticSVC])
def test_warnings_name_the_users_line(kind):
    rows, labels = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kind(max_iter=1, tol=1e-9).fit(rows, labels)
    assert {one.category for one in said} == {UserWarning, ConvergenceWarning}
    assert {one.filename for one in said} == {__file__}


def test_ctrl_c_ends_a_search_and_not_one_fit_only(request):
    # dask-jobqueue, which another test imports, takes SIGINT for itself
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))

    def pressed():
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        FrankWolfeSVC(method="fw", tol=1e-12).fit(X, Y3)  # fw would take hours

    with pytest.raises(KeyboardInterrupt):
        pressed()


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (FrankWolfeSVC(method="avsf"), "method of FrankWolfeSVC must be one of .*auto, .*, not 'avsf'"),
        (FrankWolfeSVC(method="smo"), "method of FrankWolfeSVC must be one of (?!.*avsf).*, not 'smo'"),
        (FrankWolfeSVC(method="swpa"), "did you mean 'swap'"),
        (FrankWolfeSVC(C=-1), "C must be a positive number"),
        (DualCoordinateSVC(loss="log"), "must be one of hinge, squared_hinge"),
        (StochasticSVC(parameters={"grwth": "theory"}), "did you mean 'growth'"),
        (StochasticSVC(stop="meb"), "stop of scs must be"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_wrong_parameter_is_a_value_error_in_one_sentence(estimator, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X2, Y2)


def test_without_scikit_learn_importing_says_what_is_missing(tmp_path):
    (tmp_path / "sklearn.py").write_text("raise ImportError('not installed')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport fwsvm.estimators"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: fwsvm.estimators needs scikit-learn: pip install 'fwsvm[sklearn]'"
    )
    assert "During handling" not in done.stderr
