"""Tests of `fwsvm.solvers.frank_wolfe`."""
