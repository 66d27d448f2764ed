"""LIBSVM's and LIBLINEAR's own programs predict the same from our model files, and we from theirs.

The files under ``foreign/`` were written by libsvm-official 3.37 and liblinear-official 2.50; what else needs
those packages is skipped without them.
"""

from pathlib import Path

import numpy as np
import pytest

import fwsvm
from fwsvm.problems import model_files
from fwsvm.problems.machines import KernelModel, LinearModel
from tests.problems import trained

FOREIGN = Path(__file__).parent / "foreign"


def labels(model: KernelModel | LinearModel, X) -> list[str]:
    return [model.classes[code] for code in model.predict(X)]


@pytest.mark.parametrize(
    "name", ["libsvm-rbf", "libsvm-poly", "liblinear-two", "liblinear-three", "liblinear-cs"]
)
def test_models_they_wrote_predict_as_they_did(name):
    model = model_files.read(FOREIGN / f"{name}.model")
    rows = np.loadtxt(FOREIGN / "rows.txt")
    said = (FOREIGN / f"{name}.labels").read_text().split()
    decided = np.loadtxt(FOREIGN / f"{name}.decision", ndmin=2)
    assert labels(model, rows) == said
    ours = model.decision(rows)
    np.testing.assert_allclose(ours, decided[:, : ours.shape[1]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("classes", [("1", "-1"), ("7", "-3", "0")])
@pytest.mark.parametrize("kernel", trained.IN_LIBSVM)
def test_libsvm_predicts_the_same_from_our_kernel_machines(tmp_path, kernel, classes):
    svm = pytest.importorskip("libsvm.svmutil")
    model, X = trained.kernel_model(kernel, classes), trained.rows()
    model_files.write(tmp_path / "m", model)
    theirs = svm.svm_load_model(str(tmp_path / "m"))
    said, _, decided = svm.svm_predict([], X.toarray(), theirs, "-q")
    assert labels(model, X) == [str(int(label)) for label in said]
    np.testing.assert_allclose(model.decision(X), decided, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bias_feature", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("classes", [("1", "-1"), ("7", "-3", "0")])
def test_liblinear_predicts_the_same_from_our_linear_machines(tmp_path, classes, bias_feature):
    linear = pytest.importorskip("liblinear.liblinearutil")
    model, X = trained.linear_model(classes, bias_feature=bias_feature), trained.rows()
    model_files.write(tmp_path / "m", model)
    said, _, decided = linear.predict([], X.toarray(), linear.load_model(str(tmp_path / "m")), "-q")
    assert labels(model, X) == [str(int(label)) for label in said]
    np.testing.assert_allclose(
        model.decision(X), np.array(decided)[:, : len(model.weights)], rtol=1e-12, atol=1e-12
    )


def test_two_classes_by_crammer_and_singer_have_the_larger_of_two_values(tmp_path):
    path = tmp_path / "two.model"
    path.write_text("solver_type MCSVM_CS\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1 3 \n")
    assert fwsvm.predict(fwsvm.load(path), np.array([[1.0], [-1.0]])).tolist() == [2, 1]
