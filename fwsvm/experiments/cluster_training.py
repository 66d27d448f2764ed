"""Training and cross-validation on a Dask cluster (`fwsvm train|cv --scheduler`): partitions to results and rows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fwsvm._memory import peak_memory_mib, reset_peak_memory
from fwsvm.data.catalogue import fingerprint_of, read_test, scaled_test_rows
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.registry import loader_of
from fwsvm.data.formats.svmlight import FOUND_ZERO_BASED
from fwsvm.data.partitions import cut
from fwsvm.distributed import folds as there
from fwsvm.distributed.cluster import Cluster, identity
from fwsvm.distributed.fit import accuracy as accuracy_there
from fwsvm.distributed.fit import fit, resolve
from fwsvm.distributed.machine_parts import sent
from fwsvm.distributed.table import RemoteTable
from fwsvm.experiments import accuracy, record
from fwsvm.experiments.cross_validation import Fold
from fwsvm.experiments.plan import FINAL, SELECT, run_id
from fwsvm.experiments.record import Row, settings_columns
from fwsvm.experiments.validation import refuse_lost_class, refuse_more_folds
from fwsvm.phases import Phase, enter
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved


class Remote(NamedTuple):
    """Training rows on a cluster, and test rows here.

    Attributes
    ----------
    name : str, the file or folder as given
    table : RemoteTable
    test : LabelledRows or None
    fingerprint : str, digest of all that decides the rows
    load_seconds : float, until all partitions were read
    notices : tuple of str
    """

    name: str
    table: RemoteTable
    test: LabelledRows | None
    fingerprint: str
    load_seconds: float
    notices: tuple[str, ...]
    zero_based: bool


@contextmanager
def opened(
    address: str, data: str, test: Path | None, *, zero_based: bool | None, scale: str | None = None
) -> Iterator[Remote]:
    """Have the workers of a cluster read a file, or the files of a folder; they let go of it in the end.

    Raises
    ------
    UsageError, DataError
        As `fwsvm.distributed.cluster.connect`, `fwsvm.data.partitions.cut`, and what workers say.
    """
    started = time.perf_counter()
    partitions = cut(data, zero_based=zero_based)
    base = partitions[0].zero_based
    cluster = Cluster(address)
    try:
        table = RemoteTable(cluster, partitions, scale=scale or "none")
        recipe: dict[str, Any] = {"partitions": table.found.digests, "zero_based": base}
        held_out, notices = None, table.found.notices
        if base and zero_based is None:
            notices = (FOUND_ZERO_BASED, *notices)
        if test is not None:
            loader = loader_of(test, zero_based=base)
            found = table.found
            held_out, recipe["test"], more = read_test(test, loader, found.features, found.classes)
            notices = (*notices, *more)
        if table.ranges is not None:
            recipe["scaling"] = scale
            if held_out is not None:
                held_out, more = scaled_test_rows(held_out, table.ranges, fingerprint_of(recipe))
                notices = (*notices, *more)
        seconds = time.perf_counter() - started
        yield Remote(data, table, held_out, fingerprint_of(recipe), seconds, notices, base)
    finally:
        cluster.close()


def train(
    data: Remote, settings: Settings, resolved: Resolved, watch: Watch | None = None
) -> tuple[Result, Row]:
    """Train on rows that are on a cluster, measure accuracies, and return the result and its row."""
    started, found = utc_now(), data.table.found
    reset_peak_memory()
    result = fit(data.table, settings, resolved, watch)
    result = result.with_rows(ranges=result.model.ranges, zero_based=data.zero_based)
    more: dict[str, Any] = {
        **identity_columns(data, settings),
        "role": FINAL,
        "started_utc": started,
    }
    try:
        counts = found.counts.sum(axis=0)
        result, known = accuracy.on_training_rows(result, lambda of: accuracy_there(data.table, of), counts)
        more |= known
        if data.test is not None:
            result, known = accuracy.on_test_rows(result, data.test, found.classes)
            more |= known
    except KeyboardInterrupt:
        result = accuracy.interrupted(result)
    more["peak_memory_mib"] = peak_memory_mib()
    return result, record.row(data_columns(data), result, **more)


def identity_columns(data: Remote, settings: Settings, held_out: str = "") -> Row:
    """Return the columns that say which run it is: another than one machine would make, with the same certificate."""
    return {
        "run_id": run_id(data.name, f"{data.fingerprint} on a cluster {identity()}", "", settings, held_out),
        **settings_columns(settings),
        "parallel_cells": 1,
        "shared": False,
    }


def data_columns(data: Remote) -> Row:
    """Return the columns that describe the data set and the rows trained on."""
    found = data.table.found
    return {
        "dataset": data.name,
        "data_sha256": data.fingerprint,
        "rows": found.rows,
        "features": found.features,
        "classes": len(found.classes),
        "load_seconds": data.load_seconds,
    }


def cross_validate(
    data: Remote, settings: Settings, folds: int, watch: Watch | None = None
) -> Iterator[Fold]:
    """Train on all rows but a part and predict the part, for each part in turn; the settings' seed draws them.

    Parts are drawn in each partition by itself, class by class, so they are not those of one machine.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class has too few.
    """
    table = data.table
    refuse_more_folds(data.name, table.found.rows, folds)
    for part in range(folds):
        asked = [
            there.HeldOutPart(part, folds, (settings.seed, number)) for number in range(len(table.blocks))
        ]
        rest, started = table.without(asked), utc_now()
        refuse_lost_class(data.name, rest.found.counts.sum(axis=0), table.found.classes)
        result = fit(rest, settings, resolve(rest, settings), watch)
        words = f"fold {part} of {folds} on a cluster"
        more = identity_columns(data, settings, words) | {
            "role": SELECT,
            "fold": part,
            "started_utc": started,
        }
        columns = data_columns(data._replace(table=rest))
        if result.status is Status.INTERRUPTED:
            yield Fold(result, record.row(columns, result, **more), 0, 0)
            continue
        enter(Phase.PREDICT)
        try:
            machine = sent(table.cluster, result.model)
            answers = table.ask(there.right_of_held_out, asked, table.same(machine))
        except accuracy.UNMEASURED as error:
            result = accuracy.unmeasured(result, accuracy.TEST, error)
            yield Fold(result, record.row(columns, result, **more), 0, 0)
            continue
        right, count = sum(right for right, _ in answers), sum(count for _, count in answers)
        yield Fold(
            result, record.row(columns, result, **more, test_accuracy=right / max(1, count)), count, right
        )
