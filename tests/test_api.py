"""fwsvm.train, predict, save and load: the command line's numbers for files, and the same for arrays."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import fwsvm
from fwsvm._given import label_values, labels_of
from fwsvm.cli import main
from fwsvm.data import load
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.formats import svmlight
from fwsvm.data.labels import classes, encode
from fwsvm.errors import DataError, FwsvmError, ModelError, UsageError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4)) * (RNG.random(size=(80, 4)) < 0.7)
Y = np.where(X[:, 0] + 0.2 * RNG.normal(size=80) > 0, 3, -2)


@pytest.fixture(scope="module")
def trained():
    return fwsvm.train(X, Y, gamma=0.1, threads=1)


@pytest.fixture
def file(tmp_path):
    svmlight.write(tmp_path / "rows.svm", sparse.csr_array(X), Y.astype(float))
    return tmp_path / "rows.svm"


def test_unscaled_rows_are_warned_of():
    with pytest.warns(UserWarning, match="far from scaled: .*so it decides the distances"):
        fwsvm.train(X * [1, 1, 1, 1000], Y)


def test_the_names_are_there_and_asking_for_others_is_an_attribute_error():
    assert set(fwsvm.__all__) <= set(dir(fwsvm)) | {name for name in fwsvm.__all__ if hasattr(fwsvm, name)}
    with pytest.raises(AttributeError, match="no attribute 'fit'"):
        fwsvm.fit  # noqa: B018


def test_arrays_a_sparse_array_a_file_a_data_set_and_the_command_line_agree(trained, file, tmp_path):
    said = CliRunner().invoke(main, ["train", str(file), "--gamma", "0.1", "--threads", "1", "--json"])
    assert said.exit_code == 0, said.output
    row = json.loads(said.stdout)
    for data in ((sparse.csr_array(X), Y), (file,), (load(file),)):
        other = fwsvm.train(*data, gamma=0.1, threads=1)
        assert (other.objective, other.iterations) == (trained.objective, trained.iterations)
        assert other.model.classes == ("3", "-2")
    assert (row["objective"], row["iterations"]) == (trained.objective, trained.iterations)
    assert (row["relative_gap"], row["certified"]) == (trained.relative_gap, True)


def test_save_says_which_comes_first(trained, tmp_path):
    with pytest.raises(UsageError, match="the file's name comes first"):
        fwsvm.save(trained, tmp_path / "a.model")


def test_predict_returns_labels_as_they_were_given(trained):
    assert fwsvm.predict(trained, X).dtype == np.int64
    assert set(fwsvm.predict(trained, X).tolist()) == {3, -2}
    assert (fwsvm.predict(trained, X) == Y).mean() > 0.8
    named = fwsvm.train(X, np.where(Y == 3, "good", "bad"), gamma=0.1, threads=1)
    assert named.model.classes == ("good", "bad")
    assert (fwsvm.predict(named, X) == np.where(fwsvm.predict(trained, X) == 3, "good", "bad")).all()
    halves = fwsvm.train(X, Y / 2, threads=1)
    assert set(fwsvm.predict(halves, X).tolist()) == {1.5, -1.0}


@pytest.mark.parametrize("method", ["auto", "avsf"])
def test_what_is_saved_is_loaded_with_its_certificate(trained, tmp_path, method):
    result = trained if method == "auto" else fwsvm.train(X, Y, method=method, threads=1)
    fwsvm.save(tmp_path / "a.model", result)
    model = fwsvm.load(tmp_path / "a.model")
    assert (fwsvm.predict(model, X) == fwsvm.predict(result, X)).all()
    assert (model.decision(X) == result.model.decision(X)).all()
    assert model.facts["status"] == "converged"
    assert model.facts["relative_gap"] == result.relative_gap
    assert model.facts["method"] == method
    fwsvm.save(tmp_path / "b.model", model)
    assert (tmp_path / "b.model").read_bytes() == (tmp_path / "a.model").read_bytes()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("method", ["swap", "liblinear"])
def test_a_machine_refuses_rows_of_another_width(method, kind):
    dense = np.random.default_rng(0).normal(size=(60, 100))
    machine = fwsvm.train(dense, np.sign(dense[:, 0]), method=method).model
    for some in (dense[:, :50], np.hstack([dense, dense])):
        with pytest.raises(
            UsageError, match=f"the rows have {some.shape[1]} features, but the model was trained on 100"
        ):
            machine.predict(kind(some))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "settings", [{"gamma": 0.1}, {"kernel": "laplacian", "gamma": 0.1}, {"method": "liblinear"}]
)
def test_rows_that_are_not_finite_have_no_labels_however_they_are_given(settings, value):
    bad = X.copy()
    bad[3, 2] = value
    for scale in ("none", "[0,1]"):
        result = fwsvm.train(X, Y, scale=scale, **settings)
        for rows in (bad, sparse.csr_array(bad)):
            table = LabelledRows(rows, Y.astype(float))
            for data in (rows, table, Dataset("", table, None, ("3", "-2"), "")):
                with pytest.raises(UsageError, match="not finite numbers"):
                    fwsvm.predict(result, data)
            with pytest.raises(UsageError, match="not finite numbers"):
                result.model.predict(rows)


def test_kernel_values_that_are_not_finite_have_no_labels():
    K = X @ X.T
    machine = fwsvm.train(K, Y, kernel="precomputed").model
    table = np.column_stack([np.zeros(80), K])
    table[3] = np.nan
    with pytest.raises(UsageError, match="not finite numbers"):
        machine.predict(table)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, None, 10**6])
def test_a_number_of_threads_that_makes_no_sense_is_refused(trained, threads):
    with pytest.raises(UsageError, match="threads must be a whole number of 1 to"):
        fwsvm.predict(trained, X, threads=threads)


def test_sparse_rows_in_disorder_mean_the_same_and_stay_as_they_are(trained):
    tidy = sparse.csr_array(X)
    row = np.repeat(np.arange(80), np.diff(tidy.indptr))
    order = np.lexsort((-tidy.indices, row))
    disordered = sparse.csr_array((tidy.data[order], tidy.indices[order], tidy.indptr), shape=X.shape)
    before = disordered.indices.copy()
    assert fwsvm.train(disordered, Y, gamma=0.1, threads=1).objective == trained.objective
    assert (fwsvm.predict(trained, disordered) == fwsvm.predict(trained, X)).all()
    assert (disordered.indices == before).all()


MISTAKES = {
    "no such setting": (lambda: fwsvm.train(X, Y, kernl="rbf"), "no setting 'kernl'; did you mean 'kernel'?"),
    "no such method": (lambda: fwsvm.train(X, Y, method="swpa"), "no method 'swpa'; did you mean 'swap'?"),
    "no labels": (lambda: fwsvm.train(X), "rows need labels"),
    "labels twice": (lambda: fwsvm.train("wdbc", Y), "labels of its own"),
    "one class": (lambda: fwsvm.train(X, np.ones(80)), "one class only"),
    "labels too few": (lambda: fwsvm.train(X, Y[:5]), "5 labels for rows of shape"),
    "labels in columns": (lambda: fwsvm.train(X, Y[:, None]), "labels are an array of one dimension"),
    "one row, not rows": (lambda: fwsvm.train(X[0], Y), "rows are an array of two dimensions"),
    "words": (lambda: fwsvm.train([["a"], ["b"]], [1, 2]), "rows must be numbers"),
    "not finite": (lambda: fwsvm.train(np.where(X[0, 0] == X, np.nan, X), Y), "not finite numbers"),
    "no label": (lambda: fwsvm.train(X, np.where(np.arange(80) == 3, np.nan, Y)), "without labels"),
    "labels rounded": (lambda: fwsvm.train(X, Y.astype(np.int64) + 2**53), "beyond 2\\^53"),
    "weights too few": (lambda: fwsvm.train(X, Y, weights=[1.0]), "weights of shape \\(1,\\) for 80 rows"),
    "weights below zero": (lambda: fwsvm.train(X, Y, weights=-np.ones(80)), "not negative"),
    "weights for a mean": (lambda: fwsvm.train(X, Y, weights=np.arange(80) + 1, method="wolfe"), "leave the weights"),
    "no rows": (lambda: fwsvm.train(X[:0], Y[:0]), "there are no rows to train on"),
    "no such file": (lambda: fwsvm.train("no/such/file"), "no such file"),
    "no such model": (lambda: fwsvm.load("no/such/model"), "no/such/model"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(mistake):
    act, sentence = MISTAKES[mistake]
    with pytest.raises(FwsvmError, match=sentence) as caught:
        act()
    assert isinstance(caught.value, UsageError | DataError | ModelError)
    assert "\n" not in str(caught.value)


@given(
    st.one_of(
        arrays(np.int64, 6, elements=st.integers(-(2**53), 2**53)),
        arrays(np.float64, 6, elements=st.floats(allow_nan=False, allow_infinity=False)),
        arrays(np.str_, 6, elements=st.text("abcxyz é", min_size=1, max_size=5)),
        arrays(np.bool_, 6),
    )
)
def test_labels_come_back_as_they_went(y):
    labels = labels_of(y)
    names = classes(labels)
    back = label_values(names)[encode(labels, names)]
    assert (back == y).all()


def test_labels_that_are_lacking_are_no_class():
    for lacking in (None, np.nan):
        y = np.array(["a", lacking, *["b"] * 78], dtype=object)
        with pytest.raises(DataError, match="rows without labels"):
            fwsvm.train(X, y)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="rows without labels"):
        fwsvm.train(X, pandas.Series([1, None, *[2] * 78], dtype="Int64"))


def test_a_feature_with_a_value_that_is_no_number_is_not_scaled_away():
    for rows in (X.copy(), sparse.csr_array(X)):
        rows[3, 2] = np.nan
        with pytest.raises(DataError, match="not numbers, and have no ranges"):
            fwsvm.train(rows, Y, scale="[0,1]")


def test_kernel_values_with_more_than_the_training_rows_are_refused():
    K = X @ X.T
    machine = fwsvm.train(K[:60, :60], Y[:60], kernel="precomputed")
    assert len(fwsvm.predict(machine, K[60:, :60])) == 20
    with pytest.raises(UsageError, match="kernel values with 80 rows, but the model was trained on 60"):
        fwsvm.predict(machine, K[60:])


def test_whole_numbers_that_a_double_rounds_are_two_classes_as_text(tmp_path):
    names = np.array([str(2**53 + 2 * int(label > 0) + 1) for label in Y])
    machine = fwsvm.train(X, names, gamma=0.1)
    assert set(machine.model.classes) == {str(2**53 + 1), str(2**53 + 3)}
    assert set(fwsvm.predict(machine, X)) <= set(names)
    (tmp_path / "rows.svm").write_text("".join(f"{2**53 + i % 2} 1:{i}\n" for i in range(8)))
    assert load(tmp_path / "rows.svm").classes == (str(2**53 + 1), str(2**53))
