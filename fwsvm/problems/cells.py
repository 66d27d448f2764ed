"""Cells: rows divided by a tree of half-spaces, and the model that has a kernel machine for each of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix, slices
from fwsvm.problems.machines import KernelModel, Model, refuse_other_width

SAMPLE = 4096  # rows that show in which direction the rows of a cell differ most
ROUNDS = 16  # of power iteration: the direction need not be exact
TIED = 1e-10  # of the largest product: rows that differ by less are not told apart
NOWHERE = float(np.finfo(float).max)  # a threshold that no row is beyond


class Cells(NamedTuple):
    """A balanced tree: node i leads to 2 i + 1 up to its threshold, and to 2 i + 2 beyond; the leaves are the cells.

    Attributes
    ----------
    directions : ndarray, shape (nodes, n)
    thresholds : ndarray, shape (nodes,), of the products of rows and directions
    """

    directions: np.ndarray
    thresholds: np.ndarray

    def members(self, X: RowMatrix) -> list[np.ndarray]:
        """Return the numbers of the rows of X (t, n) in each cell, ascending."""
        groups = [np.arange(X.shape[0])]
        for node, (direction, threshold) in enumerate(zip(*self, strict=True)):
            beyond = products(X, groups[node], direction) > threshold
            groups += [groups[node][~beyond], groups[node][beyond]]
        return groups[len(self.thresholds) :]


def products(X: RowMatrix, rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the products of some rows of X (m, n), by their numbers, with a vector (n,)."""
    parts = [X[rows[some]] @ direction for some in slices(len(rows), len(rows) * X.shape[1])]
    return np.concatenate([np.empty(0), *parts])


def divide(X: RowMatrix, most: int) -> tuple[Cells, list[np.ndarray]]:
    """Return cells of about ``most`` rows of X (m, n) at most, and the numbers of the rows in each.

    Each is halved where its rows differ most.
    """
    nodes = 2 ** max(0, int(np.ceil(np.log2(X.shape[0] / most)))) - 1
    tree = Cells(np.zeros((nodes, X.shape[1])), np.full(nodes, NOWHERE))
    groups = [np.arange(X.shape[0])]
    for node in range(nodes):
        rows = groups[node]
        if len(rows):
            tree.directions[node] = _widest_direction(X[rows[:: 1 + len(rows) // SAMPLE]])
        found = products(X, rows, tree.directions[node])
        values = np.sort(found)
        # between two rows that differ by more than rounding, as near to the middle as can be
        cuts = np.flatnonzero(np.diff(values) > TIED * np.abs(values).max(initial=0.0))
        if len(cuts):
            at = cuts[np.abs(cuts - (len(rows) - 1) // 2).argmin()]
            tree.thresholds[node] = values[at : at + 2].mean()
        beyond = found > tree.thresholds[node]
        groups += [rows[~beyond], rows[beyond]]
    return tree, groups[nodes:]


def _widest_direction(X: RowMatrix) -> np.ndarray:
    """Return about the first principal direction of the rows of X (s, n), shape (n,)."""
    scores: Any = np.random.default_rng(0).standard_normal(X.shape[0])
    for _ in range(ROUNDS):
        direction = X.T @ (scores - scores.mean())
        direction /= np.linalg.norm(direction) or 1.0
        scores = X @ direction
    return direction


@dataclass(frozen=True)
class CellModel(Model):
    """A kernel machine for each cell, which decides on the rows that fall into it.

    Attributes
    ----------
    cells : Cells
    union : KernelModel
        The support vectors of all cells, cell by cell; its counts are (cells K,), its biases (cells K (K - 1) / 2,).
    """

    cells: Cells
    union: KernelModel

    @property
    def features(self) -> int:
        """Number of features n."""
        return self.union.features

    def decision(self, X: RowMatrix, threads: int = 1) -> np.ndarray:
        """Return the decision values of the pairs of classes, by the machine of each row's cell."""
        refuse_other_width(X, self.features)
        members, end, union = self.cells.members(X), 0, self.union
        counts, biases = (each.reshape(len(members), -1) for each in (union.counts, union.biases))
        found = np.empty((X.shape[0], biases.shape[1]))
        for cell, rows in enumerate(members):
            mine = slice(end, end := end + counts[cell].sum())
            vectors = union.support[mine]
            coefficients = union.coefficients[mine]
            own = KernelModel(self.classes, union.kernel, vectors, counts[cell], coefficients, biases[cell])
            found[rows] = own.decision(X[rows], threads)
        return found

    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the classes with most votes, of which ties go to the earlier."""
        return self.union.choose(decision)
