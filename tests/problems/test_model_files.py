"""Model files: what is written reads back the same, and a wrong file is refused in one sentence."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwsvm.errors import ModelError
from fwsvm.problems import model_files
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.scaling import Ranges
from tests.problems import trained

LABELS = [("1", "-1"), ("M", "B"), ("01", "1"), ("3", "1", "2"), ("setosa", "virginica", "été", "x y")]
KERNEL = """svm_type c_svc
kernel_type rbf
gamma 0.25
nr_class 2
total_sv 3
rho 0.5
label 1 -1
nr_sv 2 1
SV
0.5 1:1 3:-2.5
0.25 2:1e-3
-0.75 1:-1 2:0.5
"""
LINEAR = """solver_type L2R_L1LOSS_SVC_DUAL
nr_class 2
label 1 -1
nr_feature 3
bias 1
w
0.5
-0.25
1e-3
2
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "data.model"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def assert_same(one: KernelModel | LinearModel, other: KernelModel | LinearModel) -> None:
    """Assert that two models are the same to the last bit."""
    assert type(one) is type(other)
    for name, value in vars(one).items():
        theirs = getattr(other, name)
        if isinstance(value, csr_array):
            value, theirs = value.toarray(), csr_array(theirs).toarray()  # noqa: PLW2901
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs.dtype, name
            np.testing.assert_array_equal(value, theirs)
        elif isinstance(value, Ranges):
            assert value.text() == theirs.text()
        else:
            assert value == theirs, name
            assert type(value) is type(theirs), name


def read_back(folder: Path, model: KernelModel | LinearModel) -> KernelModel | LinearModel:
    model_files.write(folder / "m", model)
    return model_files.read(folder / "m")


@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("kernel", [*trained.KERNELS, None])
def test_models_read_back_the_same(tmp_path, kernel, classes):
    model = (
        trained.linear_model(classes) if kernel is None else trained.kernel_model(kernel, classes, features=9)
    )
    assert_same(read_back(tmp_path, model), model)
    ranges = Ranges(np.array([0, 3]), np.array([-1.0, 0.1]), np.array([1e300, 0.3]), -1.0, 1.0)
    full = replace(model, ranges=ranges, labels=np.array(classes), feature_names=("a", "b"), zero_based=True)
    assert_same(read_back(tmp_path, full), full)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1, 2], np.int8), np.array([0.5, 1.5], np.float32), np.array([True, False]), np.array(["01", "1"]),
        np.array(["1", "x"], object), np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    ],
    ids=lambda labels: str(labels.dtype),
)  # fmt: skip
def test_labels_keep_their_type(tmp_path, labels):
    model = replace(trained.linear_model(("a", "b")), labels=labels)
    assert_same(read_back(tmp_path, model), model)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6))
def test_every_double_survives(tmp_path, numbers):
    support = csr_array(np.array([numbers[:2], numbers[2:4]]))
    coefficients = np.array([numbers[4:5], numbers[5:6]])
    model = trained.kernel_model("rbf", features=2)
    model = replace(model, support=support, counts=np.array([1, 1]), coefficients=coefficients)
    assert_same(read_back(tmp_path, model), model)


def test_the_layout_is_the_one_of_libsvm(tmp_path):
    model = trained.kernel_model("quadratic", ("M", "B"))
    model_files.write(tmp_path / "m", model)
    lines = (tmp_path / "m").read_text().splitlines()
    counts = " ".join(map(str, model.counts))
    assert lines[:5] == ["svm_type c_svc", "kernel_type polynomial", "gamma 0.7", "coef0 0", "degree 2"]
    assert lines[5:7] == ["nr_class 2", f"total_sv {model.counts.sum()}"]
    assert lines[7:11] == [f"rho {float(-model.biases[0])!r}", "label 0 1", f"nr_sv {counts}", "SV"]
    facts = lines[11 + model.counts.sum() :]
    assert all(line.startswith("#fwsvm {") for line in facts)
    assert '"svm_predict": true' in "".join(facts)


def test_the_loss_names_the_solver_of_liblinear(tmp_path):
    for loss, solver in model_files.SOLVERS.items():
        model_files.write(tmp_path / "m", replace(trained.linear_model(), facts={"loss": loss}))
        assert (tmp_path / "m").read_text().startswith(f"solver_type {solver}\n")


def test_a_foreign_model_with_an_index_0_counts_from_0(tmp_path):
    """As scikit-learn's files and ThunderSVM's Python have it: all indices of the model count alike."""
    text = KERNEL.replace("0.5 1:1", "0.5 0:2 1:1")
    model = model_files.read(write(tmp_path, text))
    assert model.zero_based is True
    assert model.support.toarray().tolist() == [[2, 1, 0, -2.5], [0, 0, 1e-3, 0], [0, -1, 0.5, 0]]
    model_files.write(tmp_path / "again", model)
    assert "0:2 1:1" in (tmp_path / "again").read_text()
    assert model_files.read(write(tmp_path, KERNEL)).zero_based is None


def test_facts_that_json_does_not_know_are_made_plain(tmp_path):
    facts = {"gap": float("nan"), "sizes": (1, np.int64(2)), "scores": np.array([0.5])}
    model = read_back(tmp_path, replace(trained.linear_model(), facts=facts))
    assert model.facts == {"gap": None, "sizes": [1, 2], "scores": [0.5]}


#: A model, what to replace in it and by what, and a word of the message.
SPOILED = {
    "no rho": (KERNEL, "rho 0.5\n", "", "rho"),
    "a rho too many": (KERNEL, "rho 0.5\n", "rho 0.5 1\n", "1 of rho"),
    "regression": (KERNEL, "c_svc", "epsilon_svr", "epsilon_svr"),
    "unknown kernel": (KERNEL, "rbf", "gauss", "gauss"),
    "letter in value": (KERNEL, "2:1e-3", "2:a1e-3", "a1e-3"),
    "facts not JSON": (KERNEL, "2:0.5\n", "2:0.5\n#fwsvm {'features': 3}\n", "double quotes"),
    "features below the largest index": (
        KERNEL,
        "2:0.5\n",
        '2:0.5\n#fwsvm {"features": 2}\n',
        "indices must be < 2",
    ),
    "linear regression": (LINEAR, "L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR"),
    "huge nr_feature": (LINEAR, "nr_feature 3", "nr_feature 2147483646", "2147483647"),
    "a weight too many": (LINEAR, "-0.25\n", "-0.25 1\n", "columns"),
    "a web page": (LINEAR, "solver_type", "<!DOCTYPE", "svm_type"),
}


@pytest.mark.parametrize(("text", "old", "new", "word"), SPOILED.values(), ids=SPOILED.keys())
def test_a_spoiled_model_is_refused(tmp_path, text, old, new, word):
    assert old in text
    path = write(tmp_path, text.replace(old, new, 1))
    with pytest.raises(ModelError) as refusal:
        model_files.read(path)
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    assert word in message
    assert "\n" not in message


def test_what_is_no_model_is_said(tmp_path):
    with pytest.raises(ModelError, match="before its header"):
        model_files.read(write(tmp_path, ""))
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ModelError, match="no such model file"):
            model_files.read(path)


def test_windows_line_ends_and_comments_after_the_end_are_read(tmp_path):
    text = KERNEL.replace("\n", "\r\n") + "# trained on a Monday\r\n\r\n"
    assert_same(model_files.read(write(tmp_path, text)), model_files.read(write(tmp_path, KERNEL)))
