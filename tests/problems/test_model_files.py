"""Model files: what is written reads back the same, and what is wrong is refused in one sentence."""

import contextlib
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwsvm.errors import ModelError
from fwsvm.files.decimal_text import shortest
from fwsvm.kernels.polynomial import Polynomial
from fwsvm.problems import model_files
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.problems.model_files import liblinear
from tests.problems import trained

LABELS = [("1", "-1"), ("M", "B"), ("2.5", "1"), ("3", "1", "2"), ("setosa", "virginica", "été", "x y")]
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


def same(one: KernelModel | LinearModel, other: KernelModel | LinearModel) -> None:
    """Assert that two machines are the same to the last bit."""
    assert type(one) is type(other)
    assert one.classes == other.classes
    assert one.features == other.features
    assert dict(one.facts) == dict(other.facts)
    np.testing.assert_array_equal(one.biases, other.biases)
    if isinstance(one, KernelModel):
        assert one.kernel == other.kernel
        assert type(one.kernel) is type(other.kernel)
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        np.testing.assert_array_equal(one.support.toarray(), other.support.toarray())
    else:
        assert one.bias_feature == other.bias_feature
        np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("kernel", trained.KERNELS)
def test_kernel_machines_read_back_the_same(tmp_path, kernel, classes):
    model = trained.kernel_model(kernel, classes, features=9)
    model_files.write(tmp_path / "m", model)
    same(model_files.read(tmp_path / "m"), model)


@pytest.mark.parametrize("bias_feature", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("classes", LABELS)
def test_linear_machines_read_back_the_same(tmp_path, classes, bias_feature):
    model = trained.linear_model(classes, bias_feature=bias_feature)
    model_files.write(tmp_path / "m", model)
    same(model_files.read(tmp_path / "m"), model)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6))
def test_every_double_survives(tmp_path, numbers):
    model = trained.kernel_model("rbf", features=2)
    support = np.array([numbers[:2], numbers[2:4]])
    coefficients = np.array([numbers[4:5], numbers[5:6]])
    model = replace(model, support=support, counts=np.array([1, 1]), coefficients=coefficients)
    model_files.write(tmp_path / "m", model)
    back = model_files.read(tmp_path / "m")
    np.testing.assert_array_equal(back.support.toarray(), support)
    np.testing.assert_array_equal(back.coefficients, coefficients)


def test_features_that_no_support_vector_uses_are_remembered(tmp_path):
    model = trained.kernel_model("rbf", features=3)
    wide = replace(model, support=np.pad(model.support.toarray(), ((0, 0), (0, 4))))
    model_files.write(tmp_path / "m", wide)
    assert model_files.read(tmp_path / "m").features == 7


def test_the_layout_is_the_one_of_libsvm(tmp_path):
    model = trained.kernel_model("quadratic", ("M", "B"))
    model_files.write(tmp_path / "m", model)
    lines = (tmp_path / "m").read_text().splitlines()
    counts = " ".join(map(str, model.counts))
    assert lines[:5] == ["svm_type c_svc", "kernel_type polynomial", "gamma 0.7", "coef0 0", "degree 2"]
    assert lines[5:7] == ["nr_class 2", f"total_sv {model.counts.sum()}"]
    assert lines[7:11] == [f"rho {float(-model.biases[0])!r}", "label 0 1", f"nr_sv {counts}", "SV"]
    assert all(line.startswith("#fwsvm {") for line in lines[11 + model.counts.sum() :])


def test_a_polynomial_of_degree_two_stays_what_it_was(tmp_path):
    model = replace(trained.kernel_model("poly"), kernel=Polynomial(0.5, 0.0, 2))
    model_files.write(tmp_path / "m", model)
    assert model_files.read(tmp_path / "m").kernel == Polynomial(0.5, 0.0, 2)


def test_facts_that_json_does_not_know_are_made_plain(tmp_path):
    facts = {"gap": float("nan"), "sizes": (1, np.int64(2)), "scores": np.array([0.5])}
    model_files.write(tmp_path / "m", replace(trained.linear_model(), facts=facts))
    assert model_files.read(tmp_path / "m").facts == {"gap": None, "sizes": [1, 2], "scores": [0.5]}


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    model = trained.linear_model()
    model_files.write(tmp_path / "m", model)
    before = (tmp_path / "m").read_bytes()
    for wrong in (
        replace(model, weights=np.full((1, 5), np.inf)),
        replace(model, classes=("a\nb", "c")),
        replace(model, facts={"when": object()}),
    ):
        with pytest.raises(ModelError):
            model_files.write(tmp_path / "m", wrong)
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    with pytest.raises(ModelError, match="cannot be written: No such file"):
        model_files.write(tmp_path / "absent" / "m", model)


def swap(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


#: Ideas of the reader tests of PLSSVM, and more: (what to spoil, line to be named, word in the message).
SPOILED = {
    "no svm_type": (swap("svm_type c_svc\n", ""), 8, "svm_type"),
    "no kernel_type": (swap("kernel_type rbf\n", ""), 11, "kernel_type"),
    "no gamma": (swap("gamma 0.25\n", ""), 11, "gamma"),
    "no nr_class": (swap("nr_class 2\n", ""), 8, "nr_class"),
    "no total_sv": (swap("total_sv 3\n", ""), 8, "total_sv"),
    "no rho": (swap("rho 0.5\n", ""), 8, "rho"),
    "no label": (swap("label 1 -1\n", ""), 8, "label"),
    "no nr_sv": (swap("nr_sv 2 1\n", ""), 8, "nr_sv"),
    "no SV line": (swap("SV\n", ""), 9, "'0.5' is no keyword"),
    "no support vectors": (lambda text: text[: text.index("SV\n") + 3], 9, "0 of 3"),
    "wrong svm_type": (swap("c_svc", "c_rvc"), 1, "c_rvc"),
    "regression": (swap("c_svc", "epsilon_svr"), 1, "epsilon_svr"),
    "wrong kernel_type": (swap("rbf", "gauss"), 2, "gauss"),
    "a kernel not in LIBSVM by our name": (swap("rbf", "quadratic"), 2, "quadratic"),
    "gamma in linear": (swap("rbf", "linear"), 3, "gamma does not belong"),
    "coef0 in rbf": (swap("gamma 0.25", "gamma 0.25\ncoef0 1"), 4, "coef0 does not belong"),
    "degree in rbf": (swap("gamma 0.25", "gamma 0.25\ndegree 1"), 4, "degree does not belong"),
    "negative gamma": (swap("0.25", "-0.25"), 3, "negative"),
    "endless degree": (swap("rbf", "polynomial\ncoef0 0\ndegree 2000000000"), 4, "1 to 1000"),
    "wrong nr_class": (swap("nr_class 2", "nr_class two"), 4, "'two'"),
    "one class": (swap("nr_class 2", "nr_class 1"), 4, "2 to"),
    "huge nr_class": (swap("nr_class 2", "nr_class 2000000000"), 7, "2000000000 values"),
    "label mismatch": (swap("label 1 -1", "label 1"), 7, "2 values, not 1"),
    "too many labels": (swap("label 1 -1", "label 1 -1 2"), 7, "2 values, not 3"),
    "label twice": (swap("label 1 -1", "label 1 1"), 12, "twice"),
    "label not whole": (swap("label 1 -1", "label 1 -1.5"), 7, "'-1.5'"),
    "label too large": (swap("label 1 -1", "label 1 2147483648"), 7, "32 bits"),
    "nr_sv mismatch": (swap("nr_sv 2 1", "nr_sv 3"), 8, "2 values, not 1"),
    "nr_sv does not add up": (swap("nr_sv 2 1", "nr_sv 2 2"), 8, "add up"),
    "negative nr_sv": (swap("nr_sv 2 1", "nr_sv 4 -1"), 8, "add up"),
    "two rho": (swap("rho 0.5", "rho 0.5 0.5"), 6, "1 value, not 2"),
    "empty rho": (swap("rho 0.5", "rho"), 6, "1 value, not 0"),
    "rho nan": (swap("rho 0.5", "rho nan"), 6, "'nan'"),
    "total_sv not a number": (swap("total_sv 3", "total_sv x"), 5, "'x'"),
    "total_sv too small": (swap("total_sv 3", "total_sv 2"), 8, "add up"),
    "too few support vectors": (swap("-0.75 1:-1 2:0.5\n", ""), 11, "2 of 3"),
    "too many support vectors": (swap("-0.75", "0.5 1:2\n-0.75"), 13, "no more lines"),
    "huge total_sv": (
        lambda t: t.replace("sv 3", "sv 2000000000").replace("2 1", "1999999999 1"),
        12,
        "3 of 2000000000",
    ),
    "keyword twice": (swap("rho 0.5", "rho 0.5\nrho 0.5"), 7, "already given in line 6"),
    "unknown keyword": (swap("gamma 0.25", "gamma 0.25\nwidth 3"), 4, "'width'"),
    "zero index": (swap("1:1 3", "0:1 3"), 10, "1 to"),
    "huge index": (swap("3:-2.5", "2147483647:1"), 10, "1 to"),
    "negative index": (swap("1:1 3", "-1:1 3"), 10, "1 to"),
    "indices fall": (swap("1:1 3:-2.5", "3:1 1:-2.5"), 10, "increase"),
    "index twice": (swap("1:-1 2:0.5", "1:-1 1:0.5"), 12, "increase"),
    "letter in index": (swap("2:1e-3", "x2:1e-3"), 11, "'x2:1e-3'"),
    "letter in value": (swap("2:1e-3", "2:a1e-3"), 11, "'2:a1e-3'"),
    "letter in coefficient": (swap("0.25 2", "o.25 2"), 11, "'o.25'"),
    "colon first": (swap("0.25 2:", ":0.25 2:"), 11, "':0.25'"),
    "colon twice": (swap("2:1e-3", "2::1e-3"), 11, "'2::1e-3'"),
    "no value": (swap("2:1e-3", "2:"), 11, "'2:'"),
    "no index": (swap("2:1e-3", ":1e-3"), 11, "':1e-3'"),
    "no coefficient": (swap("0.25 2:1e-3", "2:1e-3"), 11, "coefficient"),
    "too many coefficients": (swap("0.25 2:", "0.25 0.5 2:"), 11, "1 coefficients"),
    "coefficient after entries": (swap("2:1e-3", "2:1e-3 0.5"), 11, "coefficients"),
    "nan value": (swap("1e-3", "nan"), 11, "'2:nan'"),
    "value too large": (swap("1e-3", "1e999"), 11, "'2:1e999'"),
    "coefficient too large": (swap("-0.75", "-1e999"), 12, "'-1e999'"),
    "underscores": (swap("1e-3", "1_0"), 11, "'2:1_0'"),
    "blank line": (swap("0.25 2", "\n0.25 2"), 11, "a support vector is expected here"),
    "facts not JSON": (lambda text: text + "#fwsvm {'features': 3}\n", 13, "not JSON"),
    "facts nested too deep": (lambda text: text + "#fwsvm " + "[" * 100_000, 13, "not JSON"),
    "facts no object": (lambda text: text + "#fwsvm [1]\n", 13, "object"),
    "a fact twice": (lambda text: text + '#fwsvm {"features": 3}\n' * 2, 14, "twice"),
    "features below the largest index": (lambda text: text + '#fwsvm {"features": 2}\n', 13, "3 to"),
    "features no number": (lambda text: text + '#fwsvm {"features": "3"}\n', 13, "3 to"),
    "classes of another number": (lambda text: text + '#fwsvm {"classes": ["a", "b"]}\n', 13, "does not fit"),
    "classes with a line end": (lambda text: text + '#fwsvm {"classes": ["a\\n", "b"]}\n', 13, "printable"),
    "another kernel in the facts": (lambda text: text + '#fwsvm {"kernel": "poly"}\n', 2, "'poly'"),
    "facts of training no object": (lambda text: text + '#fwsvm {"facts": 3}\n', 13, "'facts'"),
}


@pytest.mark.parametrize(("spoil", "line", "word"), SPOILED.values(), ids=SPOILED.keys())
def test_a_spoiled_kernel_machine_is_refused(tmp_path, spoil, line, word):
    path = write(tmp_path, spoil(KERNEL))
    with pytest.raises(ModelError) as refusal:
        model_files.read(path)
    message = str(refusal.value)
    assert message.startswith(f"{path}:{line}: ")
    assert word in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


SPOILED_LINEAR = {
    "no solver_type": (swap("solver_type L2R_L1LOSS_SVC_DUAL\n", ""), 5, "solver_type"),
    "regression": (swap("L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVR"), 1, "L2R_L2LOSS_SVR"),
    "kernel in linear": (swap("nr_class", "gamma 1\nnr_class"), 2, "gamma does not belong"),
    "no bias": (swap("bias 1\n", ""), 5, "bias"),
    "huge nr_feature": (swap("nr_feature 3", "nr_feature 2147483646"), 10, "4 of 2147483647"),
    "too few weights": (lambda text: text.removesuffix("2\n"), 9, "3 of 4"),
    "too many weights": (lambda text: text + "3\n", 11, "no more lines"),
    "two on a line": (swap("-0.25\n", "-0.25 1\n"), 8, "1 here, not 2"),
    "nan": (swap("-0.25", "nan"), 8, "'nan'"),
    "no number": (swap("-0.25", "0x1p3"), 8, "'0x1p3'"),
}


@pytest.mark.parametrize(("spoil", "line", "word"), SPOILED_LINEAR.values(), ids=SPOILED_LINEAR.keys())
def test_a_spoiled_linear_machine_is_refused(tmp_path, spoil, line, word):
    path = write(tmp_path, spoil(LINEAR))
    with pytest.raises(ModelError, match=word) as refusal:
        model_files.read(path)
    assert str(refusal.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    "content", [b"\x80\x04\x95", b"\x1f\x8b\x08\x00", b"\x00" * 100, b"<!DOCTYPE html>\n"]
)
def test_what_is_no_model_is_refused(tmp_path, content):
    with pytest.raises(ModelError, match=r"is it a model file|no keyword of a model file"):
        model_files.read(write(tmp_path, content))


def test_an_empty_file_is_refused_without_a_line(tmp_path):
    path = write(tmp_path, b"")
    with pytest.raises(ModelError, match=f"^{path}: the file ends before the header does"):
        model_files.read(path)


def test_folders_and_absent_files_are_refused(tmp_path):
    with pytest.raises(ModelError, match="not a regular file"):
        model_files.read(tmp_path)
    with pytest.raises(ModelError, match="no such model file"):
        model_files.read(tmp_path / "absent")


def test_promises_of_a_header_allocate_nothing(tmp_path):
    for text in (
        KERNEL.replace("sv 3", "sv 2000000000").replace("2 1", "1999999999 1"),
        KERNEL.replace("nr_class 2", "nr_class 2000000000"),
        KERNEL.replace("3:-2.5", "2147483646:1") + '#fwsvm {"features": 2147483646}\n',
        LINEAR.replace("nr_feature 3", "nr_feature 2147483646"),
    ):
        path = write(tmp_path, text)
        tracemalloc.start()
        with contextlib.suppress(ModelError):
            model_files.read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 20


def test_windows_line_ends_and_comments_after_the_end_are_read(tmp_path):
    text = KERNEL.replace("\n", "\r\n") + "# trained on a Monday\r\n\r\n"
    same(model_files.read(write(tmp_path, text)), model_files.read(write(tmp_path, KERNEL)))


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """Return a valid model file that was cut, patched, shuffled or extended."""
    text = draw(
        st.sampled_from([KERNEL, LINEAR, KERNEL + '#fwsvm {"features": 4, "classes": ["1", "-1"]}\n'])
    ).encode()
    for _ in range(draw(st.integers(1, 4))):
        at, until = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        match draw(st.sampled_from(["cut", "patch", "repeat", "end"])):
            case "cut":
                text = text[:at] + text[until:]
            case "patch":
                other = draw(
                    st.binary(max_size=3)
                    | st.sampled_from([b"1e308", b"-1", b"\n", b" ", b"99999999999", b":"])
                )
                text = text[:at] + other + text[min(len(text), at + len(other)) :]
            case "repeat":
                text = text[:until] + text[at:until] + text[until:]
            case "end":
                text = text[:at]
    return text


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=mutations())
def test_whatever_happened_to_a_file_it_is_a_model_or_refused(tmp_path, text):
    path = write(tmp_path, text)
    try:
        model = model_files.read(path)
    except ModelError as refusal:
        assert str(refusal).startswith(str(path))  # noqa: PT017
        return
    assert len(model.classes) >= 2
    model_files.write(tmp_path / "again", model)
    same(model_files.read(tmp_path / "again"), model)


@pytest.mark.parametrize(
    ("loss", "solver"), [("hinge", "L2R_L1LOSS_SVC_DUAL"), ("squared hinge", "L2R_L2LOSS_SVC_DUAL")]
)
def test_the_loss_names_the_solver_of_liblinear(tmp_path, loss, solver):
    model_files.write(tmp_path / "m", replace(trained.linear_model(), facts={"loss": loss}))
    assert (tmp_path / "m").read_text().startswith(f"solver_type {solver}\n")


@pytest.mark.parametrize("classes", [("1", "-1"), ("1", "2", "3")])
def test_features_without_weight_are_written_as_all_others(tmp_path, classes, monkeypatch):
    monkeypatch.setattr(liblinear, "AT_ONCE", 7)
    model = trained.linear_model(classes, features=40)
    model.weights[:, np.random.default_rng(0).random(40) < 0.6] = 0.0
    model.weights[:, 11] = -0.0
    model_files.write(tmp_path / "model", model)
    told = (tmp_path / "model").read_text().split("\nw\n")[1].splitlines()[:41]
    outputs = zip(*model.weights.tolist(), strict=True)
    lines = [*outputs, tuple(model.biases.tolist())]
    assert told == ["".join(f"{shortest(value)} " for value in line) for line in lines]
    again = model_files.read(tmp_path / "model").weights
    np.testing.assert_array_equal(again, model.weights)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(model.weights))
