"""The coordinator's view of all rows: how many of which class each partition has, and questions to all partitions."""

import copy
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwsvm.data import labels
from fwsvm.data.partitions import Partition
from fwsvm.distributed import block
from fwsvm.distributed.cluster import Cluster
from fwsvm.distributed.sums import Sums, added, ranges
from fwsvm.errors import DataError
from fwsvm.kernels.rows import Rows


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
            self.found = found._replace(sums=added(self.ask(block.feature_sums)))

    def without(self, held_out: Sequence[block.HeldOutPart]) -> "RemoteTable":
        """Return a table that lacks rows of each partition; features, and rows' numbers, stay those of all."""
        rest = copy.copy(self)
        rest.blocks = self.futures(block.without, held_out)
        counts = rest.ask(block.counts, rest.same(len(self.found.classes)))
        rest.found = self.found._replace(counts=np.array(counts), sums=added(rest.ask(block.feature_sums)))
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

    def rows(self, numbers: np.ndarray) -> Rows:
        """Return the rows of ascending numbers."""
        cuts = np.searchsorted(numbers, self.starts[1:-1])
        own = zip(np.split(numbers, cuts), self.starts[:-1], strict=True)
        answers = self.ask(block.of_numbers, [some - start for some, start in own])
        return stacked(answers, self.found.features)


def stacked(parts: Sequence[Rows], features: int) -> Rows:
    """Return tables of rows one below the other."""
    ends = np.cumsum([0, *(len(rows.values) for rows in parts)])
    starts = [rows.starts[:-1] + end for rows, end in zip(parts, ends, strict=False)]
    return Rows(
        np.concatenate([np.zeros(0), *(rows.values for rows in parts)]),
        np.concatenate([np.zeros(0, np.int32), *(rows.columns for rows in parts)]),
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        features,
    )


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
