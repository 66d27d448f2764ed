"""Data sets by name, from fwsvm's verified cache."""

import numpy as np
from benchopt import BaseDataset

from fwsvm import data


class Dataset(BaseDataset):
    """``data``: a name of ``fwsvm data list``, a path or ``synthetic:KIND``. A fifth tests where no rows are for it.

    ``rows`` keeps that many training rows, the first of a permutation with seed 0. gamma is ``factor`` / (2 D), D the
    mean squared distance of two training rows.
    """

    name = "named"
    requirements = ["fwsvm"]
    parameters = {"data, C": [("wdbc", 1.0), ("digits", 4.0)], "factor": [1.0], "rows": [None]}

    def get_data(self):
        """Load, split, and choose the width."""
        found = data.load(self.data)
        X, y = found.train.X, found.train.labels
        order = np.random.default_rng(0).permutation(len(y))
        if found.test is None:
            fifth = len(y) // 5
            X_test, y_test, order = X[order[:fifth]], y[order[:fifth]], np.sort(order[fifth:])
        else:
            X_test, y_test, order = found.test.X, found.test.labels, np.arange(len(y))
        X, y = X[order], y[order]
        if self.rows is not None:
            few = np.random.default_rng(0).permutation(len(y))[: self.rows]
            X, y = X[few], y[few]
        spread = (X.power(2) if hasattr(X, "power") else X**2).sum() / X.shape[0]
        distance = 2.0 * (spread - np.sum(np.asarray(X.mean(axis=0)) ** 2))
        gamma = self.factor / (2.0 * distance)
        return {"X": X, "y": y, "X_test": X_test, "y_test": y_test, "C": self.C, "gamma": float(gamma)}
