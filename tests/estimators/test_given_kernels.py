"""Kernels that are matrices or functions, in the classifiers and in scikit-learn's searches."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fwsvm.estimators import FrankWolfeSVC, StochasticSVC

X, Y3 = make_classification(
    n_samples=150, n_features=6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=1
)
Y3 = np.array(["cat", "ant", "bee"])[Y3]
K = rbf_kernel(X, gamma=0.1)
TIGHT = {"tol": 1e-7, "random_state": 0}


def narrow(A, B):
    return rbf_kernel(A, B, gamma=0.1)


INDEFINITE = "the check's matrix has negative eigenvalues, with which no gap would prove anything"


@parametrize_with_checks(
    [FrankWolfeSVC(kernel="precomputed")],
    expected_failed_checks=lambda _: {
        "check_positive_only_tag_during_fit": INDEFINITE,
        "check_estimators_dtypes": INDEFINITE,
    },
)
def test_scikit_learns_checks_of_a_matrix(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rows", [Y3 != "cat", np.ones(len(X), dtype=bool)], ids=["two", "three"])
def test_matrix_function_and_name_are_one_kernel(rows):
    rows = np.flatnonzero(rows)
    named = FrankWolfeSVC(gamma=0.1, **TIGHT).fit(X[rows], Y3[rows])
    matrix = FrankWolfeSVC(kernel="precomputed", **TIGHT).fit(K[np.ix_(rows, rows)], Y3[rows])
    function = FrankWolfeSVC(kernel=narrow, **TIGHT).fit(X[rows], Y3[rows])
    thin = FrankWolfeSVC(kernel=narrow, **TIGHT).fit(sparse.csr_array(X[rows]), Y3[rows])
    expected = named.decision_function(X)
    for found in (
        matrix.decision_function(K[:, rows]),
        *(each.decision_function(X) for each in (function, thin)),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-3)
    assert all(each.result_.certified for each in (named, matrix, function, thin))
    values = K[:, rows][:, matrix.support_] @ matrix.dual_coef_.T
    if len(matrix.classes_) == 2:
        np.testing.assert_allclose(values[:, 0] + matrix.intercept_, matrix.decision_function(K[:, rows]))
        by_hand = narrow(X, X[rows][function.support_]) @ function.dual_coef_[0] + function.intercept_
        np.testing.assert_allclose(by_hand, function.decision_function(X))
    assert (
        matrix.support_vectors_.shape
        == (0, 0)
        == SVC(kernel="precomputed").fit(K[np.ix_(rows, rows)], Y3[rows]).support_vectors_.shape
    )


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (lambda *_: np.ones(3), r"it returns shape \(3,\)"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "must return finite numbers"),
        (lambda A, B: -A @ B.T, "not positive semidefinite"),
        (lambda A, B: np.arange(len(A) * len(B)).reshape(len(A), len(B)), "not symmetric"),
    ],
    ids=["shape", "nan", "negative", "unsymmetric"],
)  # fmt: skip
def test_a_function_that_is_no_kernel_is_a_sentence(kernel, sentence):
    with pytest.raises(ValueError, match=sentence):
        FrankWolfeSVC(kernel=kernel).fit(X, Y3)


def test_what_means_nothing_to_kernel_values_is_refused():
    with pytest.raises(ValueError, match="a square matrix"):
        FrankWolfeSVC(kernel="precomputed").fit(X, Y3)
    for kernel in ("precomputed", narrow):
        with pytest.raises(ValueError, match="scale is for features"):
            FrankWolfeSVC(kernel=kernel, scale="[0,1]").fit(K, Y3)
        with pytest.raises(ValueError, match="name a kernel of rows"):
            StochasticSVC(kernel=kernel).partial_fit(K, Y3, classes=np.unique(Y3))
    with pytest.raises(ValueError, match="X has 6 features, but FrankWolfeSVC is expecting 150"):
        FrankWolfeSVC(kernel="precomputed").fit(K, Y3).predict(X)
