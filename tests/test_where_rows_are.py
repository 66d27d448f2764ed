"""The contract of methods, over rows in memory, in a mapped array and in a streamed copy of text.

Wherever rows are, a method comes to a machine with the same promise, or refuses in a sentence; and what is said of the
machine and of the rows does not depend on it.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml
from scipy import sparse

from fwsvm import _mapped, data
from fwsvm._mapped import is_mapped
from fwsvm.data import inputs, parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import svmlight
from fwsvm.errors import DataError
from fwsvm.solvers import Result, Settings, Status, fit
from tests import svmlight_files
from tests.cli.running import done

ROWS = 1200
FEATURES = 6
CLASSES = ("1", "-1")
FORMS = ("memory", "mapped", "text")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take small files for large ones, and go through them in many stretches."""
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_mapped, "NUMBERS", 1 << 10)
    monkeypatch.setattr(svmlight, "PIECE_BYTES", 1 << 13)


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mapped, "LARGE", 1)
    monkeypatch.setattr(parsed_copies, "MAPPED_FROM", 1)
    monkeypatch.setattr(inputs, "COPIED_FROM", 1)


def drawn() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = 0.0
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=ROWS) > 0, 1.0, -1.0)


class Written(NamedTuple):
    """The rows in a file, and what they are in memory."""

    path: Path
    here: LabelledRows


def written(folder: Path, form: str) -> Written:
    X, y = drawn()
    if form == "mapped":
        np.save(folder / "rows.npy", X)
        np.save(folder / "rows.labels.npy", y)
        return Written(folder / "rows.npy", LabelledRows(X.astype(np.float64), y))
    svmlight_files.write(folder / "rows.svm", X.astype(np.float64), y)
    return Written(folder / "rows.svm", LabelledRows(sparse.csr_array(X, dtype=np.float64), y))


def trained(there: Written, form: str, settings: Settings) -> Result:
    found = data.load(there.path)
    assert is_mapped(found.train.X) == (form != "memory")
    return fit(found.train.X, data.labels.encode(found.train.labels, CLASSES), CLASSES, settings)


CERTIFIED = [
    Settings("chunking", C=0.1),
    Settings("chunking", C=0.1, kernel="linear", parameters={"fewest": 0}),
    Settings("auto", C=0.1),
    Settings("swap-2o", C=0.1),
    Settings("swap-2o", C=0.1, search="sampled", tolerance=0.01),
    Settings("fw", C=0.1, search="sampled", tolerance=0.05),
    Settings("liblinear", C=0.1),
    Settings("avsf", C=0.1),
]
ESTIMATED = [
    Settings("scs", C=0.1, max_iterations=15),
    Settings("pegasos", C=0.1, max_iterations=300),
]


def called(settings: Settings) -> str:
    return " ".join(map(str, filter(None, [settings.method, settings.search, settings.kernel])))


@pytest.fixture(scope="module")
def in_memory() -> Callable[[Written, Settings], Result]:
    """Return what trains on the rows in memory, once for all forms that are alike there."""
    known: dict[tuple[str, bool], Result] = {}

    def found(there: Written, settings: Settings) -> Result:
        key = called(settings), sparse.issparse(there.here.X)
        if key not in known:
            codes = (there.here.labels < 0).astype(np.int32)
            known[key] = fit(there.here.X, codes, CLASSES, settings)
        return known[key]

    return found


@pytest.mark.parametrize(
    ("form", "settings"),
    [
        pytest.param(form, settings, id=f"{called(settings)}-{form}")
        for settings in [*CERTIFIED, *ESTIMATED]
        for form in FORMS
    ],
)
def test_a_method_keeps_its_promise_wherever_rows_are(
    form: str,
    settings: Settings,
    in_memory: Callable[[Written, Settings], Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = written(tmp_path, form)
    if form in {"mapped", "text"}:
        large(monkeypatch)
    found = trained(there, form, settings)
    near = in_memory(there, settings)
    assert found.gap_kind == near.gap_kind
    if settings in CERTIFIED:
        assert found.status is Status.CONVERGED
        assert found.certified
        assert abs(found.objective - near.objective) <= max(found.gap, near.gap)
    else:
        assert found.objective == pytest.approx(near.objective, rel=1e-6)
    decision = found.model.decision(there.here.X)
    right = (np.sign(decision[:, 0]) == there.here.labels).mean()
    assert right > 0.6
    if settings.method in {"chunking", "swap-2o", "fw", "auto"} and settings.kernel != "linear":
        # the certificate, from scratch in plain numpy: weights sum to 1, and R = alpha' K~ alpha
        R = found.objective
        coefficients = np.asarray(found.model.coefficients).ravel()
        assert np.abs(coefficients).sum() * R == pytest.approx(1.0, rel=1e-6)
        slack = np.maximum(0.0, 1.0 - there.here.labels * decision[:, 0])
        C = found.settings["C"]
        primal = 0.5 * (1.0 / R - (coefficients @ coefficients) / C) + 0.5 * C * float(slack @ slack)
        assert primal - 0.5 / R <= found.primal - found.dual + 1e-6 * primal


@pytest.mark.parametrize("form", ["mapped", "text"])
def test_what_is_said_of_rows_does_not_depend_on_where_they_are(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = written(tmp_path, form)
    near = done("summary", there.path)
    large(monkeypatch)
    far = done("summary", there.path)
    one = yaml.safe_load(near.stdout)
    other = yaml.safe_load(far.stdout)
    assert one.keys() == other.keys()
    for name in one:
        if name not in {"mean_squared_distance", "widths", "notices"}:
            assert one[name] == other[name], name
    assert other["mean_squared_distance"] == pytest.approx(one["mean_squared_distance"], rel=1e-9)


@pytest.mark.parametrize("form", ["mapped", "text"])
def test_predictions_do_not_depend_on_where_rows_are(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = written(tmp_path, form)
    done("train", "-m", "chunking", "--scale", "[0,1]", "--model", tmp_path / "m", there.path)
    words = ["predict", "--decision", tmp_path / "m", there.path]
    done(*words, tmp_path / "near")
    large(monkeypatch)
    done(*words, tmp_path / "far")
    one, other = (np.loadtxt(tmp_path / name) for name in ("near", "far"))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["mapped", "text"])
def test_tools_for_files_do_not_depend_on_where_rows_are(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = written(tmp_path, form)
    commands = [
        ["scale", "-s", tmp_path / "ranges", there.path],
        ["scale", "-l", "0", there.path],
        ["scale", "-r", tmp_path / "ranges", there.path],
        ["subset", there.path, "100"],
    ]
    if form == "text":
        commands += [["check", there.path]]
    near = [done(*words) for words in commands]
    large(monkeypatch)
    for words, one in zip(commands, near, strict=True):
        other = done(*words)
        assert one.stdout == other.stdout, words
        assert one.stderr == other.stderr, words


@pytest.mark.parametrize("form", ["mapped", "text"])
def test_scaled_rows_are_those_scaled_in_memory(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = written(tmp_path, form)
    near = data.load(there.path, scale="[0,1]").train.X
    large(monkeypatch)
    far = data.load(there.path, scale="[0,1]").train.X
    assert is_mapped(far)
    assert not is_mapped(near)
    assert abs(far - near).max() == 0.0


def test_a_file_that_was_cut_short_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, "mapped").path
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(DataError, match=r"rows\.npy is no complete \.npy file"):
        data.load(path)
