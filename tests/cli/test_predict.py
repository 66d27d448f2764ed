"""``fwsvm predict``: the labels it writes, what it says beside them, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from fwsvm import api
from fwsvm.data import inputs
from fwsvm.data.formats import svmlight
from fwsvm.problems import model_files
from tests import svmlight_files
from tests.cli import running
from tests.problems import trained

LABELS = ("M", "B")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Hold a model, rows of which all but two are predicted as their labels say, and rows without labels."""
    model, X = trained.kernel_model("rbf", LABELS), trained.rows(20)
    model_files.write(tmp_path / "model", model)
    said = [LABELS[code] for code in model.predict(X)]
    (tmp_path / "said").write_text("\n".join(said) + "\n")
    truth = [*said[:-2], *(LABELS[1 - LABELS.index(label)] for label in said[-2:])]
    svmlight_files.write(tmp_path / "rows", X, np.array(truth))
    entries = [line.partition(" ")[2].strip() for line in (tmp_path / "rows").read_text().splitlines()]
    (tmp_path / "bare").write_text("".join(f"{entry}\n" for entry in entries if entry))
    kept = [label for label, entry in zip(said, entries, strict=True) if entry]
    (tmp_path / "said bare").write_text("".join(f"{label}\n" for label in kept))
    return tmp_path


def run(folder: Path, *words: str) -> Result:
    return running.run("predict", *(word if word.startswith("-") else folder / word for word in words))


def test_labels_go_to_stdout_and_the_accuracy_to_stderr(folder):
    result = run(folder, "model", "rows")
    assert result.exit_code == 0
    assert result.stdout == (folder / "said").read_text()
    assert result.stderr == "Accuracy = 90.0000% (18/20)\n"


@pytest.mark.parametrize("large", [False, True])
def test_what_is_ignored_in_the_rows_is_said_of_a_large_file_too(folder, monkeypatch, large):
    if large:
        monkeypatch.setattr(inputs, "COPIED_FROM", 1)
        monkeypatch.setattr(svmlight, "PIECE_BYTES", 300)
    lines = (folder / "bare").read_text().splitlines()
    (folder / "queries").write_text("".join(f"M qid:{i} {line}\n" for i, line in enumerate(lines)))
    assert run(folder, "model", "queries").stderr.startswith(
        f"fwsvm: qid: was ignored in {len(lines)} rows\nAccuracy"
    )
    (folder / "gaps").write_text("\n".join(f"{line}\n" for line in lines))
    assert f"fwsvm: {len(lines) - 1} empty lines were skipped" in run(folder, "model", "gaps").stderr


def test_rows_without_labels_have_no_accuracy(folder):
    result = run(folder, "model", "bare")
    assert result.stdout == (folder / "said bare").read_text()
    assert result.stderr == ""


def test_decision_values_have_the_sign_of_the_label(folder):
    result = run(folder, "model", "rows", "--decision")
    assert result.stderr.startswith("Accuracy = 90.0000% (18/20)\ndecision values: M/B\n")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [label for label, _ in lines] == ["M" if float(value) > 0 else "B" for _, value in lines]
    model = model_files.read(folder / "model")
    assert [float(value) for _, value in lines] == model.decision(trained.rows(20))[:, 0].tolist()


def test_features_the_model_does_not_know_are_counted_and_ignored(folder):
    lines = (folder / "rows").read_text().splitlines()
    wide = [f"{line} 6:1 9:0 2000000000:-3" for line in lines]
    (folder / "wide").write_text("\n".join(wide))
    result = run(folder, "model", "wide")
    assert result.stdout == (folder / "said").read_text()
    assert "40 non-zeros ignored: the model was trained on 5 features" in result.stderr


def test_labels_the_model_does_not_know_are_wrong_and_named(folder):
    (folder / "rows").write_text((folder / "rows").read_text().replace("M ", "malignant "))
    result = run(folder, "model", "rows")
    assert "does not know the labels malignant; their rows count as wrong" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("absent", "rows"), 3, "no such model file"),
        (("rows", "rows"), 3, "rows: this is not a model that fwsvm can read"),
        (("model", "absent"), 3, "no such file"),
        (("model", "model"), 3, "model:1: "),
        (("model", "rows", "no/output"), 2, "there is no folder"),
        (("model", "rows", "--decision", "--probability"), 2, "not both"),
    ],
)
def test_mistakes_are_one_line_with_an_exit_code(folder, arguments, code, message):
    result = run(folder, *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_svm_predicts_order_of_files_is_answered_with_ours(folder):
    result = run(folder, "rows", "model", "labels")
    assert result.exit_code == 2
    assert f"the model comes first: fwsvm predict {folder / 'model'} {folder / 'rows'}" in result.stderr
    assert not (folder / "labels").exists()


def test_rows_count_from_0_where_the_training_file_did(tmp_path):
    """As scikit-learn's dump_svmlight_file writes them; no test row has an entry of index 0."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 1] - X[:, 3] > 0, 1, -1)
    X[100:, 0] = 0
    for name, some in (("train", slice(100)), ("test", slice(100, 200))):
        lines = (
            f"{label} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row) if v)
            for label, row in zip(y[some], X[some].tolist(), strict=True)
        )
        (tmp_path / name).write_text("\n".join(lines))
    for method in ("auto", "liblinear"):
        told = ("--method", method, "--scale", "[0,1]", "--model", tmp_path / "m")
        assert running.run("train", *told, tmp_path / "train").exit_code == 0
        found = run(tmp_path, "m", "test")
        assert float(found.stderr.partition("Accuracy = ")[2].partition("%")[0]) > 85
        assert (tmp_path / "m.range").read_text().splitlines()[2].startswith("0 ")
        model = api.load(tmp_path / "m")
        assert model.zero_based is True
        assert (api.predict(model, tmp_path / "test") == api.predict(model, X[100:])).all()


def test_a_file_of_the_other_base_is_refused_and_one_option_mends_it(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    for name, first in (("zero", 0), ("one", 1)):
        lines = (
            f"{1 if row[0] > 0 else -1} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, first))
            for row in rows.tolist()
        )
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        assert running.run("train", "--model", tmp_path / f"{name}.model", tmp_path / name).exit_code == 0
    right = run(tmp_path, "zero.model", "zero").stdout
    for copied_from in (1 << 26, 0):
        monkeypatch.setattr(inputs, "COPIED_FROM", copied_from)
        for model, rows, option, said in (
            ("zero", "one", "--one-based", "one looks one-based, with indices from 1 to 3"),
            ("one", "zero", "--zero-based", "index of '0:"),
        ):
            refused = running.done("predict", tmp_path / f"{model}.model", tmp_path / rows, code=3).stderr
            assert said in refused
            assert option in refused
            assert run(tmp_path, f"{model}.model", rows, option).stdout == right
    refused = running.done("train", tmp_path / "zero", "--test", tmp_path / "one", code=3).stderr
    assert "one looks one-based" in refused


def test_a_foreign_model_with_an_index_0_is_read(tmp_path):
    (tmp_path / "m").write_text(
        "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 2\nnr_sv 1 1\nSV\n"
        "0.5 0:1 1:1 \n-0.5 0:-1 1:-1 \n"
    )
    (tmp_path / "rows").write_text("1 0:1 1:2\n2 0:-1 1:0.5\n")
    assert run(tmp_path, "m", "rows").stdout == "1\n2\n"
    (tmp_path / "without").write_text("1 1:2\n2 1:-0.5\n")
    assert run(tmp_path, "m", "without").stdout == "1\n2\n"
