"""scikit-learn's SVC, and that of scikit-learn-intelex."""

import time
from functools import partial

import numpy as np
from benchmark_utils.machines import Machine, kernel_norms, with_short_indices
from benchopt import BaseSolver
from scipy import sparse


def _in_form(rows, X):
    return X.toarray() if rows == "dense" and sparse.issparse(X) else with_short_indices(X)


def _labels(machine, rows, X):
    return machine.predict(_in_form(rows, X))


def _values(machine, rows, sign, X):
    return sign * machine.decision_function(_in_form(rows, X)).reshape(X.shape[0], -1)


class Solver(BaseSolver):
    """SVC at its own tolerance: the hinge loss with a free bias, one thread; intelex with ``threads``.

    ``rows`` is the form of the rows: as they are given, or dense where they are given sparse.
    """

    name = "SVC"
    requirements = ["scikit-learn", "pip::scikit-learn-intelex"]
    parameters = {"package, threads": [("sklearn", 1), ("sklearnex", 1)], "rows": ["given", "dense"]}

    def skip(self, problem, X, **_):
        """Take the kernel problem alone, where the package is installed."""
        from importlib.util import find_spec

        if find_spec(self.package) is None:
            return True, f"{self.package} is not installed"
        if self.rows == "dense" and not sparse.issparse(X):
            return True, "the rows are given dense"
        return problem != "kernel", "solves the kernel problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Keep the problem, and set the threads of intelex."""
        if self.package == "sklearnex":
            import daal4py
            from sklearnex.svm import SVC

            daal4py.daalinit(self.threads)
        else:
            from sklearn.svm import SVC
        self.X, self.y, self.SVC = _in_form(self.rows, X), y, SVC
        self.settings = {"C": C, "gamma": gamma}

    def warm_up(self):
        """Load what a first fit loads."""
        few = np.concatenate([np.flatnonzero(self.y == label)[:50] for label in np.unique(self.y)])
        self.SVC(**self.settings).fit(self.X[few], self.y[few])

    def run(self, _):
        """Train."""
        begun = time.process_time()
        self.machine = self.SVC(**self.settings, decision_function_shape="ovo").fit(self.X, self.y)
        self.processor_seconds = time.process_time() - begun

    def get_result(self):
        """Return the machine; of two classes scikit-learn has the second for +1."""
        found = self.machine
        sign = -1.0 if len(found.classes_) == 2 else 1.0

        decide = partial(_values, found, self.rows, sign)
        coefficients = (
            found.dual_coef_.toarray() if hasattr(found.dual_coef_, "toarray") else found.dual_coef_
        )
        norms = kernel_norms(
            decide, self.X[found.support_], found.n_support_, sign * coefficients.T, sign * found.intercept_
        )
        machine = Machine(partial(_labels, found, self.rows), list(found.classes_), decide, norms)
        support_vectors = int(np.sum(found.n_support_))
        facts = {"support_vectors": support_vectors, "processor_seconds": self.processor_seconds}
        return {"machine": machine, "facts": facts}
