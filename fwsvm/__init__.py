"""Train support vector machines with Frank-Wolfe-type methods, and compare solvers honestly.

    >>> import fwsvm                                          # doctest: +SKIP
    >>> result = fwsvm.train("data.svm", method="swap", C=10) # doctest: +SKIP
    >>> result.status, result.relative_gap, result.support_vectors  # doctest: +SKIP
    >>> fwsvm.predict(result, X)                              # doctest: +SKIP

`train`, `predict`, `save` and `load` (`fwsvm.api`) are all that most programs need; `fwsvm.estimators` has the same
methods as scikit-learn classifiers; the command line has everything else: ``fwsvm --help``.

Where to look, from the top; a layer imports only from those below it:

    cli, estimators, api       three ways in; none of them computes
    experiments                a YAML file becomes cells, rows of runs.csv, traces; restarted where it stopped
    analysis                   tables, tests, figures and claims from result files, whoever wrote them
    distributed                one problem whose rows stay with the workers of a Dask cluster
    solvers                    how: `fit`, one loop (clock, limits, trace) over the families, a method a file
      solvers.frank_wolfe        fw, mfw, swap, swap-2o, cvm: on the simplex, with any kernel
      solvers.newton             newton: ours, exact on the active set, for large C
      solvers.chunking           chunking: ours, one of the above on the rows that matter, for few support vectors
      solvers.decomposition      decomposition: ours, keeps no kernel columns, for very many support vectors
      solvers.auto               auto: ours, chooses among these by what a problem is
      solvers.dual_coordinate    liblinear, avsf: on the box, linear
      solvers.stochastic         wolfe, pegasos, scs: on samples, with any kernel
    data                       files, downloads by digest, names; knows no kernel and no solver
    problems                   what is minimised, what a point is worth (its gap), trained machines, model files
    kernels                    rows, kernel values in tiles, the cache of kernel columns
    numerics                   the one `njit` and its disk cache, SIMD, atomics, threads, random numbers
    results                    columns of a row of runs.csv, and reading such rows
    scaling                    ranges of features: of training rows, of machines, of svm-scale's files
    files                      files written whole or not at all, locks between processes, cache folders
    errors                     a user's mistake in one sentence

The way of a run: `solvers.fit` checks the rows, resolves the settings and divides the classes, `solve_all` of
`solvers.subproblems` solves the two-class problems, several at a time, one a thread, and `solve` of `solvers.loop`
advances the `Solver` of one in chunks of compiled steps on the clock. Of a single one the threads share kernel
columns and the scans over all rows (`solvers.frank_wolfe.thread_team`), with the same bits as one thread. The engine of
the simplex family computes no kernel value: at a cache miss it returns, and `kernels.column_cache` computes the column
and likely next ones as a block. So it is compiled once for all kernels, a new kernel is one file in `kernels`, and a
new method one file in `solvers` (docs/adding/method.md). At the end the problem's module recomputes objective and gap
from scratch: what `Result` calls certified does not rest on numbers that the solver kept.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwsvm.api import load, predict, save, train

__version__ = "0.7.0"
__all__ = ["load", "predict", "save", "train"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Import the top layer when it is first asked for, so that ``import fwsvm`` is instant."""
    if name in ("data", "estimators"):
        return importlib.import_module(f"fwsvm.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'fwsvm' has no attribute {name!r}")
    from fwsvm import api

    return getattr(api, name)
