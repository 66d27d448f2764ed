"""Train support vector machines with Frank-Wolfe-type methods, and compare solvers honestly."""

__version__ = "0.1.0"
