"""Rows in portions (`partial_fit`), and what scikit-learn routes through its own machinery."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

from fwsvm.estimators import DualCoordinateSVC, FrankWolfeSVC, StochasticSVC

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
    with pytest.raises(ValueError, match="the label 'cat' is none of the classes 'ant', 'bee'"):
        StochasticSVC().partial_fit(X, Y3, classes=["ant", "bee"])
    with pytest.raises(ValueError, match="classes are 'ant', 'bee', but were 'ant', 'bee', 'cat' in"):
        StochasticSVC().partial_fit(*rows, classes=LABELS).partial_fit(*rows, classes=["ant", "bee"])
    with pytest.raises(ValueError, match="one class only"):
        StochasticSVC().partial_fit(X, np.zeros(len(X)), classes=[0])
    with pytest.raises(ValueError, match="scale them before"):
        StochasticSVC(scale="[0,1]").partial_fit(*rows, classes=LABELS)
    with pytest.raises(ValueError, match="probabilities need folds of all rows"):
        StochasticSVC(probability=True).partial_fit(*rows, classes=LABELS)
    with pytest.raises(ValueError, match="lambda must be a positive number"):
        StochasticSVC(lam=-1.0).partial_fit(*rows, classes=LABELS)
    with pytest.raises(ValueError, match="is expecting 6 features"):
        StochasticSVC().partial_fit(*rows, classes=LABELS).partial_fit(X[:9, :3], Y3[:9])
    alone = StochasticSVC().partial_fit(X[Y3 == "ant"], Y3[Y3 == "ant"], classes=LABELS)
    assert set(alone.predict(X)) <= set(LABELS)


@pytest.mark.parametrize("kind", [FrankWolfeSVC, DualCoordinateSVC])
def test_requested_weights_reach_fit_and_score_inside_a_search_over_a_pipeline(kind):
    weights = np.where(Y3[TWO] == "ant", 5.0, 0.2)
    with sklearn.config_context(enable_metadata_routing=True):
        machine = kind(random_state=0, tol=1e-6).set_fit_request(sample_weight=True)
        machine.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        whole = Pipeline([("scale", scaler), ("machine", machine)])
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(whole, {"machine__C": [0.1, 1.0]}, cv=folds)
        search.fit(X[TWO], Y3[TWO], sample_weight=weights)
        by_hand = []
        for C in (0.1, 1.0):
            scores = []
            for train, test in folds.split(X[TWO], Y3[TWO]):
                scaled = StandardScaler().fit(X[TWO][train])
                fitted = kind(C, random_state=0, tol=1e-6)
                fitted.fit(scaled.transform(X[TWO][train]), Y3[TWO][train], sample_weight=weights[train])
                rows = scaled.transform(X[TWO][test])
                scores.append(fitted.score(rows, Y3[TWO][test], sample_weight=weights[test]))
            by_hand.append(np.mean(scores))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)


def test_what_takes_no_weights_has_no_request_for_them():
    with sklearn.config_context(enable_metadata_routing=True):
        assert not hasattr(StochasticSVC(), "set_fit_request")
        assert StochasticSVC().set_partial_fit_request(classes=True) is not None
        assert "sample_weight" in get_routing_for_object(FrankWolfeSVC()).fit.requests


@pytest.mark.parametrize("kind", [FrankWolfeSVC, DualCoordinateSVC, StochasticSVC])
def test_a_pipeline_with_set_output_gives_the_machine_the_names_of_features(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(6)])
    steps = [("scale", StandardScaler()), ("best", SelectKBest(k=3)), ("machine", kind(random_state=0))]
    whole = Pipeline(steps).set_output(transform="pandas").fit(frame, Y3)
    plain = clone(Pipeline(steps)).set_output(transform="default").fit(X, Y3)
    assert list(whole[-1].feature_names_in_) == list(whole[:-1].get_feature_names_out())
    assert (whole.predict(frame) == plain.predict(X)).mean() > 0.98
    with pytest.raises(ValueError, match="feature names should match"):
        whole[-1].predict(frame[["f0", "f1", "f2"]].rename(columns=str.upper))


def test_no_limit_is_minus_one_for_seconds_too():
    assert FrankWolfeSVC(time_limit=-1, max_iter=-1).fit(X, Y3).result_.certified
