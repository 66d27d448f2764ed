"""skglm's LinearSVC."""

from benchmark_utils.machines import linear_machine, with_short_indices
from benchopt import BaseSolver
from scipy import sparse
from skglm import LinearSVC


class Solver(BaseSolver):
    """Coordinate descent with working sets, compiled by numba."""

    name = "skglm"
    requirements = ["pip::skglm"]
    parameters = {"tolerance": [1e-3]}

    def skip(self, problem, **_):
        """Take the linear problem alone."""
        return problem != "linear", "solves the linear problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Keep the problem."""
        self.X, self.y = with_short_indices(sparse.csr_matrix(X)), y
        self.machine = LinearSVC(C=C, tol=self.tolerance, fit_intercept=False)

    def pre_run_hook(self, _):
        """Compile what this problem needs, off the clock."""
        self.run(None)

    def run(self, _):
        """Train."""
        self.machine.fit(self.X, self.y)

    def get_result(self):
        """Return the machine."""
        return {"machine": linear_machine(self.machine.coef_.ravel()), "facts": {}}
