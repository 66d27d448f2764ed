"""Rows on a Dask cluster (`fwsvm train|cv --scheduler`), to train and to test on."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fwsvm.data.catalogue import fingerprint_of, read_test, scaled_test_rows
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.svmlight import FOUND_ZERO_BASED
from fwsvm.data.partitions import cut
from fwsvm.distributed import fit as cluster
from fwsvm.distributed.cluster import Cluster, identity
from fwsvm.distributed.table import ClusterSource, RemoteTable
from fwsvm.experiments.run import ALONE, TEST, accuracies
from fwsvm.phases import Phase, enter
from fwsvm.problems.machines import KernelModel
from fwsvm.solvers import Result, Settings
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved


class RemoteRows:
    """Training rows on a cluster, and test rows; the same members as `fwsvm.experiments.run.LocalRows`.

    Attributes
    ----------
    source : ClusterSource
    test : LabelledRows, ClusterSource or None
        Test rows here, or those of a fold on the cluster.
    columns : dict, that describe the data
    notices : tuple of str
    """

    lacking = ""

    def __init__(
        self,
        source: ClusterSource,
        test: LabelledRows | ClusterSource | None,
        columns: dict[str, Any],
        notices: tuple[str, ...],
        *,
        zero_based: bool,
    ) -> None:
        (rows, features), self.classes, self.codes = source.shape, source.table.classes, source.codes
        self.columns = ALONE | columns | {"rows": rows, "features": features, "classes": len(self.classes)}
        self.source, self.test, self.notices, self.zero_based = source, test, notices, zero_based
        # another run than one machine would make, with the same certificate
        self.identity = f"{columns['data_sha256']} on a cluster {identity()}"
        self.test_count = (
            0 if test is None else len(test.codes if isinstance(test, ClusterSource) else test.labels)
        )

    def train(self, settings: Settings, watch: Watch | None, resolved: Resolved | None) -> Result:
        """Return the result of training on the cluster."""
        result = cluster.fit(self.source, settings, resolved or cluster.resolve(self.source, settings), watch)
        model = replace(result.model, ranges=self.source.table.ranges, zero_based=self.zero_based)
        return replace(result, model=model)

    def without(self, held_out: np.ndarray) -> "RemoteRows":
        """Return the rows outside a boolean mask (m,), and those inside to test on."""
        rest, test = (self.source.some(np.flatnonzero(mask)) for mask in (~held_out, held_out))
        return RemoteRows(rest, test, self.columns, self.notices, zero_based=self.zero_based)

    def accuracies(self, results: Sequence[Result], which: str) -> list[float]:
        """Return the accuracy on the training or test rows for each result; of a fold on the rows held out alone."""
        is_fold = isinstance(self.test, ClusterSource)
        rows = self.test if which == TEST else None if is_fold else self.source
        if not isinstance(rows, ClusterSource):
            return accuracies(results, rows, self.classes)
        enter(Phase.PREDICT)
        return [rows.accuracy(result.model) for result in results if isinstance(result.model, KernelModel)]


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
    held_out = None
    there = Cluster(address)
    try:
        table = RemoteTable(there, partitions, scale=scale or "none")
        recipe: dict[str, Any] = {"partitions": table.digests, "zero_based": base}
        notices = [*([FOUND_ZERO_BASED] if base and zero_based is None else []), *table.notices]
        if test is not None:
            held_out = read_test(test, table.features, table.classes, zero_based=base)
            recipe["test"] = held_out.sha256
        if table.ranges is not None:
            recipe["scaling"] = scale
            if held_out is not None:
                held_out = scaled_test_rows(held_out, table.ranges, fingerprint_of(recipe))
        notices += held_out.notices if held_out else ()
        seconds = time.perf_counter() - started
        columns = {"dataset": data, "data_sha256": fingerprint_of(recipe), "load_seconds": seconds}
        yield RemoteRows(ClusterSource(table), held_out, columns, tuple(notices), zero_based=base)
    finally:
        there.close()
