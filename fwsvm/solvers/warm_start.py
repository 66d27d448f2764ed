"""What a run passes on to the next one on the same rows: kernel columns, and where it ended."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows


@dataclass
class Handover:
    """Passed to `fwsvm.solvers.fit` again and again, for runs on the same rows and labels that differ in C alone.

    Attributes
    ----------
    warm : bool
        Whether a run starts where the one before ended. Kernel values are shared in any case.
    notes : dict
        What a method tells its own next run, under keys of its own.
    unproven : bool
        Whether a run that claims to have converged leaves it to others to compute its certificate, if it can
        (`Family.prove`).
    inner : dict of int to Handover
        Those of runs on some of a subproblem's rows, whose columns take room, too.
    """

    warm: bool = True
    unproven: bool = False
    notes: dict[Any, Any] = field(default_factory=dict)
    inner: dict[int, "Handover"] = field(default_factory=dict)
    _columns: dict[Any, ColumnCache] = field(default_factory=dict)
    _ends: dict[int, np.ndarray] = field(default_factory=dict)

    def columns(self, number: int, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return subproblem ``number``'s columns of a kernel over ``rows``, with the values they hold already.

        Columns are kept for the next run only as long as those of all subproblems fit in the budget of one.
        """
        key = (number, kernel, rows.values.dtype, rows.height, len(rows.values))
        if key in self._columns:
            return self._columns[key]
        made = column_cache(kernel, rows, budget_bytes, threads)
        if self.column_bytes() + made.cached.nbytes <= budget_bytes:
            self._columns[key] = made
        return made

    def column_bytes(self) -> int:
        """Return the memory of all columns kept, once they are full."""
        mine = sum(other.cached.nbytes for other in list(self._columns.values()))
        return mine + sum(inner.column_bytes() for inner in list(self.inner.values()))

    def beside(self) -> "Handover":
        """Return one for other runs on the same rows, which shares the kernel values kept here."""
        return Handover(_columns=self._columns)

    def let_go(self) -> None:
        """Keep no columns any longer."""
        self._columns.clear()
        self.inner.clear()

    def end(self, number: int) -> np.ndarray | None:
        """Return the weights (m,) at which the last run on subproblem ``number`` ended, if one is to go on there."""
        return self._ends.get(number) if self.warm else None

    def leave(self, number: int, weights: np.ndarray) -> None:
        """Note where a run ended."""
        self._ends[number] = weights

    @property
    def ends(self) -> dict[int, np.ndarray]:
        """Where the last runs ended, by number of the subproblem."""
        return dict(self._ends)

    @classmethod
    def at(cls, ends: dict[int, np.ndarray], *, unproven: bool) -> "Handover":
        """Return one that passes on these ends and nothing else."""
        return cls(unproven=unproven, _ends=dict(ends))
