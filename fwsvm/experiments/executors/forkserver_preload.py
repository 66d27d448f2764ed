"""Imported by the forkserver: all modules that a worker needs, and numba initialised.

The first call of any compiled function makes numba register its types: 0.25 of the 0.35 s that warming up a method
takes if nothing is left to compile. Errors are ignored here; the workers raise them.
"""

import contextlib

with contextlib.suppress(Exception):
    import numpy as np

    import fwsvm.experiments.executors.workers
    import fwsvm.solvers.newton.run  # noqa: F401 - imports swap-2o and scipy.linalg too
    from fwsvm.kernels.kernel import family, own_terms
    from fwsvm.kernels.rows import as_rows

    own_terms(family("rbf").make(1.0), as_rows(np.ones((1, 1))))
