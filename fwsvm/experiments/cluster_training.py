"""Rows on a Dask cluster (`fwsvm train|cv --scheduler`), to train and to test on."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fwsvm.data.catalogue import fingerprint_of, read_test, scaled_test_rows
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import loader_of
from fwsvm.data.formats.svmlight import FOUND_ZERO_BASED
from fwsvm.data.partitions import cut
from fwsvm.data.splits import fold
from fwsvm.distributed import fit as cluster
from fwsvm.distributed.block import OUT
from fwsvm.distributed.cluster import Cluster, identity
from fwsvm.distributed.table import RemoteTable
from fwsvm.experiments.run import accuracy
from fwsvm.experiments.validation import refuse_lost_class, refuse_more_folds
from fwsvm.solvers import Result, Settings
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved


class RemoteRows:
    """Training rows on a cluster, and test rows here; the same members as `fwsvm.experiments.run.LocalRows`.

    Attributes
    ----------
    table : RemoteTable
    test : LabelledRows or None
    columns : dict, that describe the data
    notices : tuple of str
    """

    lacking, scales = "", False

    def __init__(
        self,
        table: RemoteTable,
        test: LabelledRows | None,
        columns: dict[str, Any],
        notices: tuple[str, ...] = (),
        *,
        zero_based: bool = False,
    ) -> None:
        shape = {"rows": table.rows, "features": table.features, "classes": len(table.classes)}
        self.table, self.test, self.columns = table, test, columns | shape
        self.notices, self.zero_based = notices, zero_based
        # another run than one machine would make, with the same certificate
        self.identity = f"{columns['data_sha256']} on a cluster {identity()}"
        codes = table.codes[table.codes != OUT]
        self.counts = np.bincount(codes, minlength=len(table.classes))
        self.test_count = 0 if test is None else test.rows

    def train(self, settings: Settings, watch: Watch | None, resolved: Resolved | None) -> Result:
        """Return the result of training on the cluster."""
        result = cluster.fit(self.table, settings, resolved or cluster.resolve(self.table, settings), watch)
        return result.with_rows(ranges=result.model.ranges, zero_based=self.zero_based)

    def training_accuracy(self, result: Result) -> float | None:
        """Return the training accuracy."""
        return cluster.accuracy(self.table, result)

    def test_accuracy(self, result: Result) -> float | None:
        """Return the test accuracy."""
        return accuracy(result, self.test, self.table.classes) if self.test is not None else None

    def parts(self, folds: int, seed: int) -> Iterator["RemoteFold"]:
        """Yield the rows with each fold held out in turn, those of one machine.

        Raises
        ------
        DataError
            There are fewer rows than folds, or a class has too few.
        """
        refuse_more_folds(self.columns["dataset"], self.table.rows, folds)
        for part in range(folds):
            yield RemoteFold(self, fold(self.table.codes, folds, part, seed))


class RemoteFold(RemoteRows):
    """Rows on a cluster, some of which are held out."""

    def __init__(self, whole: RemoteRows, held_out: np.ndarray) -> None:
        super().__init__(
            whole.table.without(held_out), None, whole.columns, whole.notices, zero_based=whole.zero_based
        )
        self.whole, self.held_out = whole.table, held_out
        self.test_count = int(np.count_nonzero(held_out))
        refuse_lost_class(self.columns["dataset"], self.counts, self.table.classes)

    def training_accuracy(self, result: Result) -> float | None:  # noqa: ARG002
        """Return None: only the rows held out are predicted."""
        return None

    def test_accuracy(self, result: Result) -> float | None:
        """Return the accuracy on the rows held out."""
        return cluster.accuracy(self.whole, result, self.held_out)


@contextmanager
def opened(
    address: str, data: str, test: Path | None, *, zero_based: bool | None, scale: str | None = None
) -> Iterator[RemoteRows]:
    """Have the workers of a cluster read a file, or the files of a folder; they let go of it in the end.

    Raises
    ------
    UsageError, DataError
        As `fwsvm.distributed.cluster.connect`, `fwsvm.data.partitions.cut`, and what workers say.
    """
    started = time.perf_counter()
    partitions = cut(data, zero_based=zero_based)
    base = partitions[0].zero_based
    there = Cluster(address)
    try:
        table = RemoteTable(there, partitions, scale=scale or "none")
        recipe: dict[str, Any] = {"partitions": table.digests, "zero_based": base}
        held_out, notices = None, table.notices
        if base and zero_based is None:
            notices = (FOUND_ZERO_BASED, *notices)
        if test is not None:
            loader = loader_of(test, zero_based=base)
            held_out, recipe["test"], more = read_test(test, loader, table.features, table.classes)
            notices = (*notices, *more)
        if table.ranges is not None:
            recipe["scaling"] = scale
            if held_out is not None:
                held_out, more = scaled_test_rows(held_out, table.ranges, fingerprint_of(recipe))
                notices = (*notices, *more)
        columns = {"dataset": data, "data_sha256": fingerprint_of(recipe)}
        columns["load_seconds"] = time.perf_counter() - started  # type: ignore[assignment]
        yield RemoteRows(table, held_out, columns, notices, zero_based=base)
    finally:
        there.close()
