"""Precomputed kernels through the command line, and through LIBSVM's own programs with the same files."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests import svmlight_files
from tests.cli.running import done, run


def write(path: Path, labels: np.ndarray, K: np.ndarray, numbers: np.ndarray) -> Path:
    lines = []
    for label, number, row in zip(labels, numbers, K.tolist(), strict=True):
        values = " ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1))
        lines.append(f"{label} 0:{number} {values}\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module", params=[2, 3])
def files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, Path]:
    """Kernel values of rows to train on and to predict, and the rows to train on themselves."""
    rng, folder, K = np.random.default_rng(7), tmp_path_factory.mktemp("kernels"), request.param
    labels = rng.integers(0, K, 150)
    X = rng.normal(size=(150, 2)) + np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[labels]
    values = np.exp(-0.25 * ((X[:, None] - X) ** 2).sum(axis=2))
    svmlight_files.write(folder / "rows", X[:100], labels[:100])
    return (
        write(folder / "train", labels[:100], values[:100, :100], np.arange(1, 101)),
        write(folder / "test", labels[100:], values[100:, :100], np.zeros(50, int)),
        folder / "rows",
    )


def trained(file: Path, machine: Path, *more: str) -> dict[str, object]:
    options = ("-C", "3", "--tol", "1e-6", "--model", machine, "--json")
    ended = done("train", file, *options, *more)
    found: dict[str, object] = json.loads(ended.stdout)
    return found


def test_libsvm_says_the_same_of_our_model(files, tmp_path):
    svm = pytest.importorskip("libsvm.svmutil")
    trained(files[0], tmp_path / "m", "--kernel", "precomputed", "--probability")
    y, X = svm.svm_read_problem(str(files[1]))
    theirs = svm.svm_load_model(str(tmp_path / "m"))
    said, _, values = svm.svm_predict(y, X, theirs, "-q")
    ended = run("predict", tmp_path / "m", files[1], "--decision")
    found = np.loadtxt(ended.stdout.splitlines())
    np.testing.assert_allclose(found, np.column_stack([said, values]), rtol=1e-9, atol=1e-12)
    _, _, values = svm.svm_predict(y, X, theirs, "-b 1 -q")
    likely = np.loadtxt(run("predict", tmp_path / "m", files[1], "--probability").stdout.splitlines()[1:])
    np.testing.assert_allclose(likely[:, 1:], values, rtol=1e-9, atol=1e-12)


def test_we_say_the_same_of_libsvms_model(files, tmp_path):
    svm = pytest.importorskip("libsvm.svmutil")
    y, X = svm.svm_read_problem(str(files[0]))
    problem = svm.svm_problem(y, X, isKernel=True)
    svm.svm_save_model(str(tmp_path / "m"), svm.svm_train(problem, svm.svm_parameter("-t 4 -c 3 -q")))
    theirs = svm.svm_load_model(str(tmp_path / "m"))
    said, _, values = svm.svm_predict(*svm.svm_read_problem(str(files[1])), theirs, "-q")
    ended = run("predict", tmp_path / "m", files[1], "--decision")
    found = np.loadtxt(ended.stdout.splitlines())
    np.testing.assert_allclose(found, np.column_stack([said, values]), rtol=1e-9, atol=1e-12)
    assert "ignored" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("train", "ROWS", "--kernel", "precomputed"), 3, "row 1 has no number 0:i, or 0:0, but a row of a"),
        (("train", "KERNEL", "--kernel", "precomputed", "--scale", "[0,1]"), 2, "scale [0,1] is for features"),
        (("train", "wdbc", "--kernel", "precomputed"), 2, "zero-based indices and a column of labels are for files"),
        (("predict", "MACHINE", "ROWS"), 3, "row 1 has no number 0:i"),
        (("train", "KERNEL", "--kernel", "precomputed", "--test", "ROWS"), 3, "row 1 has no number 0:i, but rows for"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(files, tmp_path, words, code, why):
    if "MACHINE" in words:
        trained(files[0], tmp_path / "m", "--kernel", "precomputed")
    places = {"ROWS": files[2], "KERNEL": files[0], "MACHINE": tmp_path / "m"}
    ended = done(*(places.get(word, word) for word in words), code=code)
    assert why in " ".join(ended.stderr.split())


def test_values_with_rows_that_trained_nothing_are_refused(files, tmp_path):
    few = tmp_path / "few"
    few.write_text(
        "".join(line[: line.index(" 99:")] + "\n" for line in files[0].read_text().splitlines()[:98])
    )
    trained(few, tmp_path / "m", "--kernel", "precomputed")
    for ended in (run("predict", tmp_path / "m", files[1]), run("train", few, "-t", "4", "--test", files[1])):
        assert "kernel values with 100 rows, but the model was trained on 98" in ended.stderr
    ended = run("train", files[0], "-t", "4", "--test", few)
    assert (
        "kernel values with 98 training rows, and the model's support vectors go up to row 100"
        in ended.stderr
    )
