"""From an entry of the lock, or a path, to a `Dataset`: files, loader, classes, split; then `scaled`."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._memory import require
from fwsvm.data import formats, labels, parsed_copies, splits, synthetic
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.fetching.download import FetchOptions
from fwsvm.data.fetching.obtaining import Obtained, obtain
from fwsvm.data.formats.registry import loader_of
from fwsvm.data.lockfile import DataSource, Entry, RawFile
from fwsvm.errors import DataError


def load(
    entry: Entry,
    *,
    source: str | None,
    test: Path | None,
    seed: int,
    options: FetchOptions,
    scale: str | None,
) -> Dataset:
    """Fetch, verify, read, group and split a data set of the lock; its rows are as in the files.

    ``seed`` draws the split, if the entry has one; ``scale`` overrides the entry's scaling. If the test files cannot
    be found, there are no test rows and ``lacking`` of the data set says why; a split needs them. `DataError` if
    the training files cannot be found or are not what the lock says.
    """
    got = obtain(entry, source, options, without_test=entry.split is None)
    if got.source.generate:
        return _generated(entry, got.source, test, scale or entry.scaling)
    lacking = got.lacking if test is None else ""
    untested = f"The test rows of {entry.name} are not available, so there is no test accuracy."
    started = time.perf_counter()
    how = scale or entry.scaling
    recipe: dict[str, Any] = {"features": entry.features, "scaling": how, **_how(got.source)}
    notices = [*got.notices, *([lacking] if lacking else [])]
    base = got.source.loader.get("zero_based", False) if got.source.loader["format"] == "svmlight" else None
    has_test = bool(got.source.test) and not got.lacking
    train = _part(entry, got, got.source.train, recipe, "train", notices)
    held_out = _part(entry, got, got.source.test, recipe, "test", notices) if has_test else None
    classes = labels.classes(train.labels)
    if len(classes) != entry.classes:
        raise DataError(f"{entry.name}: {len(classes)} classes where the lock says {entry.classes}")
    if entry.split:
        pool = splits.join([train, held_out]) if held_out is not None else train
        train, held_out = splits.split(pool, entry.split, seed)
        recipe["split"] = {**entry.split, "seed": seed}
    if test is not None:
        held_out, digest, extra = read_file(test, loader_of(test, zero_based=base), entry.features)
        recipe["test"] = [digest]
        notices += [*extra, *unknown_labels(test, held_out, classes)]
    return Dataset(
        name=entry.name,
        train=train,
        test=held_out,
        classes=classes,
        fingerprint=fingerprint_of(recipe),
        source=got.source.name,
        scaling=how,
        load_seconds=time.perf_counter() - started,
        notices=(*notices, *shape_notices(entry, train, held_out, lacking=bool(lacking))),
        lacking=untested if lacking else "",
        first_use=got.first_use,
        zero_based=base,
    )


def load_path(
    path: Path, *, test: Path | None, zero_based: bool | None, scale: str | None, label: str | None = None
) -> Dataset:
    """Read a user's own files in LIBSVM's format, as they are: no split, and no scaling unless ``scale`` says so.

    The training file decides the number of features; see `widened` for a test file that has others.
    """
    started = time.perf_counter()
    loader = loader_of(path, zero_based=zero_based, label=label)
    train, train_sha256, notices = formats.read_file(path, loader)
    labels.require_two(train.labels, str(path))
    base = train.zero_based
    loader |= {} if base is None else {"zero_based": base}
    recipe: dict[str, Any] = {"loader": loader, "train": [train_sha256]}
    how = scale or "none"
    if how != "none":
        recipe["scaling"] = how
    held_out, classes = None, labels.classes(train.labels)
    if test is not None:
        how_test = loader_of(test, zero_based=base, label=label, columns=train.feature_names)
        held_out, test_sha256, more = read_file(test, how_test, train.features)
        recipe["test"] = [test_sha256]
        notices = (*notices, *more, *unknown_labels(test, held_out, classes))
    return Dataset(
        name=str(path),
        train=train,
        test=held_out,
        classes=classes,
        fingerprint=fingerprint_of(recipe),
        source=str(path),
        scaling=how,
        load_seconds=time.perf_counter() - started,
        notices=notices,
        zero_based=base,
    )


def _generated(entry: Entry, source: DataSource, test: Path | None, how: str) -> Dataset:
    """Return the rows of a source that is generated; `DataError` if its values have not the digest of the lock."""
    if test is not None:
        raise DataError(f"{entry.name}: its test rows are generated with it; other ones cannot be given")
    made = synthetic.load(source.generate)
    if source.sha256 not in (None, made.fingerprint):
        raise DataError(
            f"{entry.name}: {source.generate} has values of sha256 {made.fingerprint} here, and {source.sha256} in "
            "datasets.lock; use the version of fwsvm that the lock is from"
        )
    recipe = {"generate": source.generate, "sha256": made.fingerprint, "scaling": how}
    return replace(made, name=entry.name, fingerprint=fingerprint_of(recipe), source=source.name, scaling=how)


def _how(source: DataSource) -> dict[str, Any]:
    grouping = [[str(k), [str(v) for v in vs]] for k, vs in (source.grouping or {}).items()]
    return {"loader": dict(source.loader), "grouping": grouping}


def fingerprint_of(recipe: Mapping[str, Any]) -> str:
    """Return the digest (hex) of all that decides a data set's rows: raw bytes, loader, split, scaling."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _part(
    entry: Entry,
    got: Obtained,
    files: tuple[RawFile, ...],
    recipe: dict[str, Any],
    role: str,
    notices: list[str],
) -> LabelledRows:
    parts = []
    for file in files:
        path, sha256 = got.files[file.file]
        table, said = formats.read(path, sha256, got.source.loader, file.member)
        notices += said
        _check_shape(file, table, path)
        _check_features(table, entry.features, path, fewer=got.source.loader["format"] == "svmlight")
        parts.append(widened(table, entry.features, path)[0])
        recipe.setdefault(role, []).append(f"{sha256} {file.member}".strip())
    whole = splits.join(parts)
    return grouped(whole, got.source.grouping, entry.name) if got.source.grouping else whole


def _check_shape(file: RawFile, table: LabelledRows, path: Path) -> None:
    for what, found, said in (
        ("rows", table.rows, file.rows),
        ("features up to index", table.features, file.max_index),
    ):
        if said is not None and found != said:
            raise DataError(f"{path}: {found:,} {what} where datasets.lock says {said:,}")


def _check_features(table: LabelledRows, declared: int, path: Path, *, fewer: bool) -> None:
    """Raise `DataError` unless the rows have the features that the lock declares, or ``fewer``, as with indices."""
    if table.features > declared or (table.features < declared and not fewer):
        raise DataError(f"{path}: {table.features:,} features where datasets.lock declares {declared:,}")


def grouped(table: LabelledRows, grouping: Mapping[Any, tuple[Any, ...]], name: str) -> LabelledRows:
    """Return the table with raw labels replaced by their groups; a label in no group is a `DataError`."""
    group_of = {raw: group for group, members in grouping.items() for raw in members}
    raw_labels, where = np.unique(table.labels, return_inverse=True)
    found = [raw.item() for raw in raw_labels]
    unknown = [raw for raw in found if raw not in group_of]
    if unknown:
        raise DataError(f"{name}: label {unknown[0]!r} belongs to no class of the lock's grouping")
    groups = np.array([group_of[raw] for raw in found])
    numeric = np.issubdtype(groups.dtype, np.number)
    return LabelledRows(table.X, groups.astype(np.float64)[where] if numeric else groups[where])


def widened(table: LabelledRows, features: int, path: Path) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the table with exactly ``features`` columns.

    Missing columns are zeros; columns beyond are ignored with a notice that counts the values lost.
    """
    X, have = table.X, table.features
    if have == features:
        return table, ()
    if have < features:
        if isinstance(X, csr_array):
            return replace(
                table, X=csr_array((X.data, X.indices, X.indptr), shape=(table.rows, features))
            ), ()
        what = f"{path}: bringing {table.rows:,} rows to {features:,} features"
        require(8 * table.rows * features, what, "declare fewer features", DataError)
        return replace(table, X=np.pad(X, ((0, 0), (0, features - have)))), ()
    what = f"{path}: taking the first {features:,} of {have:,} features of {table.rows:,} rows"
    needed = (
        8 * table.rows * features if isinstance(X, np.ndarray) else 2 * (X.data.nbytes + X.indices.nbytes)
    )
    require(needed, what, "take fewer rows (fwsvm subset)", DataError)
    lost = (
        np.count_nonzero(X.indices >= features)
        if isinstance(X, csr_array)
        else np.count_nonzero(X[:, features:])
    )
    notice = f"{path}: {lost:,} values of features beyond {features:,}, unknown in training, are ignored"
    kept = csr_array(X[:, :features]) if isinstance(X, csr_array) else np.ascontiguousarray(X[:, :features])
    return replace(table, X=kept), (notice,)


def read_file(
    path: Path, loader: Mapping[str, Any], features: int
) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Read a user's own file into ``features`` columns; return its rows, sha256 and notices."""
    table, sha256, notices = formats.read_file(path, loader)
    table, more = widened(table, features, path)
    return table, sha256, (*notices, *more)


def unknown_labels(path: Path, table: LabelledRows, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return a notice where test rows have labels that no training row has; such rows count as wrong."""
    beyond = labels.unknown(table.labels, classes)
    if not beyond:
        return ()
    said = (
        f"{path}: no training row has the label{'s' if len(beyond) > 1 else ''} {labels.first_labels(beyond)}"
    )
    return (f"{said}; test rows with {'them' if len(beyond) > 1 else 'it'} count as wrong",)


def scaled(data: Dataset, counted: np.ndarray | None = None) -> Dataset:
    """Return a data set with its rows scaled as its ``scaling`` says, by the ranges of its training rows.

    With ``counted``, a boolean mask (m,), only these rows determine the ranges. A data set that is scaled already is
    returned as it is. A notice counts test rows far outside the ranges (`fwsvm.scaling.FAR`).
    """
    if data.scaling == "none" or data.train.ranges is not None:
        return data
    started = time.perf_counter()
    X = data.train.X
    ranges = scaling.fit(X, data.scaling, counted)
    train = parsed_copies.scaled(data.train, ranges, data.fingerprint, "train")
    test, notices = data.test, data.notices
    if test is not None:
        test, more = scaled_test_rows(test, ranges, data.fingerprint)
        notices = (*notices, *more)
    seconds = data.load_seconds + time.perf_counter() - started
    return replace(data, train=train, test=test, load_seconds=seconds, notices=notices)


def scaled_test_rows(
    test: LabelledRows, ranges: scaling.Ranges, fingerprint: str
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return test rows scaled by the ranges of training rows, and a notice where rows are far outside of them."""
    outside = scaling.outside(test.X, ranges)
    notices = (outside.sentence(test.rows, "test rows"),) if outside else ()
    return parsed_copies.scaled(test, ranges, fingerprint, "test"), notices


def shape_notices(
    entry: Entry, train: LabelledRows, test: LabelledRows | None, *, lacking: bool = False
) -> tuple[str, ...]:
    """Return notices for shapes that differ from those a paper prints; ``lacking`` test rows are not compared."""
    ours = {"m": train.rows, "t": test.rows if test is not None else None, "n": train.features}
    if lacking:
        del ours["t"]
    said = []
    for published in entry.published:
        theirs = {"m": published.m, "t": published.t, "n": published.n}
        differ = [
            f"{k} = {theirs[k]:,} (here {ours[k] or 0:,})" for k in ours if theirs[k] not in (None, ours[k])
        ]
        if differ:
            said.append(f"paper {published.paper} prints {', '.join(differ)} for {published.name}")
    return tuple(said)
