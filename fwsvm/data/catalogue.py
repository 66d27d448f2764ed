"""From an entry of the lock, or a path, to a `Dataset`: files, loader, classes, split; then `scaled`."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._memory import require
from fwsvm.data import formats, labels, parsed_copies, splits, synthetic
from fwsvm.data.dataset import Dataset, LabelledRows, grouped
from fwsvm.data.download import FetchOptions
from fwsvm.data.fetching import Obtained, obtain
from fwsvm.data.formats.registry import loader_of
from fwsvm.data.lockfile import UNPINNED, DataSource, Entry, RawFile
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
    chosen, how = got.source, scale or entry.scaling
    if chosen.generate:
        return _generated(entry, chosen, test, how)
    started = time.perf_counter()
    loader = chosen.loader
    grouping = [[str(group), [str(raw) for raw in raws]] for group, raws in (chosen.grouping or {}).items()]
    recipe: dict[str, Any] = {
        "features": entry.features,
        "scaling": how,
        "loader": loader,
        "grouping": grouping,
    }
    lacking = "" if test else got.lacking
    notices = [*got.notices, *([lacking] if lacking else [])]
    base = loader.get("zero_based", False) if loader["format"] == "svmlight" else None
    train = _part(entry, got, chosen.train, recipe.setdefault("train", []), notices)
    held_out = None
    if chosen.test and not got.lacking:
        held_out = _part(entry, got, chosen.test, recipe.setdefault("test", []), notices)
    classes = labels.classes(train.labels)
    if len(classes) != entry.classes:
        raise DataError(f"{entry.name}: {len(classes)} classes where the lock says {entry.classes}")
    if entry.split:
        pool = splits.join([train, held_out]) if held_out is not None else train
        rule = msgspec.to_builtins(entry.split)
        train, held_out = splits.split(pool, rule, seed)
        recipe["split"] = {**rule, "seed": seed}
    if test is not None:
        loader = loader_of(test, zero_based=base)
        held_out, sha256, more = read_test(test, loader, entry.features, classes)
        recipe["test"] = [sha256]
        notices += more
    return Dataset(
        name=entry.name,
        train=train,
        test=held_out,
        classes=classes,
        fingerprint=fingerprint_of(recipe),
        source=chosen.name,
        scaling=how,
        load_seconds=time.perf_counter() - started,
        notices=(*notices, *_shape_notices(entry, train, held_out, lacking=bool(lacking))),
        lacking=f"The test rows of {entry.name} are not available, so there is no test accuracy."
        if lacking
        else "",
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
    train, sha256, notices = formats.read_file(path, loader)
    labels.require_two(train.labels, str(path))
    base, how, held_out = train.zero_based, scale or "none", None
    loader |= {} if base is None else {"zero_based": base}
    recipe = {"loader": loader, "train": [sha256], **({} if how == "none" else {"scaling": how})}
    classes = labels.classes(train.labels)
    if test is not None:
        loader = loader_of(test, zero_based=base, label=label, columns=train.feature_names)
        held_out, test_sha256, more = read_test(test, loader, train.features, classes)
        recipe["test"] = [test_sha256]
        notices = (*notices, *more)
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
    if source.sha256 not in (UNPINNED, made.fingerprint):
        raise DataError(
            f"{entry.name}: {source.generate} has values of sha256 {made.fingerprint} here, and {source.sha256} in "
            "datasets.lock; use the version of fwsvm that the lock is from"
        )
    recipe = {"generate": source.generate, "sha256": made.fingerprint, "scaling": how}
    return replace(made, name=entry.name, fingerprint=fingerprint_of(recipe), source=source.name, scaling=how)


def fingerprint_of(recipe: Mapping[str, Any]) -> str:
    """Return the digest (hex) of all that decides a data set's rows: raw bytes, loader, split, scaling."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _part(
    entry: Entry, got: Obtained, files: tuple[RawFile, ...], digests: list[str], notices: list[str]
) -> LabelledRows:
    """Return the rows of the training or the test files; append their digests and notices."""
    loader, parts = got.source.loader, []
    for file in files:
        path, sha256 = got.files[file.file]
        table, said = formats.read(path, sha256, loader, file.member)
        fewer = loader["format"] == "svmlight" and table.features < entry.features
        for what, found, expected in (
            ("rows", table.rows, file.rows),
            ("features up to index", table.features, file.max_index),
            ("features", table.features, None if fewer else entry.features),
        ):
            if expected not in (None, found):
                raise DataError(f"{path}: {found:,} {what} where datasets.lock says {expected:,}")
        notices += said
        digests.append(f"{sha256} {file.member}".strip())
        parts.append(widened(table, entry.features, path)[0])
    return grouped(splits.join(parts), got.source.grouping, entry.name)


def widened(table: LabelledRows, features: int, path: Path) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the table with exactly ``features`` columns.

    Missing columns are zeros; columns beyond are ignored with a notice that counts the values lost.
    """
    X, missing = table.X, features - table.features
    if missing == 0:
        return table, ()
    needed = 8 * table.rows * features if isinstance(X, np.ndarray) else 24 * X.nnz * (missing < 0)
    what = f"{path}: bringing {table.rows:,} rows of {table.features:,} features to {features:,}"
    require(needed, what, "take fewer rows (fwsvm subset), or fewer features", DataError)
    if isinstance(X, csr_array):
        lost = int(np.count_nonzero(X.indices >= features))
        kept = (
            csr_array((X.data, X.indices, X.indptr), (table.rows, features))
            if missing > 0
            else csr_array(X[:, :features])
        )
    else:
        lost = int(np.count_nonzero(X[:, features:]))
        kept = np.pad(X, ((0, 0), (0, missing))) if missing > 0 else np.ascontiguousarray(X[:, :features])
    said = f"{path}: {lost:,} values of features beyond {features:,}, unknown in training, are ignored"
    return replace(table, X=kept), (said,) if missing < 0 else ()


def read_test(
    path: Path, loader: Mapping[str, Any], features: int, classes: tuple[str, ...]
) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Read a user's own file of test rows into ``features`` columns; return its rows, sha256 and notices.

    A notice names labels that no training row has; such rows count as wrong.
    """
    table, sha256, notices = formats.read_file(path, loader)
    table, more = widened(table, features, path)
    if unknown := labels.unknown(table.labels, classes):
        said = f"{path}: no training row has the label{'s' if len(unknown) > 1 else ''} {labels.first_labels(unknown)}"
        more = (*more, f"{said}; test rows with {'them' if len(unknown) > 1 else 'it'} count as wrong")
    return table, sha256, (*notices, *more)


def scaled(data: Dataset, counted: np.ndarray | None = None) -> Dataset:
    """Return a data set with its rows scaled as its ``scaling`` says, by the ranges of its training rows.

    With ``counted``, a boolean mask (m,), only these rows determine the ranges. A data set that is scaled already is
    returned as it is. A notice counts test rows far outside the ranges (`fwsvm.scaling.FAR`).
    """
    if data.scaling == "none" or data.train.ranges is not None:
        return data
    started = time.perf_counter()
    ranges = scaling.fit(data.train.X, data.scaling, counted)
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


def _shape_notices(
    entry: Entry, train: LabelledRows, test: LabelledRows | None, *, lacking: bool
) -> list[str]:
    """Return notices for shapes that differ from those a paper prints; ``lacking`` test rows are not compared."""
    ours = {"m": train.rows, "t": test.rows if test is not None else 0, "n": train.features}
    said = []
    for published in entry.published:
        differ = [
            f"{key} = {theirs:,} (here {here:,})"
            for key, here in ours.items()
            if (theirs := getattr(published, key)) not in (None, here) and not (key == "t" and lacking)
        ]
        if differ:
            said.append(f"paper {published.paper} prints {', '.join(differ)} for {published.name}")
    return said
