"""Rows in portions (`partial_fit`), and what scikit-learn routes through its own machinery."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn.datasets import make_classification

from fwsvm.estimators import FrankWolfeSVC, StochasticSVC

X, Y3 = make_classification(
    n_samples=600, n_features=6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=1
)
Y3 = np.array(["cat", "ant", "bee"])[Y3]
TWO = Y3 != "cat"
LABELS = np.unique(Y3)


def portions(count):
    return np.array_split(np.arange(len(X)), count)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("labels", [Y3, np.where(Y3 == "cat", 7, 3)], ids=["three", "two"])
def test_portions_come_near_what_all_rows_give(form, labels):
    machine = StochasticSVC(gamma=0.1, lam=1e-3, random_state=0)
    for _ in range(3):
        for some in portions(6):
            machine.partial_fit(form(X[some]), labels[some], classes=np.unique(labels))
    whole = StochasticSVC(gamma=0.1, lam=1e-3, random_state=0).fit(X, labels)
    assert machine.rows_seen_.tolist() == (3 * np.unique(labels, return_counts=True)[1]).tolist()
    assert machine.score(X, labels) > whole.score(X, labels) - 0.03
    assert not machine.result_.certified
    assert "proves no gap" in machine.result_.message
    assert machine.support_vectors_.shape[0] == machine.n_support_.sum() == machine.dual_coef_.shape[1]


def test_portions_follow_a_fit_and_a_fit_begins_anew():
    machine = StochasticSVC(gamma=0.1, random_state=0).fit(X[:300], Y3[:300])
    before = machine.decision_function(X)
    machine.partial_fit(X[300:302], Y3[300:302])
    after = machine.decision_function(X)
    assert (before != after).any()
    assert (before.argmax(axis=1) == after.argmax(axis=1)).mean() > 0.9
    again = machine.fit(X[:300], Y3[:300]).decision_function(X)
    assert (again == before).all()


def test_what_a_portion_cannot_be_is_said():
    rows = X[:9], Y3[:9]
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        StochasticSVC().partial_fit(*rows)
    with pytest.raises(ValueError, match="the label 'cat' is not among the classes"):
        StochasticSVC().partial_fit(X, Y3, classes=["ant", "bee"])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        StochasticSVC().partial_fit(*rows, classes=LABELS).partial_fit(*rows, classes=["ant", "bee"])
    for wrong in ({"scale": "[0,1]"}, {"probability": True}, {"lam": -1.0}):
        with pytest.raises(
            ValueError, match=r"leave out scale and probability|lambda must be a positive number"
        ):
            StochasticSVC(**wrong).partial_fit(*rows, classes=LABELS)
    alone = StochasticSVC().partial_fit(X[Y3 == "ant"], Y3[Y3 == "ant"], classes=LABELS)
    assert set(alone.predict(X)) <= set(LABELS)


def test_the_names_of_features_are_those_of_the_training_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(6)])
    machine = FrankWolfeSVC(random_state=0).fit(frame, Y3)
    assert list(machine.feature_names_in_) == list(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        machine.predict(frame.rename(columns=str.upper))


def test_no_limit_is_minus_one_for_seconds_too():
    assert FrankWolfeSVC(time_limit=-1, max_iter=-1).fit(X, Y3).result_.certified
