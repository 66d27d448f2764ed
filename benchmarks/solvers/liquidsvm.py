"""liquidSVM's mcSVM, which chooses width and penalty by folds."""

import distutils.sysconfig
import sysconfig
from importlib.util import find_spec

import numpy as np
from benchmark_utils.machines import Machine
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Its own grid and folds inside the time; ``cells`` parts the rows among many machines."""

    name = "liquidSVM"
    requirements = ["pip::liquidSVM"]
    parameters = {"threads": [1], "cells": [False]}

    def skip(self, problem, **_):
        """Take the kernel problem alone, where liquidSVM is installed."""
        if find_spec("liquidSVM") is None:
            return True, "liquidSVM is not installed"
        return problem != "kernel", "solves the kernel problem"

    def set_objective(self, problem, X, y, C, gamma):  # noqa: ARG002
        """Copy the rows, of which it takes dense ones; its loader asks for a variable that Python no longer has."""
        variable = sysconfig.get_config_var
        for module in (sysconfig, distutils.sysconfig):
            module.get_config_var = lambda name: variable("EXT_SUFFIX" if name == "SO" else name)
        import liquidSVM

        self.mcSVM = liquidSVM.mcSVM
        self.X, self.y = self._dense(X), y

    @staticmethod
    def _dense(X):
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X)

    def run(self, _):
        """Train."""
        self.machine = self.mcSVM(self.X, self.y, threads=self.threads, useCells=self.cells)

    def get_result(self):
        """Return the machine, which has no decision values; it refuses rows without labels, and ignores these."""
        labels = np.unique(self.y)

        def predict(X):
            return self.machine.test(self._dense(X), np.resize(labels, X.shape[0]))[0][:, 0]

        return {"machine": Machine(predict), "facts": {}}
