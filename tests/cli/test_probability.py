"""Probabilities through the command line, and LIBSVM's from the same model files."""

from pathlib import Path

import numpy as np
import pytest

from fwsvm.data import load
from fwsvm.data.labels import encode
from fwsvm.experiments.probability import with_probabilities
from fwsvm.experiments.run import LocalRows, alone, run_one
from fwsvm.solvers import Settings
from tests import svmlight_files
from tests.cli.running import done


def write(path: Path, labels: np.ndarray, rows: np.ndarray) -> Path:
    svmlight_files.write(path, rows, labels)
    return path


@pytest.fixture(scope="module", params=[2, 3])
def files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, np.ndarray]:
    """Overlapping classes: a file to train on, one to predict, and the true probabilities of its rows."""
    rng, folder, K = np.random.default_rng(7), tmp_path_factory.mktemp("classes"), request.param
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[:K]
    labels = rng.integers(0, K, 600)
    rows = rng.normal(size=(600, 2)) + centres[labels]
    density = np.exp(-0.5 * ((rows[:, None] - centres) ** 2).sum(axis=2))[400:]
    train = write(folder / "train.svm", K - labels[:400], rows[:400])
    return (
        train,
        write(folder / "test.svm", K - labels[400:], rows[400:]),
        density / density.sum(axis=1)[:, None],
    )


@pytest.fixture(scope="module")
def machine(files: tuple[Path, Path, np.ndarray]) -> Path:
    path = files[0].with_name("machine")
    options = ("--gamma", "0.25", "--method", "newton", "--probability", "--model", str(path))
    done("train", str(files[0]), *options)
    return path


def predicted(machine: Path, data: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Return classes, labels and probabilities as they are written."""
    ended = done("predict", str(machine), str(data), "--probability")
    head, *lines = [line.split() for line in ended.stdout.splitlines()]
    assert head[0] == "labels"
    return head[1:], [words[0] for words in lines], np.array([words[1:] for words in lines], dtype=float)


def test_probabilities_are_near_the_true_ones(files, machine):
    classes, labels, found = predicted(machine, files[1])
    K = found.shape[1]
    true = files[2][:, [K - int(name) for name in classes]]
    assert np.abs(found - true).mean() < 0.08
    assert labels == [classes[k] for k in found.argmax(axis=1)]
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_libsvm_says_the_same_of_our_model(files, machine):
    svm = pytest.importorskip("libsvm.svmutil")
    classes, labels, found = predicted(machine, files[1])
    y, X = svm.svm_read_problem(str(files[1]))
    theirs = svm.svm_load_model(str(machine))
    said, _, values = svm.svm_predict(y, X, theirs, "-b 1 -q")
    assert list(map(str, theirs.get_labels())) == classes
    assert [str(int(label)) for label in said] == labels
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)


def test_we_say_the_same_of_libsvms_model(files, tmp_path):
    svm = pytest.importorskip("libsvm.svmutil")
    svm.svm_save_model(
        str(tmp_path / "m"), svm.svm_train(*svm.svm_read_problem(str(files[0])), "-b 1 -g 0.25 -q")
    )
    theirs = svm.svm_load_model(str(tmp_path / "m"))
    said, _, values = svm.svm_predict(*svm.svm_read_problem(str(files[1])), theirs, "-b 1 -q")
    classes, labels, found = predicted(tmp_path / "m", files[1])
    assert list(map(str, theirs.get_labels())) == classes
    assert [str(int(label)) for label in said] == labels
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)


def test_what_has_no_probabilities_is_refused_before_training(tmp_path):
    made = str(tmp_path / "made")
    ended = done("train", "wdbc", "--method", "avsf", "--probability", "--model", made, code=2)
    assert "--probability is for kernel methods" in ended.stderr
    few = write(tmp_path / "few.svm", np.array([1, 1, 2]), np.arange(6.0).reshape(3, 2))
    ended = done("train", str(few), "--probability", "--model", made, code=3)
    assert "class 2 has too few rows" in ended.stderr
    assert "status" not in ended.stdout
    least = write(tmp_path / "least.svm", np.array([1, 1, 1, 2, 2]), np.arange(10.0).reshape(5, 2))
    done("train", str(least), "--probability", "--model", made)
    assert "give --model FILE as well" in done("train", str(least), "--probability", code=2).stderr
    done("predict", "m", "d", "--probability", "--decision", code=2)


def test_folds_that_end_otherwise_are_counted_and_an_interrupt_leaves_the_machine(files):
    data = load(str(files[0]))
    rows = LocalRows(data)
    result, _ = run_one(rows, alone(rows, Settings(method="fw", tolerance=0.1)))
    rows = data.train.X, encode(data.train.labels, data.classes), result
    cut = with_probabilities(*rows, Settings(method="fw", max_iterations=1, tolerance=1e-6))
    assert cut.message.endswith("Of the 5 folds for probabilities 5 ended in another way.")

    def interrupt(_progress: object) -> None:
        raise KeyboardInterrupt

    settings = Settings(method="fw", tolerance=1e-6)
    cut = with_probabilities(*rows, settings, watch=interrupt)
    assert (cut.status, cut.model.sigmoids) == ("interrupted", None)
    assert "the model is complete, without probabilities" in cut.message
