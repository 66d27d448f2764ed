"""A machine of low rank: where Newton's method begins, and a solver of its linear systems.

Where a kernel is smooth beside the distances of the rows, the columns of a few of them nearly span all others:

    K + 1  ~  P'P,      P of shape (k, m).

These few rows are drawn at random, in proportion to what is left of K_ii, a block at a time (randomly pivoted Cholesky:
Chen, Epperly, Tropp & Webber 2023). In the space of P Newton's method costs little, and the f of the machine that it
finds there shows nearly which rows have a loss. Systems with P'P + diag(1 / C) precondition those with
K + 1 + diag(1 / C) (Woodbury), whose condition is then at most 1 + C tr(K + 1 - P'P).

The rank is doubled as long as that is foreseen to spare more conjugate gradient steps than it costs. Where swap-2o is
foreseen to be cheaper it solves the problem instead: its steps are forecast from C, the goal, and the active rows.
"""

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm.kernels.column_cache import ColumnCache, provide
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.threads import scipy_linalg
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.newton.budget import least_along
from fwsvm.solvers.tuning import (
    CG_RATE,
    CG_STEPS_A_ROOT,
    FACTOR_RATE,
    FEWEST_CG_STEPS,
    FIRST_SWAPS,
    RANK_RATE,
    RANK_STEPS,
    SWAPS_A_DIGIT,
    TRIAL_SHARE,
)

LOST = 1e-5  # of the largest K_ii: eigenvalues of columns in single precision below it are rounding
MOST_STEPS = 10  # of Newton's method in the space of P, which takes three to eight


class LowRank:
    """The kernel P'P, the rows with a loss under its machine, and systems with it for rows A.

    Attributes
    ----------
    map : ndarray, shape (k, m), P
    left : ndarray, shape (m,), the diagonal of K + 1 - P'P
    active : ndarray of int, the rows, ascending, with a loss under the machine last trained
    """

    def __init__(self, columns: ColumnCache, rows: AllRows) -> None:
        self.columns, self.y, self.ridge = columns, rows.y, rows.ridge
        self.left, self.lost, m = rows.own.values, LOST * rows.own.values.max(), len(rows.y)
        # to rank m / 2; the system provides pages as they are written
        self.memory = np.empty((m // 2 + WIDE, m), columns.cached.dtype)
        self.memory[0] = 1.0
        self.map = self.memory[:1]
        self.root = np.sqrt(1.0 / rows.ridge).astype(self.map.dtype)
        self.w, self.f, self.active = np.zeros(1), np.zeros(m), np.arange(m)
        self.inside, self.gram = np.zeros(m, bool), np.zeros((1, 1), self.map.dtype)

    @property
    def cg_steps(self) -> float:
        """The conjugate gradient steps, beyond the fewest, that are foreseen with this rank."""
        return float(np.sqrt((self.left / self.ridge).sum()))

    def grow(self, random: np.random.Generator) -> bool:
        """Take a block of rows to those whose columns span the kernel; return whether the rank rose."""
        size = min(WIDE, int(np.count_nonzero(self.left)))
        few = np.sort(random.choice(len(self.left), size, replace=False, p=self.left / self.left.sum()))
        provide(self.columns, few)
        K = self.columns.cached[self.columns.slot_of[few]] - self.map[1:, few].T @ self.map[1:]
        values, vectors = np.linalg.eigh(K[:, few].astype(np.float64))
        large = values > self.lost
        new = (vectors[:, large] / np.sqrt(values[large])).astype(K.dtype).T @ K
        before, k = len(self.map), len(self.map) + len(new)
        self.map = self.memory[:k]
        self.map[before:] = new
        self.left = np.maximum(self.left - np.square(new).sum(axis=0), 0.0)
        self.w = np.append(self.w, np.zeros(len(new)))
        self.inside, self.gram = np.zeros(len(self.y), bool), np.zeros((k, k), self.map.dtype)
        return k > before

    def enclose(self, rows: np.ndarray) -> bool:
        """Serve for the rows A from here on; return whether rounding allows that."""
        inside = np.zeros(len(self.y), bool)
        inside[rows] = True
        for changed, sign in ((inside & ~self.inside, 1), (self.inside & ~inside, -1)):
            part = self.map[:, changed] * self.root[changed]
            self.gram += sign * (part @ part.T)
        self.rows, self.inside = rows, inside
        H = self.gram.copy()
        H.flat[:: len(H) + 1] += 1.0 + np.finfo(H.dtype).eps * H.trace()  # what rounding may take
        try:
            self.factor = scipy_linalg().cho_factor(H, overwrite_a=True)
        except LinAlgError:
            return False
        return True

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution u (|A|,) of (P'P + diag(1 / C))_AA u = right."""
        u = np.zeros(len(self.y))
        u[self.rows] = right
        return (right - self._to_rows(self._in_space(u))[self.rows]) / self.ridge[self.rows]

    def _in_space(self, u: np.ndarray, w: float | np.ndarray = 0.0) -> np.ndarray:
        """Return H^-1 (P diag(C) u - w) for H = 1 + P_A diag(C) P_A'."""
        inner = self.map @ (u / self.ridge).astype(self.map.dtype) - w
        return scipy_linalg().cho_solve(self.factor, inner)

    def _to_rows(self, w: np.ndarray) -> np.ndarray:
        """Return P'w (m,)."""
        return w.astype(self.map.dtype) @ self.map

    def train(self) -> None:
        """Find the active rows by Newton's method, from the machine trained before, of a lower rank."""
        for _ in range(MOST_STEPS):
            if not self.enclose(self.active):
                break
            dw = self._in_space(np.maximum(0.0, 1.0 - self.f) * self.y, self.w)
            df = self.y * self._to_rows(dw)
            step = least_along(self.f, df, float(self.w @ dw), float(dw @ dw), 1.0 / self.ridge)
            self.w, self.f = self.w + step * dw, self.f + step * df
            self.active = np.flatnonzero(self.f < 1.0)
            changed = np.count_nonzero((self.f < 1.0) != self.inside)
            if step > 0.5 and changed <= len(self.rows) // 256:
                break


def low_rank(columns: ColumnCache, rows: AllRows, random: np.random.Generator) -> LowRank | None:
    """Return a machine of low rank, or None where steps of swap-2o are foreseen to be cheaper.

    Costs are counted in these steps. Conjugate gradient steps are taken to fall with the rank as they did before.
    """
    low, m, foreseen, rises = LowRank(columns, rows), len(rows.y), np.inf, True
    steps_a_row = (
        -SWAPS_A_DIGIT * np.log10(rows.resolved.tolerance) * np.sqrt((rows.own.values / rows.ridge).mean())
    )
    while True:
        before, cg_steps, active = len(low.map), low.cg_steps, len(low.active)
        by_factors = FIRST_SWAPS * active + 3.0 * active**3 / (FACTOR_RATE * m)
        by_swaps = min(steps_a_row * active, by_factors)
        spared = by_swaps - FEWEST_CG_STEPS * active / CG_RATE  # at most
        if foreseen > by_swaps and _cost_of_rank(max(2 * before, WIDE)) > TRIAL_SHARE * spared:
            return None
        while rises and len(low.map) < 2 * before:
            rises = bool(low.left.any()) and low.grow(random)
        low.train()
        k = len(low.map)
        ranks = k * 2.0 ** np.arange(max(1, int(np.log2(m / k))))
        falls = (low.cg_steps / cg_steps) ** (np.log2(ranks / k) / max(1.0, np.log2(k / before)))
        solving = (FEWEST_CG_STEPS + CG_STEPS_A_ROOT * low.cg_steps * falls) * len(low.active) / CG_RATE
        costs = _cost_of_rank(ranks) + solving
        foreseen = costs.min()
        if not rises or costs.argmin() == 0:
            return low if foreseen <= steps_a_row * len(low.active) else None


def _cost_of_rank(k: Any) -> Any:
    """Return how many steps of swap-2o take as long as kernels of ranks k and their machines."""
    return k * k / RANK_RATE + RANK_STEPS * k
