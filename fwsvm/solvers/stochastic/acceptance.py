"""The test of a step on rows T_k drawn without regard to the sample S_k (004 Algorithm 1 step 4).

T_k has as many rows as S_k. `Fresh` draws all of them anew each iteration, which costs |S_k|^2 kernel values. `Kept`
lets T_k grow as S_k does, by a random stream of its own, and keeps the kernel values between the two: a run then
computes each once. T_k is independent of S_k either way; under `Kept` the incumbent has passed tests on T_{k-1}, but
has not been fitted to it.
"""

from typing import Any

import numpy as np

from fwsvm._compile import njit
from fwsvm._threads import together
from fwsvm.kernels.blocks import WIDE, clear, fill_range, lay_out, room_for_anchors
from fwsvm.kernels.sums import weighted_sums
from fwsvm.solvers.process import Binary
from fwsvm.solvers.stochastic.sample import Sample, Store, take

WORTH_A_THREAD = 1 << 15  # numbers read or kernel values


class Fresh:
    """T_k drawn anew each iteration, without replacement."""

    def __init__(self, problem: Binary, sample: Sample, random: np.random.Generator) -> None:
        self.problem, self.sample, self.random = problem, sample, random
        self.kernel_evaluations = 0

    def products(self, alpha: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return <beta, phi(x)> for alpha and for d, both (n,), at the rows of T_k, shape (n, 2), and their labels."""
        sample, n = self.sample, len(self.sample)
        rows = self.random.choice(len(self.problem.y), n, replace=False, shuffle=False)
        sources, others = np.column_stack([alpha, d]), take(self.problem.X, rows, sample.dtype)
        self.kernel_evaluations += n * n
        values = weighted_sums(sample.kernel, sample.rows, np.arange(n), sources, others, sample.threads)
        return values, self.problem.y[rows]


class Kept:
    """T_k that grows with S_k; ``values[i, t]`` is k(s_i, t_t)."""

    def __init__(self, problem: Binary, sample: Sample, random: np.random.Generator, most: int) -> None:
        self.problem, self.sample = problem, sample
        self.order = random.permutation(len(problem.y))[:most]
        self.store = Store(sample.kernel, problem.X.shape[1], sample.dtype)
        self.values: np.ndarray = np.empty((most, most), sample.dtype)
        self.kernel_evaluations = 0

    def products(self, alpha: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return <beta, phi(x)> for alpha and for d, both (n,), at the rows of T_k, shape (n, 2), and their labels."""
        n = len(self.sample)
        self._grow(n)
        used = np.flatnonzero((alpha != 0.0) | (d != 0.0))
        out = np.zeros((2, n))

        def add(first: int, last: int) -> None:
            _add_rows(self.values, used, alpha, d, first, last, out)

        self._spread(add, n, len(used))
        return out.T, self.problem.y[self.order[:n]]

    def _grow(self, n: int) -> None:
        """Compute the kernel values of S_k and T_k that are not there yet, 64 rows of S_k at a time."""
        old = self.store.rows.height
        if n == old:
            return
        self.store.append(take(self.problem.X, self.order[old:n], self.sample.dtype))
        rows, own, everyone = self.store.rows, self.store.own, np.arange(n, dtype=np.int32)
        sources, own_sources = self.sample.rows, self.sample.store.own
        anchors = room_for_anchors(sources)
        for top in range(0, n, WIDE):
            some = everyone[top : top + WIDE]
            start = old if top + len(some) <= old else 0
            laid = lay_out(anchors, sources, own_sources, some, WIDE)
            lines: Any = some.astype(np.int64)

            def add(
                first: int, last: int, count: int = len(some), lines: Any = lines, start: int = start
            ) -> None:
                fill_range(
                    self.sample.kernel, anchors, WIDE, count, rows, own, everyone, start + first, start + last,
                    self.values, lines,
                )  # fmt: skip

            self._spread(add, n - start, len(some))
            clear(anchors, laid)
            self.kernel_evaluations += len(some) * (n - start)

    def _spread(self, add: Any, size: int, depth: int) -> None:
        """Call ``add(first, last)`` over 0 ... size - 1, in parts at once where that pays."""
        parts = self.sample.threads if size * depth > WORTH_A_THREAD else 1
        ends = [size // 8 * part // parts * 8 for part in range(parts)] + [size]
        together(lambda part: add(ends[part], ends[part + 1]), parts)


@njit(fastmath={"contract"})
def _add_rows(values, used, alpha, d, first, last, out):
    """Add alpha_i values[i] and d_i values[i] to the two lines of ``out[:, first:last]``, two rows in one pass."""
    c = 0
    while c + 2 <= used.size:
        i, j = used[c], used[c + 1]
        a, b, p, q = alpha[i], alpha[j], d[i], d[j]
        for t in range(first, last):
            v, w = values[i, t], values[j, t]
            out[0, t] += a * v + b * w
            out[1, t] += p * v + q * w
        c += 2
    if c < used.size:
        i = used[c]
        for t in range(first, last):
            out[0, t] += alpha[i] * values[i, t]
            out[1, t] += d[i] * values[i, t]
