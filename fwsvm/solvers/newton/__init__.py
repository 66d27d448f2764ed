"""An active-set Newton method for the simplex problem (ours): solve exactly on the active set, then update that set.

The problem, its objective and its certificate are those of `fwsvm.solvers.frank_wolfe`, which also takes the first
steps. `gram_rows` reads rows of the Gram matrix from the column cache, `cholesky_factor` factors a block of it,
`bordered_factor` updates a factor for rows that enter and leave, `active_set_system` solves the linear systems with
them, `cholesky` calls LAPACK, `line_search` finds the length of a step, `run` is the solver; a
method is one file.
"""

from fwsvm.solvers.frank_wolfe.iterate import on_simplex
from fwsvm.solvers.newton.newton import NewtonRun
from fwsvm.solvers.registry import FAMILIES

FAMILIES["active-set"] = on_simplex("active-set", NewtonRun)
