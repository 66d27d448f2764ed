"""The coordinator's view of all rows: how many of which class each partition has, and questions to all partitions."""

import copy
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data import labels
from fwsvm.data.partitions import Partition
from fwsvm.distributed import block, folds
from fwsvm.distributed.cluster import Cluster
from fwsvm.distributed.sums import Sums, added, ranges
from fwsvm.distributed.working_set import stacked
from fwsvm.errors import DataError
from fwsvm.kernels.rows import Rows, some_rows


class TableFacts(NamedTuple):
    """What one pass over all partitions found.

    Attributes
    ----------
    digests : tuple of str, of each partition's bytes
    classes : tuple of str, in the order of `fwsvm.data.labels.classes`
    counts : ndarray of int, shape (partitions, classes), rows
    features : int
    sums : Sums, from which spread and extreme follow (`fwsvm.distributed.sums`)
    notices : tuple of str
    """

    digests: tuple[str, ...]
    classes: tuple[str, ...]
    counts: np.ndarray
    features: int
    sums: Sums
    notices: tuple[str, ...]

    @property
    def stored(self) -> int:
        """Numbers stored."""
        return int(self.sums.counts.sum())

    @property
    def rows(self) -> int:
        """Number of rows m."""
        return int(self.counts.sum())


class RemoteTable:
    """All rows, on the workers of a cluster. A row's number is its place in the files, one after another.

    With ``scale``, one of `fwsvm.scaling.SCALINGS`, they are scaled by ``ranges``, their own.

    Raises
    ------
    DataError
        The rows have one class only, or one each, or a partition cannot be read.
    """

    def __init__(
        self,
        cluster: Cluster,
        partitions: Sequence[Partition],
        *,
        scale: str = "none",
    ) -> None:
        self.cluster, count = cluster, len(partitions)
        parts = cluster.each(block.load, partitions)
        self.found = found = joined(cluster.gather(cluster.each(block.facts, parts)), name_of(partitions))
        self.blocks = cluster.each(
            block.block, parts, partitions, found.digests, [found.classes] * count, [found.features] * count
        )
        self.starts = np.concatenate([[0], np.cumsum(found.counts.sum(axis=1))])
        self.ranges = None if scale == "none" else ranges(found.sums, found.rows, scale)
        if self.ranges is not None:
            self.blocks = self.futures(block.scaled, self.same(self.ranges))
            self.found = found._replace(sums=added(self.ask(block.sums)))

    def without(self, held_out: Sequence[folds.HeldOutPart]) -> "RemoteTable":
        """Return a table that lacks rows of each partition; features, and rows' numbers, stay those of all."""
        rest = copy.copy(self)
        rest.blocks = self.futures(folds.without, held_out)
        counts = rest.ask(folds.counts, rest.same(len(self.found.classes)))
        rest.found = self.found._replace(counts=np.array(counts), sums=added(rest.ask(block.sums)))
        return rest

    def ask(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Return what a function says of each partition's block."""
        return self.cluster.gather(self.futures(function, *arguments))

    def futures(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Return a future of a function of each partition's block, whose result stays on its worker."""
        return self.cluster.each(function, self.blocks, *arguments)

    def same(self, value: Any) -> list[Any]:
        """Return an argument that is the same for all partitions."""
        return [value] * len(self.blocks)

    def of_ranks(
        self, code: int, other: int, ranks: np.ndarray, others: np.ndarray
    ) -> tuple[np.ndarray, Rows]:
        """Return rows of two classes by their ranks, each how-manieth of its class: their numbers, and the rows.

        Both come class by class and ascending, as the ranks do.
        """
        shares = zip(self._of_rank(code, ranks), self._of_rank(other, others), strict=True)
        asked = [((code, mine), (other, theirs)) for mine, theirs in shares]
        answers = self.ask(block.of_ranks, asked)
        cuts = [len(mine) for (_, mine), _ in asked]
        numbers = [which + start for (which, _), start in zip(answers, self.starts, strict=False)]
        order = np.argsort(
            np.concatenate([np.arange(len(some)) >= cut for some, cut in zip(numbers, cuts, strict=True)]),
            kind="stable",
        )
        X = stacked([rows for _, rows in answers], self.found.features)
        return np.concatenate(numbers)[order], some_rows(X, order)

    def _of_rank(self, code: int, ranks: np.ndarray) -> list[np.ndarray]:
        """Return the ranks in each partition of ranks in all of them, ascending."""
        ends = np.cumsum(self.found.counts[:, code])
        cuts = np.searchsorted(ranks, ends)
        return [
            some - before for some, before in zip(np.split(ranks, cuts[:-1]), [0, *ends[:-1]], strict=True)
        ]

    def shares(self, numbers: np.ndarray, *values: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Return for each partition which of ascending numbers are its own, from its start on, and their values."""
        cuts = np.searchsorted(numbers, self.starts[1:-1])
        own = zip(np.split(numbers, cuts), self.starts[:-1], strict=True)
        return list(
            zip(
                [some - start for some, start in own], *(np.split(some, cuts) for some in values), strict=True
            )
        )

    def of_numbers(self, numbers: np.ndarray) -> tuple[np.ndarray, csr_array]:
        """Return the classes and the rows of ascending numbers."""
        answers = self.ask(block.of_numbers, [which for (which,) in self.shares(numbers)])
        codes = np.concatenate([codes for codes, _ in answers])
        return codes, block.as_csr(stacked([rows for _, rows in answers], self.found.features))

    @property
    def row_bytes(self) -> float:
        """Bytes of a row in memory, on average."""
        return 12.0 * self.found.stored / max(1, self.found.rows) + 8.0


def name_of(partitions: Sequence[Partition]) -> str:
    """Return the file that partitions are of, or its folder where they are of several."""
    files = {partition.path for partition in partitions}
    return files.pop() if len(files) == 1 else str(Path(files.pop()).parent)


def joined(facts: Sequence[block.Facts], name: str) -> TableFacts:
    """Return what all partitions of ``name`` are together; `DataError` for rows of one class, or of one each."""
    names = np.array([name for some in facts for name in some.classes])
    classes = labels.classes(names) if len(names) else ()
    rows = sum(int(some.counts.sum()) for some in facts)
    if len(classes) < 2:
        raise DataError(f"{name}: all rows have the same label; two classes are needed")
    if len(classes) == rows > 2:
        raise DataError(
            f"{name}: each of the {rows} rows has a label of its own; classes are labels that rows share (fwsvm does "
            "classification, not regression)"
        )
    place = {name: k for k, name in enumerate(classes)}
    counts = np.zeros((len(facts), len(classes)), np.int64)
    for p, some in enumerate(facts):
        counts[p, [place[name] for name in some.classes]] = some.counts
    return TableFacts(
        tuple(some.sha256 for some in facts),
        classes,
        counts,
        max(some.features for some in facts),
        added([some.sums for some in facts]),
        tuple(dict.fromkeys(notice for some in facts for notice in some.notices)),
    )
