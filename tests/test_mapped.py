"""Rows in memory, in a mapped `.npy` file and in a streamed copy of text: methods come to the same machines."""

import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fwsvm import _mapped, _stretches, data, errors, scaling
from fwsvm._mapped import at_random, blocks, is_mapped, let_go, mapping_of, picked
from fwsvm.data import formats, parsed_copies, scaled_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.fetching.digests import file_sha256
from fwsvm.data.formats import npy, svmlight, svmlight_stream
from fwsvm.errors import DataError
from fwsvm.kernels.survey import survey_of_mapped
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.solvers import Settings, Status, fit

ROWS, FEATURES = 1200, 8


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Map all files, stream all text, and go through rows in many stretches."""
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_mapped, "LARGE", 1)
    monkeypatch.setattr(parsed_copies, "MAPPED_FROM", 1)
    monkeypatch.setattr(svmlight_stream, "STREAMED_FROM", 1)
    monkeypatch.setattr(svmlight_stream, "PIECE", 1 << 12)
    monkeypatch.setattr(_stretches, "NUMBERS", 1 << 10)


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 rows, a third of them zeros, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=ROWS) > 0, 1.0, -1.0)
    return X, y


def dense_file(folder: Path) -> Path:
    X, y = drawn()
    np.save(folder / "rows.npy", X)
    np.save(folder / "rows.labels.npy", y)
    return folder / "rows.npy"


def text_file(folder: Path) -> Path:
    X, y = drawn()
    svmlight.write(folder / "rows.svm", X.astype(np.float64), y)
    return folder / "rows.svm"


FILES = pytest.mark.parametrize("written", [dense_file, text_file], ids=["dense", "text"])


def in_memory(path: Path) -> LabelledRows:
    """Return the rows as arrays of the process."""
    X, y = drawn()
    X = X.astype(np.float64)
    return LabelledRows(X if path.suffix == ".npy" else sparse.csr_array(X), y)


def mapped(path: Path) -> LabelledRows:
    table, _, _ = formats.read_file(path, formats.loader_of(path))
    assert is_mapped(table.X)
    return table


def codes(table: LabelledRows) -> np.ndarray:
    return (table.labels < 0).astype(np.int32)


# ---------------------------------------------------------------- the same results


@FILES
@pytest.mark.parametrize(
    "settings",
    [
        Settings("scs", C=0.1, max_iterations=20),
        Settings("scs", C=0.1, max_iterations=20, parameters={"test": "fresh", "largest": 1000}),
        Settings("pegasos", C=0.1, max_iterations=500),
    ],
    ids=["scs", "scs fresh", "pegasos"],
)
def test_methods_that_draw_rows_take_the_same_steps(written, settings: Settings, tmp_path: Path) -> None:
    path = written(tmp_path)
    here, there = in_memory(path), mapped(path)
    one = fit(here.X, codes(here), ("1", "-1"), settings)
    other = fit(there.X, codes(there), ("1", "-1"), settings)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)
    assert other.gap == pytest.approx(one.gap, rel=1e-6, nan_ok=True)
    assert other.gap_kind == one.gap_kind
    assert other.model.support.dtype == np.float64
    assert np.array_equal(other.model.counts, one.model.counts)


@FILES
@pytest.mark.parametrize(
    "settings",
    [
        Settings("liblinear", C=0.1, cache_mib=1),
        Settings("avsf", C=0.1, cache_mib=1),
        Settings("liblinear", C=0.1, parameters={"loss": "squared_hinge", "bias": 1.0}),
        Settings("chunking", C=0.1),
        Settings("auto", C=0.1),
        Settings("swap", C=0.1),
        Settings("swap", C=0.1, search="sampled"),
        Settings("fw", C=0.1, search="sampled", tolerance=0.05),
        Settings("mfw", C=0.1, search="sampled", tolerance=0.05),
        Settings("cvm", C=0.1, search="sampled", tolerance=0.05),
    ],
    ids=lambda s: f"{s.method} {s.search or ''} {s.parameters or ''}",
)
def test_certified_methods_meet_within_their_gaps(written, settings: Settings, tmp_path: Path) -> None:
    path = written(tmp_path)
    here, there = in_memory(path), mapped(path)
    one = fit(here.X, codes(here), ("1", "-1"), settings)
    other = fit(there.X, codes(there), ("1", "-1"), settings)
    for found in (one, other):
        assert found.status is Status.CONVERGED
        assert found.certified
    assert abs(one.objective - other.objective) <= max(one.gap, other.gap)
    at = other.model.decision(here.X)
    assert np.allclose(other.model.decision(there.X), at, rtol=1e-9, atol=1e-12)
    # the certificate is that of the rows: computed here from what the machine says of rows in memory
    if settings.method in {"liblinear", "avsf"}:
        w, b = other.model.weights[0], other.model.biases[0]
        lack = np.maximum(0.0, 1.0 - here.labels * at[:, 0])
        losses = lack**2 if settings.parameters else lack
        assert other.objective == pytest.approx(0.5 * (w @ w + b * b) + 0.1 * losses.sum(), rel=1e-9)


@FILES
def test_a_run_cut_short_has_a_certificate_over_all_rows(written, tmp_path: Path) -> None:
    there = mapped(written(tmp_path))
    for method in ("chunking", "liblinear"):
        found = fit(there.X, codes(there), ("1", "-1"), Settings(method, C=10.0, max_iterations=50))
        assert found.gap_kind == "exact"
        assert found.gap > 0.0


@FILES
def test_a_survey_says_what_passes_over_rows_in_memory_do(written, tmp_path: Path) -> None:
    path = written(tmp_path)
    here, there = in_memory(path), mapped(path)
    known = survey_of_mapped(there.X)
    assert known is survey_of_mapped(there.X)
    assert survey_of_mapped(here.X) is None
    whole = here.X.toarray() if sparse.issparse(here.X) else here.X
    assert np.array_equal(known.least, whole.min(axis=0))
    assert np.array_equal(known.most, whole.max(axis=0))
    assert known.finite
    assert mean_squared_distance(there.X) == pytest.approx(mean_squared_distance(here.X), rel=1e-12)


def test_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    X = np.load(path)
    for bad in (np.nan, np.inf):
        X[ROWS // 2, 3] = bad
        np.save(path, X)
        there = np.asarray(np.load(path, mmap_mode="c"))  # from Python; a file is refused as it is read
        assert is_mapped(there)
        with pytest.raises(errors.UsageError, match="not finite"):
            fit(there, np.arange(len(X)) % 2, ("1", "-1"), Settings("scs"))


@FILES
@pytest.mark.parametrize("scale", ["[0,1]", "[-1,1]"])
def test_scaled_rows_are_those_scaled_in_memory(written, scale: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    found = data.load(path, scale=scale)
    assert is_mapped(found.train.X)
    here = in_memory(path)
    ranges = scaling.fit(here.X, scale)
    assert found.train.ranges.same_as(ranges)
    wanted = scaling.apply(here.X, ranges)
    assert type(found.train.X) is type(wanted)
    difference = found.train.X - wanted
    assert abs(difference).max() == 0.0
    again = data.load(path, scale=scale)
    assert (wanted != again.train.X).sum() == 0


# ---------------------------------------------------------------- pages


def opened_for_reading(path: Path) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r"))


def opened_here(path: Path) -> np.ndarray:
    return npy._array(path)


def shared_with_the_file(path: Path) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r+"))


@pytest.mark.parametrize("opened", [opened_for_reading, opened_here, shared_with_the_file])
def test_pages_are_let_go_of_and_come_back(opened, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(5000, 100))
    np.save(tmp_path / "X.npy", X)
    there = opened(tmp_path / "X.npy")
    assert mapping_of(there[10:20].reshape(-1)) is mapping_of(there)
    before = _resident(there)
    seen = np.concatenate([there[some].copy() for some in blocks(there)])
    assert np.array_equal(seen, X)
    assert _resident(there) <= before + (1 << 16)
    with at_random(there):
        assert np.array_equal(there[[4000, 1]], X[[4000, 1]])
    which = np.array([7, 3, 7])
    assert np.array_equal(picked(there, which), X[which])
    let_go(there)
    assert np.array_equal(there, X)


def test_what_a_user_wrote_to_a_private_mapping_stays(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(5000, 100))
    np.save(tmp_path / "X.npy", X)
    there = np.load(tmp_path / "X.npy", mmap_mode="c")
    there -= 1.0
    for _ in blocks(there):
        pass
    let_go(there)
    assert np.array_equal(there, X - 1.0)


def test_parts_of_one_mapping_have_surveys_of_their_own(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    X = np.load(path)
    X[ROWS // 2 :] += 1.0
    np.save(path, X)
    there, half = np.load(path, mmap_mode="r"), ROWS // 2
    assert is_mapped(there[:half])
    least = [survey_of_mapped(part).least for part in (there[:half], there[half : 2 * half])]
    assert np.array_equal(least[0], X[:half].min(axis=0))
    assert np.array_equal(least[1], X[half : 2 * half].min(axis=0))


def test_columns_of_one_mapping_have_surveys_of_their_own(tmp_path: Path) -> None:
    there = np.load(dense_file(tmp_path), mmap_mode="r")
    X = np.array(there)
    for part, rows in ((there[:, :4], X[:, :4]), (there[:, ::2], X[:, ::2])):
        assert np.array_equal(survey_of_mapped(part).most, rows.max(axis=0))


def test_most_rows_are_picked_as_few_are(tmp_path: Path) -> None:
    there = mapped(text_file(tmp_path)).X
    for which in (np.arange(ROWS) % 7 > 0, np.arange(ROWS) % 70 == 0):
        assert (picked(there, which) != sparse.csr_array(there)[which]).nnz == 0


def test_rows_that_are_scaled_where_they_lie_are_surveyed_again(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    there = np.load(path, mmap_mode="r+")
    before = survey_of_mapped(there)
    there *= 2.0
    assert survey_of_mapped(there).largest == 2.0 * before.largest


def test_rows_without_weight_of_a_file_are_left_out_as_those_in_memory(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    there, codes = np.load(path, mmap_mode="r"), np.arange(ROWS) % 2
    weights = (np.arange(ROWS) % 3 > 0).astype(float)
    asked = Settings("scs", max_iterations=5)
    mapped_rows, rows = (fit(X, codes, ("1", "-1"), asked, weights=weights) for X in (there, np.array(there)))
    assert mapped_rows.settings["gamma"] == pytest.approx(rows.settings["gamma"], rel=1e-9)


def _resident(array: np.ndarray) -> int:
    """Return the bytes of an array's mapping that are in memory of this process, where the system tells."""
    if not Path("/proc/self/smaps").exists():
        return 0
    begins = array.__array_interface__["data"][0] // mmap.PAGESIZE * mmap.PAGESIZE
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        head = line.split()[0]
        if "-" in head and not head.endswith(":"):
            first, last = (int(end, 16) for end in head.split("-"))
            inside = first <= begins < last
        elif inside and line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    return 0


# ---------------------------------------------------------------- files that are not what they should be


def test_a_truncated_copy_is_made_anew(tmp_path: Path) -> None:
    path = text_file(tmp_path)
    first = mapped(path)
    (values,) = (tmp_path / "cache").rglob("data.npy")
    wanted = first.X.data.copy()
    os.truncate(values, values.stat().st_size // 2)
    assert np.array_equal(mapped(path).X.data, wanted)


def test_a_truncated_array_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(DataError, match=r"rows\.npy is no complete \.npy file"):
        formats.read_file(path, formats.loader_of(path))


def test_labels_must_fit_their_rows(tmp_path: Path) -> None:
    path = dense_file(tmp_path)
    np.save(npy.labels_path(path), np.ones(5))
    with pytest.raises(DataError, match="have a label each"):
        formats.read_file(path, formats.loader_of(path))
    npy.labels_path(path).unlink()
    with pytest.raises(DataError, match=r"rows\.labels\.npy: no such file"):
        formats.read_file(path, formats.loader_of(path))
    np.save(path, drawn()[0].astype(np.int16))
    np.save(npy.labels_path(path), drawn()[1])
    with pytest.raises(DataError, match="float32 or float64 in C order"):
        formats.read_file(path, formats.loader_of(path))


def full(*_args: object, **_kwargs: object) -> None:
    raise OSError(28, "No space left on device")


def test_where_the_disk_is_full_rows_are_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = text_file(tmp_path)
    monkeypatch.setattr(svmlight_stream.ArrayFile, "append", full)
    table, sha256, notices = formats.read_file(path, formats.loader_of(path))
    assert not is_mapped(table.X)
    assert np.array_equal(table.X.toarray(), drawn()[0])
    assert sha256 == file_sha256(path)
    assert "No space left on device" in notices[-1]
    assert not list((tmp_path / "cache" / "parsed").iterdir())


def test_where_the_disk_is_full_and_memory_too_small_both_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = text_file(tmp_path)
    monkeypatch.setattr(svmlight_stream.ArrayFile, "append", full)

    def refuse(*_args: object) -> None:
        raise DataError("it would take too much memory")

    monkeypatch.setattr(formats, "_read", refuse)
    with pytest.raises(
        DataError, match=r"too much memory; no parsed copy .* was kept in .*: No space left on device"
    ):
        formats.read_file(path, formats.loader_of(path))
    assert not list((tmp_path / "cache" / "parsed").iterdir())


def test_a_full_disk_stops_scaling_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dense_file(tmp_path)
    monkeypatch.setattr(scaled_copies.ArrayFile, "append", full)
    with pytest.raises(DataError, match="No space left on device; make room there"):
        data.load(path, scale="[0,1]")
    assert not list((tmp_path / "cache" / "parsed").iterdir())
