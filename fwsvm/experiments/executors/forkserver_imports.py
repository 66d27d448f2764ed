"""Imported by the server of forks: all that a worker would otherwise import for itself, and numba at the ready.

The first call of compiled code, whatever it does, has numba register all that it can type: 0.25 of the 0.35 s that
the warm-up of a method takes where nothing is left to compile. What fails here is left to the workers, who say what
is wrong.
"""

import contextlib

with contextlib.suppress(Exception):
    import numpy as np

    import fwsvm.experiments.executors.workers
    import fwsvm.solvers.newton.run  # noqa: F401 - and with it swap-2o's, and scipy's linear algebra
    from fwsvm.kernels.kernel import family, own_terms
    from fwsvm.kernels.rows import as_rows

    own_terms(family("rbf").make(1.0), as_rows(np.ones((1, 1))))
