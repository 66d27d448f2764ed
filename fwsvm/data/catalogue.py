"""From an entry of the lock, or a path, to a `Dataset`: files, loader, classes, split; then `scaled`."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fwsvm import scaling
from fwsvm._mapped import fitted
from fwsvm.data import formats, labels, lockfile, parsed_copies, splits, synthetic
from fwsvm.data.dataset import Dataset, LabelledRows, grouped, refuse_one_based
from fwsvm.data.fetching import obtain
from fwsvm.data.formats import loader_of
from fwsvm.data.lockfile import FIRST_USE, DataSource, Entry, RawFile
from fwsvm.errors import DataError, listed


def load(
    entry: Entry,
    *,
    source: str | None,
    test: Path | None,
    seed: int,
    offline: bool,
    scale: str | None,
) -> Dataset:
    """Fetch, verify, read, group and split a data set of the lock; its rows are as in the files.

    ``seed`` draws the split, if the entry has one; ``scale`` overrides the entry's scaling. If the test files cannot
    be found, there are no test rows and ``lacking`` of the data set says why; a split needs them. `DataError` if
    the training files cannot be found or are not what the lock says.
    """
    got = obtain(entry, source, offline=offline, without_test=entry.split is None)
    chosen, how, notices, lacking = got.source, scale or entry.scaling, got.notices, ""
    if chosen.generate:
        made = synthetic.load(chosen.generate)
        if (sha256 := made.fingerprint) != chosen.sha256:
            raise DataError(
                f"{entry.name}: values of sha256 {sha256} here, and {chosen.sha256} in datasets.lock"
            )
        made = replace(made, name=entry.name, source=chosen.name, scaling=how)
        return _finished(made, {"generate": chosen.generate, "sha256": sha256, "scaling": how}, test)
    if got.lacking and not test:
        notices = (*notices, got.lacking)
        lacking = f"The test rows of {entry.name} are not available, so there is no test accuracy."
    grouping = [[str(group), [*map(str, raws)]] for group, raws in (chosen.grouping or {}).items()]
    recipe = {"features": entry.features, "scaling": how, "loader": chosen.loader, "grouping": grouping}
    parts: dict[str, LabelledRows] = {}
    for role, files in {"train": chosen.train, "test": () if got.lacking else chosen.test}.items():
        if files:
            tables = [_read(entry, chosen, file) for file in files]
            recipe[role] = [
                f"{table.sha256} {file.member}".strip() for table, file in zip(tables, files, strict=True)
            ]
            parts[role] = grouped(splits.join(tables), chosen.grouping)
    whole = parts["train"]
    if entry.split:
        rule = msgspec.to_builtins(entry.split)
        whole = splits.join([*parts.values()])
        parts["train"], parts["test"] = splits.split(whole, rule, seed)
        recipe["split"] = {**rule, "seed": seed}
    data = Dataset(
        entry.name,
        parts["train"],
        parts.get("test"),
        labels.classes(whole.labels),
        "",
        chosen.name,
        how,
        lacking=lacking,
        first_use=any(lockfile.pinned(file).evidence == FIRST_USE for file in chosen.files),
    )
    data = _finished(data, recipe, test)
    return replace(data, own_notices=(*notices, *_shape_notices(entry, data)))


def _read(entry: Entry, source: DataSource, file: RawFile) -> LabelledRows:
    """Return the rows of a file; `DataError` if its shape is not that of the lock."""
    n = entry.features
    table = formats.read(file.path, source.loader, member=file.member, sha256=file.sha256 or "")
    is_svmlight = source.loader["format"] == "svmlight"
    rows = file.rows or table.rows
    width = file.max_index or (min(table.features, n) if is_svmlight else n)
    if (table.rows, table.features) != (rows, width):
        raise DataError(
            f"{file.path}: {table.rows:,} rows and {table.features:,} features where datasets.lock says {width:,} "
            f"features and {rows:,} rows"
        )
    return widened(table, n, file.path)


def load_path(
    path: Path, *, test: Path | None, zero_based: bool | None, scale: str | None, label: str | None = None
) -> Dataset:
    """Read a user's own files, as they are: no split, and no scaling unless ``scale`` says so.

    The training file decides the number of features; see `widened` for a test file that has others.
    """
    loader = loader_of(path, zero_based=zero_based, label=label)
    train = formats.read(path, loader)
    how = scale or "none"
    name = str(path)
    classes = labels.require_two(train.labels, name)
    loader |= {} if train.zero_based is None else {"zero_based": train.zero_based}
    recipe = {"loader": loader, "train": [train.sha256], **({} if how == "none" else {"scaling": how})}
    return _finished(Dataset(name, train, None, classes, "", name, how), recipe, test, label)


def _finished(data: Dataset, recipe: dict[str, Any], test: Path | None, label: str | None = None) -> Dataset:
    """Return a data set with the test rows of a file, if one is given, and with the digest of its recipe."""
    if test is not None:
        train = data.train
        held_out = read_test(
            test,
            train.features,
            data.classes,
            zero_based=train.zero_based,
            label=label,
            columns=train.feature_names,
        )
        data = replace(data, test=held_out)
        recipe["test"] = [held_out.sha256]
    return replace(data, fingerprint=fingerprint_of(recipe))


def fingerprint_of(recipe: Mapping[str, Any]) -> str:
    """Return the digest (hex) of all that decides a data set's rows: raw bytes, loader, split, scaling."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def widened(table: LabelledRows, features: int, path: Path) -> LabelledRows:
    """Return the table with exactly ``features`` columns.

    Missing columns are zeros; columns beyond are ignored with a notice that counts the values lost.
    """
    X, lost = fitted(table.X, features)
    said = f"{path}: {lost:,} values of features beyond {features:,}, unknown in training, are ignored"
    return replace(table, X=X, notices=(*table.notices, *[said] * bool(lost)))


def read_test(path: Path, features: int, classes: tuple[str, ...], **how: Any) -> LabelledRows:
    """Read a user's own file of test rows into ``features`` columns; ``how`` is for `fwsvm.data.formats.loader_of`.

    A notice names labels that no training row has; such rows count as wrong.
    """
    table = formats.read(path, loader_of(path, **how))
    refuse_one_based(path, table, features)
    table = widened(table, features, path)
    if unknown := labels.unknown(table.labels, classes):
        said = f"{path}: no training row has the labels {listed(unknown)}; test rows with them count as wrong"
        table = replace(table, notices=(*table.notices, said))
    return table


def scaled(data: Dataset, counted: np.ndarray | None = None) -> Dataset:
    """Return a data set with its rows scaled as its ``scaling`` says, by the ranges of its training rows.

    With ``counted``, a boolean mask (m,), only these rows determine the ranges. A data set that is scaled already is
    returned as it is. A notice counts test rows far outside the ranges (`fwsvm.scaling.FAR`).
    """
    if data.scaling == "none" or data.train.ranges is not None:
        return data
    started = time.perf_counter()
    ranges = scaling.fit(data.train.X, data.scaling, counted)
    return replace(
        data,
        train=parsed_copies.scaled(data.train, ranges, data.fingerprint, "train"),
        test=data.test and scaled_test_rows(data.test, ranges, data.fingerprint),
        load_seconds=data.load_seconds + time.perf_counter() - started,
    )


def scaled_test_rows(test: LabelledRows, ranges: scaling.Ranges, fingerprint: str) -> LabelledRows:
    """Return test rows scaled by the ranges of training rows, with a notice where rows are far outside of them."""
    rows = parsed_copies.scaled(test, ranges, fingerprint, "test")
    far, outside = scaling.outside(rows.X, ranges, "test rows")
    return replace(rows, notices=(*rows.notices, outside)) if far else rows


def _shape_notices(entry: Entry, data: Dataset) -> Iterator[str]:
    """Yield notices for shapes that differ from those a paper prints; test rows that are lacking are not compared."""
    ours = {"m": data.train.rows, "n": data.train.features}
    if not data.lacking:
        ours["t"] = data.test.rows if data.test else 0
    for shape in entry.published:
        differ = [
            f"{key} = {n:,} (here {here:,})"
            for key, here in ours.items()
            if (n := getattr(shape, key) or here) != here
        ]
        if differ:
            yield f"paper {shape.paper} prints {', '.join(differ)} for {shape.name}"
