"""Tests of `fwsvm.kernels`."""
