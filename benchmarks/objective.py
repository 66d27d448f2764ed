"""Support vector machines: the objective that a trained machine reaches, its test accuracy, and its time.

Run ``benchopt run benchmarks``, or with ``--config benchmarks/peers.yml`` what the README's figure shows.
"""

import numpy as np
from benchmark_utils.machines import Machine
from benchopt import BaseObjective


class Objective(BaseObjective):
    """One of two problems, both without an unpenalised bias.

    ``kernel``
        The squared hinge loss with a penalised bias, 1/2 (|w|^2 + b^2) + C/2 sum xi^2, summed over pairs of classes.
        The kernel is rbf with the data set's gamma. ``SVC`` minimises the hinge loss: compare its accuracy.
    ``linear``
        The hinge loss without a bias, 1/2 |w|^2 + C sum xi; the first class against the others.
    """

    name = "SVM"
    min_benchopt_version = "1.8"
    sampling_strategy = "run_once"
    requirements = ["numpy", "scipy", "scikit-learn"]
    parameters = {"problem": ["kernel", "linear"]}
    test_dataset_name = "named"

    def set_data(self, X, y, X_test, y_test, C, gamma):
        """Keep the rows; the linear problem has the labels +1 and -1."""
        if self.problem == "linear":
            first = y[0]
            y, y_test = (np.where(labels == first, 1.0, -1.0) for labels in (y, y_test))
        self.X, self.y, self.X_test, self.y_test, self.C, self.gamma = X, y, X_test, y_test, C, gamma

    def get_objective(self):
        """Return what a solver is given."""
        return {"problem": self.problem, "X": self.X, "y": self.y, "C": self.C, "gamma": self.gamma}

    def evaluate_result(self, machine: Machine, facts):
        """Return the primal objective (NaN where the machine has no decision values), the accuracy, and ``facts``."""
        power = {"kernel": 2, "linear": 1}[self.problem]
        accuracy = float(np.mean(machine.predict(self.X_test) == self.y_test))
        return {"value": machine.primal(self.X, self.y, self.C, power), "test_accuracy": accuracy, **facts}
