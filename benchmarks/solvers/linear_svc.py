"""scikit-learn's LinearSVC."""

from benchmark_utils.machines import linear_machine, with_short_indices
from benchopt import BaseSolver
from sklearn.svm import LinearSVC


class Solver(BaseSolver):
    """LIBLINEAR's dual coordinate descent in scikit-learn, until its own tolerance."""

    name = "LinearSVC"
    requirements = ["scikit-learn"]
    parameters = {"tolerance": [1e-1, 1e-3]}

    def skip(self, problem, **_):
        """Take the linear problem alone."""
        return problem != "linear", "solves the linear problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Keep the problem."""
        self.X, self.y = with_short_indices(X), y
        self.machine = LinearSVC(
            loss="hinge",
            dual=True,
            fit_intercept=False,
            C=C,
            tol=self.tolerance,
            max_iter=2**31 - 1,
            random_state=0,
        )

    def run(self, _):
        """Train."""
        self.machine.fit(self.X, self.y)

    def get_result(self):
        """Return the machine."""
        return {"machine": linear_machine(self.machine.coef_[0]), "facts": {}}
