"""fwsvm's linear methods."""

from benchmark_utils.machines import linear_machine
from benchopt import BaseSolver

import fwsvm


class Solver(BaseSolver):
    """``fwsvm.train`` with ``avsf`` or ``liblinear``, with the certificate in its time."""

    name = "fwsvm-linear"
    requirements = ["fwsvm"]
    parameters = {"method": ["avsf"], "tolerance": [1e-3]}

    def skip(self, problem, **_):
        """Take the linear problem alone."""
        return problem != "linear", "solves the linear problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Keep the problem."""
        self.X, self.y, self.C = X, y, C

    def pre_run_hook(self, _):
        """Compile what this problem needs, off the clock."""
        self.run(None)

    def run(self, _):
        """Train."""
        self.result = fwsvm.train(self.X, self.y, method=self.method, C=self.C, tolerance=self.tolerance)

    def get_result(self):
        """Return the machine with its certificate."""
        facts = {name: getattr(self.result, name) for name in ("relative_gap", "certified", "train_seconds")}
        return {"machine": linear_machine(self.result.model.weights[0]), "facts": facts}
