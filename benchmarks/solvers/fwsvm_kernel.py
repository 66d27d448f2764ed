"""fwsvm's kernel methods."""

import time
from functools import partial

from benchmark_utils.machines import Machine, kernel_norms
from benchopt import BaseSolver

import fwsvm


class Solver(BaseSolver):
    """``fwsvm.train`` as a user calls it, with the certificate in its time."""

    name = "fwsvm"
    requirements = ["fwsvm"]
    parameters = {"method": ["auto"], "threads": [1], "tolerance": [1e-3], "time_limit": [None]}

    def skip(self, problem, **_):
        """Take the kernel problem alone."""
        return problem != "kernel", "solves the kernel problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Keep the problem."""
        self.X, self.y, self.C, self.gamma = X, y, C, gamma

    def pre_run_hook(self, _):
        """Compile what this problem needs, off the clock."""
        self.run(None)

    def run(self, _):
        """Train."""
        begun = time.process_time()
        self.result = fwsvm.train(
            self.X,
            self.y,
            method=self.method,
            C=self.C,
            gamma=self.gamma,
            threads=self.threads,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
        )
        self.processor_seconds = time.process_time() - begun

    def get_result(self):
        """Return the machine with its certificate."""
        found, model = self.result, self.result.model
        norms = kernel_norms(model.decision, model.support, model.counts, model.coefficients, model.biases)
        machine = Machine(partial(fwsvm.predict, found), list(model.labels), model.decision, norms)
        names = ("support_vectors", "relative_gap", "certified", "chosen", "train_seconds")
        facts = {name: getattr(found, name) for name in names} | {"processor_seconds": self.processor_seconds}
        return {"machine": machine, "facts": facts}
