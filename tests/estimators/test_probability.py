"""Probabilities of the classifiers and of `fwsvm.train`, against LIBSVM's and scikit-learn's own."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss

import fwsvm
from fwsvm.errors import DataError, UsageError
from fwsvm.estimators import FrankWolfeSVC, StochasticSVC

X, Y3 = make_classification(
    n_samples=240, n_features=5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1,
    flip_y=0.2, random_state=1,
)  # fmt: skip
Y3 = np.array(["cat", "ant", "bee"])[Y3]
TWO = Y3 != "cat"
SETTINGS = {"gamma": 0.1, "tol": 1e-8, "random_state": 0, "probability": True}


@pytest.mark.parametrize("rows", [TWO, np.ones(len(X), dtype=bool)], ids=["two", "three"])
def test_probabilities_are_those_of_the_model_in_scikit_learns_order(rows):
    fitted = FrankWolfeSVC(**SETTINGS).fit(X[rows], Y3[rows])
    found, classes = fitted.predict_proba(X), fitted.result_.model.classes
    ours = fwsvm.predict(fitted.result_, X, probability=True)
    np.testing.assert_array_equal(ours[:, [classes.index(name) for name in fitted.classes_]], found)
    np.testing.assert_allclose(fitted.predict_log_proba(X), np.log(found))


@pytest.mark.parametrize("kind", [FrankWolfeSVC, StochasticSVC])
def test_probabilities_are_better_than_none_and_sum_to_one(kind):
    fitted = kind(**SETTINGS | {"tol": 1e-3}).fit(X[::2], Y3[::2])
    found = fitted.predict_proba(X[1::2])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert log_loss(Y3[1::2], found) < 0.9 < np.log(3)
    assert (fitted.classes_[found.argmax(axis=1)] == fitted.predict(X[1::2])).mean() > 0.9


def test_probabilities_are_there_only_where_they_were_asked_for():
    plain = FrankWolfeSVC(gamma=0.1).fit(X, Y3)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(plain, name)
        with pytest.raises(AttributeError, match="make it with probability=True"):
            getattr(plain, name)
    with pytest.raises(NotFittedError, match="fitted with probability=False; fit it again"):
        plain.set_params(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError):
        FrankWolfeSVC(probability=True).predict_proba(X)
    with pytest.raises(UsageError, match="in Python with probability=True"):
        fwsvm.predict(plain.result_, X, probability=True)
    with pytest.raises(UsageError, match="probability=True is for kernel methods, and avsf"):
        fwsvm.train(X, Y3, method="avsf", probability=True)


def test_a_class_of_one_row_is_refused_before_training():
    labels = np.where(np.arange(len(X)) == 3, "one", Y3)
    with pytest.raises(ValueError, match="class one has too few rows"):
        FrankWolfeSVC(probability=True).fit(X, labels)
    with pytest.raises(DataError, match="class one has too few rows"):
        fwsvm.train(X, labels, probability=True)


def test_folds_that_do_not_converge_say_so(monkeypatch):
    from fwsvm.experiments import probability

    real, few = probability.fit, fwsvm.solvers.Settings(method="fw", max_iterations=1, tolerance=1e-9)
    monkeypatch.setattr(
        probability,
        "fit",
        lambda *rows, **more: real(*rows[:3], few if len(rows[0]) < len(X) else rows[3], **more),
    )
    with pytest.warns(ConvergenceWarning, match="Of the 5 folds for probabilities 5 ended in another way"):
        FrankWolfeSVC(**SETTINGS).fit(X, Y3)
