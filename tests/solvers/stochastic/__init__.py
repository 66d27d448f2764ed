"""Tests of the stochastic family."""
