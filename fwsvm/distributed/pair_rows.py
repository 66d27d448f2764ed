"""All rows of two classes, on the workers: drawn from, looked at, and chosen from for the next chunk."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwsvm._memory import require
from fwsvm.distributed import look
from fwsvm.distributed.cluster import MESSAGE_BYTES, received
from fwsvm.distributed.table import RemoteTable
from fwsvm.distributed.working_set import WorkingSet, stacked
from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.rows import some_rows
from fwsvm.problems.simplex_qp import SimplexCertificate
from fwsvm.solvers.chunking.working_set import first_chunk
from fwsvm.solvers.tuning import CHUNK_SPARE, LARGEST_CHUNK

#: Copies of a working set's rows at a time, in the inner run, in both precisions, and while the next one is gathered.
COPIES = 5


class LookAtAll(NamedTuple):
    """A look at all rows.

    Attributes
    ----------
    looks : list of futures, the parts that stay on the workers
    R : float
    outside : float, the least q of rows outside the chunk
    found : SimplexCertificate
    matter, floors : of `fwsvm.distributed.look.Judged`, over all rows
    bins : ndarray of int64, shape (partitions, BINS), those of each partition
    """

    looks: list[Any]
    R: float
    outside: float
    found: SimplexCertificate
    matter: int
    bins: np.ndarray
    floors: tuple[float, float]


@dataclass(frozen=True)
class PairRows:
    """All rows of two classes.

    Attributes
    ----------
    table : RemoteTable
    pair : look.Pair
    kernel : NamedTuple
    widest : float, the largest K~_ii
    """

    table: RemoteTable
    pair: look.Pair
    kernel: Any
    widest: float

    @property
    def plus(self) -> int:
        """How many rows are +1."""
        return int(self.table.found.counts[:, self.pair.first].sum())

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.plus + int(self.table.found.counts[:, self.pair.second].sum())

    def drawn(self, random: np.random.Generator, share: float) -> WorkingSet:
        """Return a share of each class, drawn at random, without weights."""
        chunk, plus = first_chunk(self.plus, self.count, random, share), self.plus
        self.require_room(len(chunk))
        own = int(np.searchsorted(chunk, plus))
        numbers, rows = self.table.of_ranks(
            self.pair.first, self.pair.second, chunk[:own], chunk[own:] - plus
        )
        return WorkingSet(numbers, own, rows, np.zeros(len(numbers)))

    def survey(self, working: WorkingSet, dtype: type) -> LookAtAll:
        """Look at all rows at the weights of a working set, in a precision."""
        table = self.table
        order = np.argsort(working.numbers)
        own = [look.Own(*some) for some in table.shares(working.numbers[order], working.alpha[order])]
        support, same = self._sent(working), table.same
        looks = table.futures(
            look.look, own, same(self.pair), same(self.kernel), same(support), same(np.dtype(dtype).name)
        )
        each = table.cluster.each
        # R is the result of a task, too, so that the next tasks need not wait for its way to here and back
        (found_R,) = each(look.total, [each(look.objective, looks)])
        total, ridged = self._sums(working)
        R, *judged = table.cluster.gather([found_R, *each(look.judge, looks, same(found_R), same(total))])
        parts: list[look.Judged] = judged
        norm = R - ridged
        lowest = min(part.lowest for part in parts)
        off = max(part.value_rounding for part in parts)
        rounded = 2.0 * (lowest - min(part.rounded for part in parts) + off * total * total)
        gap = 2.0 * (R - lowest)
        if R > 0.0 and not np.isinf(1.0 / (2.0 * R)):
            primal = norm / R / (2.0 * R) + float(np.sum([part.losses for part in parts])) / 2.0
            found = SimplexCertificate(R, gap, primal, 1.0 / (2.0 * R), rounded)
        else:  # R is lost in rounding, as in `fwsvm.problems.simplex_qp.certificate`
            found = SimplexCertificate(R, gap, np.inf, 0.0, rounded)
        return LookAtAll(
            looks, R, min(part.outside for part in parts), found, sum(part.matter for part in parts),
            np.array([part.bins for part in parts]),
            (min(part.floors[0] for part in parts), min(part.floors[1] for part in parts)),
        )  # fmt: skip

    def next(self, working: WorkingSet, seen: LookAtAll, *, everything: bool = False) -> WorkingSet:
        """Return the next chunk: rows that matter and half as many again of least f, or all rows.

        Of the others those of whole bins of f, as many as fit, and of the next bin each partition's share: where rows
        repeat, many have the same f.

        Raises
        ------
        UsageError
            The rows do not fit in the memory available.
        """
        wanted = int(CHUNK_SPARE * seen.matter) + 2
        if everything or wanted > LARGEST_CHUNK * self.count:
            wanted, below, more = self.count, look.BINS, [0] * len(seen.bins)
        else:
            sizes = np.cumsum(
                [seen.matter, *seen.bins.sum(axis=0)]
            )  # of the rows that matter and the bins below
            below = int(np.searchsorted(sizes, wanted, side="right")) - 1
            more = _shares(seen.bins, below, wanted - int(sizes[below]))
        self.require_room(wanted)
        table = self.table
        same = table.same
        parts: list[look.Chosen] = table.ask(
            look.choose, seen.looks, same(seen.R), same(below), more, same(seen.floors)
        )
        first = table.starts[:-1]
        return working.next(
            np.concatenate([part.kept + start for part, start in zip(parts, first, strict=True)]),
            np.concatenate([part.new + start for part, start in zip(parts, first, strict=True)]),
            np.concatenate([part.plus for part in parts]),
            stacked([part.rows for part in parts], table.found.features),
        )

    def require_room(self, rows: int) -> None:
        """Refuse, with `UsageError`, a working set that does not fit in this machine's memory."""
        require(
            int(COPIES * rows * self.table.row_bytes),
            f"a working set of {rows:,} of the {self.count:,} rows, which this machine solves on,",
            "take a smaller C or a wider kernel, which leave fewer support vectors, or train on fewer rows",
        )

    def _sums(self, working: WorkingSet) -> tuple[float, float]:
        """Return the root of the sum of alpha^2 K~_ii, and the ridge's part of R."""
        support = np.flatnonzero(working.alpha)
        alpha, ridge = working.alpha[support], np.where(support < working.plus, *self.pair.ridges)
        diagonal = self_values(self.kernel, some_rows(working.rows, support)) + 1.0 + ridge
        return float(np.sqrt((alpha * alpha) @ diagonal)), float((ridge * alpha) @ alpha)

    def _sent(self, working: WorkingSet) -> list[Any]:
        """Return futures of the support vectors, in messages that a scheduler takes."""
        rows, signed = working.support()
        step = max(1, int(MESSAGE_BYTES / (8.0 + 12.0 * len(rows.values) / max(1, len(signed)))))
        parts = [slice(first, first + step) for first in range(0, len(signed), step)]
        numbers = np.arange(len(signed))
        messages = [look.Support(some_rows(rows, numbers[part]), signed[part]) for part in parts]
        return self.table.cluster.each(received, messages)


def _shares(bins: np.ndarray, one: int, wanted: int) -> list[int]:
    """Return how many of about ``wanted`` rows of a bin come from each partition."""
    if one == look.BINS:
        return [0] * len(bins)
    counts = bins[:, one]
    return [int(count) for count in counts * wanted // max(1, counts.sum())]
