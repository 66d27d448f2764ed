"""LIBLINEAR itself, through its own Python module."""

import numpy as np
from benchmark_utils.machines import linear_machine, with_short_indices
from benchopt import BaseSolver
from liblinear import liblinearutil
from scipy import sparse


class Solver(BaseSolver):
    """``train -s 3``: dual coordinate descent for the hinge loss, without a bias."""

    name = "LIBLINEAR"
    requirements = ["pip::liblinear-official"]
    parameters = {"tolerance": [1e-1, 1e-3]}

    def skip(self, problem, **_):
        """Take the linear problem alone."""
        return problem != "linear", "solves the linear problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Copy the rows into LIBLINEAR's own form, off the clock."""
        self.columns = X.shape[1]
        self.problem = liblinearutil.problem(y, with_short_indices(sparse.csr_matrix(X)))
        self.options = liblinearutil.parameter(f"-s 3 -c {C} -e {self.tolerance} -q")

    def run(self, _):
        """Train."""
        self.model = liblinearutil.train(self.problem, self.options)

    def get_result(self):
        """Return the machine; the first label that LIBLINEAR met is its +1."""
        w = np.zeros(self.columns)
        w[: self.model.get_nr_feature()] = [self.model.w[i] for i in range(self.model.get_nr_feature())]
        return {"machine": linear_machine(w * self.model.get_labels()[0]), "facts": {}}
