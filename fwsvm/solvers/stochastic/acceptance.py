"""The test of a step on rows T_k drawn without regard to the sample S_k (004 Algorithm 1 step 4).

`ResampledTest` draws as many rows as S_k has anew in each iteration, which costs |S_k|^2 kernel values. `TrackedTest`
has rows at which <beta, phi(x)> and <d, phi(x)> follow the method's steps as those at the rows of S_k do, at the same
cost a row: either rows that grow as S_k does, by a random stream of their own, or the rows that S_{k+1} is about to
add, whose products S_{k+1} then takes over. T_k is independent of S_k in all three. Rows that grow have passed tests of
earlier steps, but nothing was fitted to them.
"""

import numpy as np

from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import njit
from fwsvm.problems.binary import Binary
from fwsvm.solvers.stochastic.sample import Sample, picked_rows
from fwsvm.solvers.stochastic.state import StochasticState


class ResampledTest:
    """A test sample T_k drawn anew in each iteration, without replacement."""

    def __init__(self, problem: Binary, sample: Sample, random: np.random.Generator, threads: int) -> None:
        self.problem, self.sample, self.random, self.threads = problem, sample, random, threads
        self.kernel_evaluations = 0

    def losses(self, state: StochasticState) -> tuple[float, float, float]:
        """Return the mean hinge loss over T_k at the incumbent and at the candidate, and their difference's error."""
        sample, n = self.sample, len(self.sample)
        rows = self.random.choice(len(self.problem.y), n, replace=False, shuffle=False)
        sources = np.column_stack([state.alpha[:n], state.d[:n]])
        others = picked_rows(self.problem.X, rows, sample.dtype)
        self.kernel_evaluations += n * n
        kernel, own_rows = sample.store.kernel, sample.store.rows
        both = weighted_sums(kernel, own_rows, np.arange(n), sources, others, self.threads).T.copy()
        return mean_losses(self.problem.y[rows], both[0], both[1], float(state.now["step"][0]))


class TrackedTest:
    """A test sample T_k, and the products <., phi(x)> of the state's vectors with its rows.

    Attributes
    ----------
    alpha, d, g, inside, u : ndarrays of float64, shape (capacity,)
    """

    def __init__(self, sample: Sample, capacity: int) -> None:
        self.sample = sample
        self.alpha, self.d, self.g, self.inside, self.u = np.zeros((5, capacity))
        self.kernel_evaluations = 0  # they are counted with those of the sample

    def pad(self, old: int, products: np.ndarray) -> None:
        """Append the rows drawn, with the sums of `state.coefficients` at them, (4, r)."""
        n = len(self.sample)
        self.alpha[old:n], self.d[old:n], self.inside[old:n], self.u[old:n] = products

    def products(self, rows: int) -> np.ndarray:
        """Return the sums of `state.coefficients` at the first rows, (4, rows)."""
        return np.stack([self.alpha[:rows], self.d[:rows], self.inside[:rows], self.u[:rows]])

    def subgradient(self, state: StochasticState) -> None:
        """Set <g, phi(x)> after the state's g; ``inside`` is up to date. A Euclidean g is set to 0: the caller adds."""
        n = len(self.sample)
        if state.euclid:
            self.g[:n] = 0.0
        else:
            _subgradient(state, n, self.alpha, self.d, self.inside, self.g)

    def turn(self, state: StochasticState) -> None:
        """Set <d, phi(x)> after the state has set d."""
        n, last = len(self.sample), float(state.now["last"][0])
        self.d[:n] = last * self.d[:n] - (1.0 - last) * self.g[:n]
        self.u[:n] = last * self.u[:n] + (1.0 - last) * self.inside[:n]

    def carry(self, share: float, added: np.ndarray, rows: int) -> None:
        """Follow `carry_direction`: ``added`` are the sums of the rows that d came to have, here, shape (r,)."""
        n = len(self.sample)
        self.d[:n] += share * self.u[:n] + added / rows
        self.u[:n] += added
        self.inside[:n] += added

    def move(self, state: StochasticState) -> None:
        """Set <beta, phi(x)> after the state has moved."""
        n = len(self.sample)
        self.alpha[:n] += state.now["step"][0] * self.d[:n]

    def losses(self, state: StochasticState) -> tuple[float, float, float]:
        """Return the mean hinge loss over T_k at the incumbent and at the candidate, and their difference's error."""
        n = len(self.sample)
        return mean_losses(self.sample.w[:n], self.alpha[:n], self.d[:n], float(state.now["step"][0]))


@njit
def _subgradient(s, rows, alpha, d, inside, out):
    now = s.now[0]
    n, t = now.rows, now.at
    for i in range(rows):
        out[i] = s.lam * (alpha[i] + t * d[i]) - inside[i] / n


@njit
def mean_losses(w, at, ahead, step):
    """Return the mean hinge losses of outputs ``at`` and of at + step ahead, (n,), and their difference's error.

    It is the standard error of a mean over n rows drawn at random; 0 for fewer than two.
    """
    n, before, after, squares = w.size, 0.0, 0.0, 0.0
    for i in range(n):
        loss = max(0.0, 1.0 - w[i] * at[i])
        then = max(0.0, 1.0 - w[i] * (at[i] + step * ahead[i]))
        before += loss
        after += then
        squares += (loss - then) ** 2
    fall = (before - after) / n
    variance = max(0.0, squares / n - fall * fall)
    return before / n, after / n, np.sqrt(variance / (n - 1)) if n > 1 else 0.0
