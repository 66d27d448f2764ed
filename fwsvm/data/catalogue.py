"""From an entry of the lock, or a path, to a `Dataset`: files, loader, classes, split; then `scaled`."""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.data import formats, labels, parsed_copies, splits, synthetic
from fwsvm.data.dataset import Dataset, LabelledRows, grouped, refuse_one_based
from fwsvm.data.download import FetchOptions
from fwsvm.data.fetching import obtain
from fwsvm.data.formats import loader_of
from fwsvm.data.lockfile import Entry
from fwsvm.errors import DataError, listed


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
    chosen, how, loader = got.source, scale or entry.scaling, got.source.loader
    if chosen.generate:
        made = synthetic.load(chosen.generate)
        if made.fingerprint != (chosen.sha256 or made.fingerprint) or test is not None:
            said = f"values of sha256 {made.fingerprint} here, and {chosen.sha256} in datasets.lock"
            raise DataError(
                f"{entry.name}: {said if test is None else 'its test rows are generated with it'}"
            )
        recipe: dict[str, Any] = {"generate": chosen.generate, "sha256": made.fingerprint, "scaling": how}
        digest = fingerprint_of(recipe)
        return replace(made, name=entry.name, fingerprint=digest, source=chosen.name, scaling=how)
    grouping = [[str(group), [*map(str, raws)]] for group, raws in (chosen.grouping or {}).items()]
    recipe = {"features": entry.features, "scaling": how, "loader": loader, "grouping": grouping}
    lacking = "" if test else got.lacking
    notices = [*got.notices, *[lacking] * bool(lacking)]
    parts: dict[str, LabelledRows] = {}
    for role in ("train",) if got.lacking else ("train", "test"):
        tables, digests = [], []
        for file in chosen.train if role == "train" else chosen.test:
            path, sha256 = got.files[file.file]
            table, _, more = formats.read(path, loader, member=file.member, sha256=sha256)
            fewer = loader["format"] == "svmlight" and table.features < entry.features
            for what, found, expected in (
                ("rows", table.rows, file.rows),
                ("features up to index", table.features, file.max_index),
                ("features", table.features, None if fewer else entry.features),
            ):
                if expected not in (None, found):
                    raise DataError(f"{path}: {found:,} {what} where datasets.lock says {expected:,}")
            notices += more
            digests.append(f"{sha256} {file.member}".strip())
            tables.append(widened(table, entry.features, path)[0])
        if tables:
            parts[role] = grouped(splits.join(tables), chosen.grouping, entry.name)
            recipe[role] = digests
    if entry.split:
        rule = msgspec.to_builtins(entry.split)
        whole = splits.join([*parts.values()])
        parts["train"], parts["test"] = splits.split(whole, rule, seed)
        recipe["split"] = {**rule, "seed": seed}
    train = parts["train"]
    classes = labels.classes(train.labels if not entry.split else whole.labels)
    if len(classes) != entry.classes:
        raise DataError(f"{entry.name}: {len(classes)} classes where the lock says {entry.classes}")
    base = loader.get("zero_based", False) if loader["format"] == "svmlight" else None
    data = _dataset(entry.name, train, recipe, classes, chosen.name, how, base, notices, test=test)
    if test is None:
        data = replace(data, test=parts.get("test"))
    shapes = _shape_notices(entry, data, lacking=bool(lacking))
    said_of_test = f"The test rows of {entry.name} are not available, so there is no test accuracy."
    return replace(
        data,
        notices=(*data.notices, *shapes),
        lacking=said_of_test if lacking else "",
        first_use=got.first_use,
    )


def load_path(
    path: Path, *, test: Path | None, zero_based: bool | None, scale: str | None, label: str | None = None
) -> Dataset:
    """Read a user's own files, as they are: no split, and no scaling unless ``scale`` says so.

    The training file decides the number of features; see `widened` for a test file that has others.
    """
    loader = loader_of(path, zero_based=zero_based, label=label)
    train, sha256, notices = formats.read(path, loader)
    labels.require_two(train.labels, str(path))
    base, how = train.zero_based, scale or "none"
    loader |= {} if base is None else {"zero_based": base}
    recipe = {"loader": loader, "train": [sha256], **({} if how == "none" else {"scaling": how})}
    classes = labels.classes(train.labels)
    return _dataset(str(path), train, recipe, classes, str(path), how, base, notices, test=test, label=label)


def _dataset(
    name: str,
    train: LabelledRows,
    recipe: dict[str, Any],
    classes: tuple[str, ...],
    source: str,
    how: str,
    base: bool | None,
    notices: Iterable[str],
    *,
    test: Path | None,
    label: str | None = None,
) -> Dataset:
    """Return a data set whose test rows, if there is a file of such, are of that file."""
    held_out = None
    if test is not None:
        loader = loader_of(test, zero_based=base, label=label, columns=train.feature_names)
        held_out, sha256, more = read_test(test, loader, train.features, classes)
        recipe["test"] = [sha256]
        notices = (*notices, *more)
    digest, said = fingerprint_of(recipe), tuple(notices)
    return Dataset(name, train, held_out, classes, digest, source, how, notices=said, zero_based=base)


def fingerprint_of(recipe: Mapping[str, Any]) -> str:
    """Return the digest (hex) of all that decides a data set's rows: raw bytes, loader, split, scaling."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def widened(table: LabelledRows, features: int, path: Path) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the table with exactly ``features`` columns.

    Missing columns are zeros; columns beyond are ignored with a notice that counts the values lost.
    """
    X, missing = table.X, features - table.features
    if missing > 0:
        if isinstance(X, csr_array):
            X = csr_array((X.data, X.indices, X.indptr), (table.rows, features))
        else:
            X = np.pad(X, ((0, 0), (0, missing)))
        return replace(table, X=X), ()
    if missing == 0:
        return table, ()
    if isinstance(X, csr_array):
        lost, kept = np.count_nonzero(X.indices >= features), csr_array(X[:, :features])
    else:
        lost, kept = np.count_nonzero(X[:, features:]), np.ascontiguousarray(X[:, :features])
    said = f"{path}: {lost:,} values of features beyond {features:,}, unknown in training, are ignored"
    return replace(table, X=kept), (said,)


def read_test(
    path: Path, loader: Mapping[str, Any], features: int, classes: tuple[str, ...]
) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Read a user's own file of test rows into ``features`` columns; return its rows, sha256 and notices.

    A notice names labels that no training row has; such rows count as wrong.
    """
    table, sha256, notices = formats.read(path, loader)
    refuse_one_based(path, table, features)
    table, more = widened(table, features, path)
    if unknown := labels.unknown(table.labels, classes):
        said = f"no training row has the labels {listed(unknown)}; test rows with them count as wrong"
        more = (*more, f"{path}: {said}")
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
    scaled_rows = parsed_copies.scaled(test, ranges, fingerprint, "test")
    outside = scaling.outside(scaled_rows.X, ranges)
    return scaled_rows, (outside.sentence(test.rows, "test rows"),) if outside else ()


def _shape_notices(entry: Entry, data: Dataset, *, lacking: bool) -> list[str]:
    """Return notices for shapes that differ from those a paper prints; ``lacking`` test rows are not compared."""
    ours = {"m": data.train.rows, "n": data.train.features}
    ours |= {} if lacking else {"t": data.test.rows if data.test else 0}
    said = []
    for shape in entry.published:
        printed = {key: getattr(shape, key) for key in ours}
        differ = [
            f"{key} = {n:,} (here {ours[key]:,})" for key, n in printed.items() if n not in (None, ours[key])
        ]
        if differ:
            said.append(f"paper {shape.paper} prints {', '.join(differ)} for {shape.name}")
    return said
