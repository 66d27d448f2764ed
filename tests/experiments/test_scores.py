"""Scores against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.experiments.cross_validation import SCORES, refuse_scores

metrics = pytest.importorskip("sklearn.metrics")
NONE = np.empty((0, 1))


@st.composite
def judged(draw, classes=4):
    size = draw(st.integers(1, 30))
    codes = st.lists(st.integers(0, classes - 1), min_size=size, max_size=size)
    return np.array(draw(codes)), np.array(draw(codes))


@pytest.mark.filterwarnings("ignore")  # of classes that are predicted and do not occur
@given(judged())
def test_scores_of_any_classes(pair):
    true, predicted = pair
    for name, peer in {
        "balanced-accuracy": metrics.balanced_accuracy_score(true, predicted),
        "f1-macro": metrics.f1_score(true, predicted, average="macro", zero_division=0),
    }.items():
        assert SCORES[name](true, predicted, NONE) == pytest.approx(peer), name


@given(judged(classes=2))
def test_f1_is_of_the_class_number_0(pair):
    true, predicted = pair
    peer = metrics.f1_score(true, predicted, pos_label=0, average="binary", zero_division=0)
    assert SCORES["f1"](true, predicted, NONE) == pytest.approx(peer)


@given(judged(classes=2), st.data())
def test_auc_with_ties(pair, data):
    true = np.concatenate([[0, 1], pair[0]])
    value = st.sampled_from([-1.5, 0.0, 0.25, 2.0])
    decision = np.array(data.draw(st.lists(value, min_size=len(true), max_size=len(true))))
    peer = metrics.roc_auc_score(true == 0, decision)
    assert SCORES["auc"](true, true, decision[:, None]) == pytest.approx(peer)


def test_scores_of_two_classes_are_refused_for_more():
    with pytest.raises(
        UsageError, match="auc is for two classes, and these rows have 3; choose among accuracy"
    ):
        refuse_scores(["accuracy", "auc"], ("1", "2", "3"))
    refuse_scores(["f1", "auc"], ("1", "2"))
