"""fwsvm.train, predict, save and load: the command line's numbers for files, and the same for arrays."""

import json
from itertools import count

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fwsvm
from fwsvm import _mapped
from fwsvm.data import load
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.errors import DataError, FwsvmError, UsageError
from fwsvm.solvers.fit import announce_compiling
from tests import svmlight_files
from tests.cli.running import done

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4)) * (RNG.random(size=(80, 4)) < 0.7)
Y = np.where(X[:, 0] + 0.2 * RNG.normal(size=80) > 0, 3, -2)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.fixture
def map_rows(monkeypatch, tmp_path):
    """Return what writes an array to a file and maps it as one too large for memory."""
    monkeypatch.setattr(_mapped, "LARGE", 1)
    names = count()

    def mapped(array):
        path = tmp_path / f"{next(names)}.npy"
        np.save(path, array)
        return np.load(path, mmap_mode="r")

    return mapped


@pytest.fixture(scope="module")
def trained():
    return fwsvm.train(X, Y, gamma=0.1, threads=1)


@pytest.fixture
def file(tmp_path):
    svmlight_files.write(tmp_path / "rows.svm", sparse.csr_array(X), Y.astype(float))
    return tmp_path / "rows.svm"


def test_arrays_a_sparse_array_a_file_a_data_set_and_the_command_line_agree(trained, file):
    row = json.loads(done("train", file, "--gamma", "0.1", "--threads", "1", "--json").stdout)
    for data in ((sparse.csr_array(X), Y), (file,), (load(file),)):
        other = fwsvm.train(*data, gamma=0.1, threads=1)
        assert (other.objective, other.iterations) == (trained.objective, trained.iterations)
        assert other.model.classes == ("3", "-2")
    assert (row["objective"], row["iterations"]) == (trained.objective, trained.iterations)
    assert (row["relative_gap"], row["certified"]) == (trained.relative_gap, True)


LABELS = {
    "int8": np.array([5, 7, 9], np.int8),
    "uint64": np.array([2**63, 2**63 + 1, 2**63 + 2], np.uint64),
    "float32": np.array([0.5, 1.5, 2.0], np.float32),
    "bool": np.array([False, True]),
    "digits": np.array(["0", "1", "2"], dtype=object),
    "leading zeros": np.array(["01", "1", "x"]),
    "signs": np.array(["+1", "1"]),
    "objects": np.array([3, 4], dtype=object),
    "dates": np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
}


@pytest.mark.parametrize("values", LABELS.values(), ids=LABELS)
def test_labels_come_back_as_they_went(values, tmp_path):
    y = values[THREE % len(values)]
    for method in ("auto", "liblinear"):
        result = fwsvm.train(X, y, method=method, threads=1)
        assert len(result.model.classes) == len(values)
        fwsvm.save(tmp_path / "a.model", result)
        for model in (result, fwsvm.load(tmp_path / "a.model")):
            found = fwsvm.predict(model, X)
            assert found.dtype == y.dtype
            assert (found == y).mean() > 0.4
            assert set(found) <= set(values)


@pytest.mark.parametrize("method", ["auto", "avsf"])
def test_what_is_saved_is_loaded_with_its_certificate(trained, tmp_path, method):
    result = trained if method == "auto" else fwsvm.train(X, Y, method=method, threads=1)
    fwsvm.save(tmp_path / "a.model", result)
    model = fwsvm.load(tmp_path / "a.model")
    assert (model.decision(X) == result.model.decision(X)).all()
    assert model.facts["status"] == "converged"
    assert model.facts["relative_gap"] == result.relative_gap
    assert model.facts["method"] == method
    fwsvm.save(tmp_path / "b.model", model)
    assert (fwsvm.predict(tmp_path / "b.model", X) == fwsvm.predict(model, X)).all()
    assert (tmp_path / "b.model").read_bytes() == (tmp_path / "a.model").read_bytes()
    with pytest.raises(UsageError, match=r"give the path first, .* save\(path, result\)"):
        fwsvm.save(result, tmp_path / "c.model")


def test_columns_are_those_of_training_in_their_order(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    result = fwsvm.train(frame, Y, gamma=0.1)
    fwsvm.save(tmp_path / "m", result)
    for model in (result, fwsvm.load(tmp_path / "m")):
        assert (fwsvm.predict(model, frame) == fwsvm.predict(model, X)).all()
        with pytest.raises(UsageError, match="they are in another order"):
            fwsvm.predict(model, frame[list("dcba")])
        with pytest.raises(UsageError, match="missing: d; unknown: e"):
            fwsvm.predict(model, frame.rename(columns={"d": "e"}))


@pytest.mark.parametrize("method", ["auto", "liblinear"])
@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize("by_class", [True, False])
def test_a_class_of_weight_zero_is_kept_and_never_predicted(method, absent, by_class, tmp_path):
    names = np.array(["a", "b", "c"])[THREE]
    name, others = "abc"[absent], absent != THREE
    given = {"class_weight": {name: 0}} if by_class else {"weights": others.astype(float)}
    result = fwsvm.train(X, names, method=method, threads=1, **given)
    alone = fwsvm.train(X[others], names[others], method=method, threads=1)
    assert result.certified
    assert result.objective == pytest.approx(alone.objective, rel=2e-3)
    assert sorted(result.model.classes) == ["a", "b", "c"]
    fwsvm.save(tmp_path / "m", result)
    for model in (result, fwsvm.load(tmp_path / "m")):
        assert (fwsvm.predict(model, X) == fwsvm.predict(alone, X)).mean() > 0.95
        assert name not in fwsvm.predict(model, np.zeros((1, 4)))


def test_features_of_sparse_rows_fit_themselves_and_of_dense_rows_must_fit(trained):
    wide = sparse.csr_array(np.hstack([X, np.ones((80, 2))]))
    assert (fwsvm.predict(trained, wide) == fwsvm.predict(trained, X)).all()
    with pytest.raises(UsageError, match="the rows have 3 features, but the model was trained on 4"):
        fwsvm.predict(trained, X[:, :3])
    values = X @ X.T
    with pytest.raises(DataError, match="kernel values with 160 rows, but the model was trained on 80"):
        fwsvm.predict(fwsvm.train(values, Y, kernel="precomputed"), np.hstack([values, values]))


@pytest.mark.parametrize(
    "settings", [{"gamma": 0.1}, {"kernel": "laplacian", "gamma": 0.1}, {"method": "liblinear"}]
)
def test_rows_that_are_not_finite_have_no_labels_however_they_are_given(settings, map_rows):
    bad = X.copy()
    bad[3, 2] = np.nan
    for scale in ("none", "[0,1]"):
        result = fwsvm.train(X, Y, scale=scale, **settings)
        for rows in (bad, sparse.csr_array(bad), map_rows(bad)):
            table = LabelledRows(rows, Y.astype(float))
            for data in (rows, table, Dataset("", table, None, ("3", "-2"), "")):
                with pytest.raises(UsageError, match="not finite numbers"):
                    fwsvm.predict(result, data)
            with pytest.raises(UsageError, match="not finite numbers"):
                result.model.predict(rows)


def test_unscaled_rows_are_warned_of():
    with pytest.warns(UserWarning, match="far from scaled: .*so it decides the distances"):
        fwsvm.train(X * [1, 1, 1, 1000], Y)


K = X @ X.T
MISTAKES = {
    "a setting in other case": (lambda: fwsvm.train(X, Y, c=1), "no setting 'c'; did you mean 'C'?"),
    "a limit of nothing": (lambda: fwsvm.train(X, Y, max_iterations=0), "max_iterations must be a whole number of 1"),
    "no such setting": (lambda: fwsvm.train(X, Y, kernl="rbf"), "no setting 'kernl'; did you mean 'kernel'?"),
    "no labels": (lambda: fwsvm.train(X), "rows need labels"),
    "a setting as a parameter": (lambda: fwsvm.train(X, Y, parameters={"degree": 2}), "degree is a setting: write it"),
    "rows of zeros": (lambda: fwsvm.train(0.0 * sparse.csr_array(X), Y), "all rows are zero"),
    "one class": (lambda: fwsvm.train(X, np.ones(80)), "all rows have the label 1; two classes are needed"),
    "labels too few": (lambda: fwsvm.train(X, Y[:5]), "5 labels for rows of shape"),
    "labels of a regression": (lambda: fwsvm.train(X, X[:, 0].round(1)), "regression"),
    "labels of two types": (lambda: fwsvm.train(X, np.where(Y == 3, "a", Y.astype(object))), "types int, str"),
    "labels and NaN": (lambda: fwsvm.train(X, ["a", np.nan, *["b"] * 78]), "without labels"),
    "rows masked": (lambda: fwsvm.train(np.ma.masked_greater(X, 1.5), Y), "rows have masked values"),
    "rows complex": (lambda: fwsvm.train(X + 1j, Y), "rows must be real numbers, not complex128"),
    "rows of dates": (lambda: fwsvm.train(X.astype("M8[D]"), Y), "not datetime64"),
    "words": (lambda: fwsvm.train([["a"], ["b"]], [1, 2]), "rows must be numbers; turn dates and text"),
    "not finite": (lambda: fwsvm.train(np.where(X[0, 0] == X, np.nan, X), Y), "not finite numbers"),
    "no label": (lambda: fwsvm.train(X, np.where(np.arange(80) == 3, np.nan, Y)), "without labels"),
    "weights below zero": (lambda: fwsvm.train(X, Y, weights=-np.ones(80)), "not negative"),
    "weights for a mean": (lambda: fwsvm.train(X, Y, weights=np.arange(80) + 1, method="wolfe"), "leave the weights"),
    "no rows": (lambda: fwsvm.train(X[:0], Y[:0]), "there are no rows to train on"),
    "no such file": (lambda: fwsvm.train("no/such/file"), "no such file"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(mistake):
    act, sentence = MISTAKES[mistake]
    with pytest.raises(FwsvmError, match=sentence) as caught:
        act()
    assert "\n" not in str(caught.value)


def test_a_result_is_shown_in_five_lines(trained):
    lines = repr(trained).splitlines()
    assert len(lines) == 5
    assert "converged" in lines[1]
    assert f"{trained.support_vectors:,} support vectors" in lines[3]


def test_the_first_fit_says_once_that_it_compiles(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path))
    announce_compiling.cache_clear()
    for _ in range(2):
        announce_compiling()
    assert caplog.messages == ["fwsvm: compiling for first use; the code is kept"]
