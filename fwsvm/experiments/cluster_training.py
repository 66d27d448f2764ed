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
from fwsvm.distributed import block
from fwsvm.distributed import fit as cluster
from fwsvm.distributed.cluster import Cluster, identity
from fwsvm.distributed.table import RemoteTable
from fwsvm.experiments.run import accuracy
from fwsvm.experiments.validation import refuse_lost_class, refuse_more_folds
from fwsvm.phases import Phase, enter
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
        found = table.found
        shape = {"rows": found.rows, "features": found.features, "classes": len(found.classes)}
        self.table, self.test, self.columns = table, test, columns | shape
        self.notices, self.zero_based = notices, zero_based
        # another run than one machine would make, with the same certificate
        self.identity = f"{columns['data_sha256']} on a cluster {identity()}"
        self.counts: np.ndarray = found.counts.sum(axis=0)
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
        return accuracy(result, self.test, self.table.found.classes) if self.test is not None else None

    def parts(self, folds: int, seed: int) -> Iterator["RemoteFold"]:
        """Yield the rows with each fold held out in turn.

        Parts are drawn in each partition by itself, class by class, so they are not those of one machine.

        Raises
        ------
        DataError
            There are fewer rows than folds, or a class has too few.
        """
        name, table = self.columns["dataset"], self.table
        refuse_more_folds(name, table.found.rows, folds)
        for part in range(folds):
            asked = [block.HeldOutPart(part, folds, (seed, number)) for number in range(len(table.blocks))]
            yield RemoteFold(self, asked)


class RemoteFold(RemoteRows):
    """Rows on a cluster, some of which are held out."""

    def __init__(self, whole: RemoteRows, held_out: list[block.HeldOutPart]) -> None:
        super().__init__(
            whole.table.without(held_out), None, whole.columns, whole.notices, zero_based=whole.zero_based
        )
        self.whole, self.held_out = whole.table, held_out
        refuse_lost_class(self.columns["dataset"], self.counts, self.table.found.classes)

    def training_accuracy(self, result: Result) -> float | None:  # noqa: ARG002
        """Return None: only the rows held out are predicted."""
        return None

    def test_accuracy(self, result: Result) -> float | None:
        """Return the accuracy on the rows held out."""
        enter(Phase.PREDICT)
        model = self.whole.same(self.whole.cluster.send(result.model))
        answers = self.whole.ask(block.right_of_held_out, self.held_out, model)
        self.test_count = sum(count for _, count in answers)
        return float(sum(right for right, _ in answers) / max(1, self.test_count))


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
        columns = {"dataset": data, "data_sha256": fingerprint_of(recipe)}
        columns["load_seconds"] = time.perf_counter() - started  # type: ignore[assignment]
        yield RemoteRows(table, held_out, columns, notices, zero_based=base)
    finally:
        there.close()
