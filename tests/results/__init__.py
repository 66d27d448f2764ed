"""Tests of `fwsvm.results`."""
