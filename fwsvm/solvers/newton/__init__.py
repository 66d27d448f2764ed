"""An active-set Newton method for the simplex problem (ours): solve exactly on the active set, then update that set.

The problem, its objective and its certificate are those of `fwsvm.solvers.frank_wolfe`, which also takes the first
steps, unless `low_rank` finds the active rows for less. `face` factors the Gram matrix of the active rows, read from
the column cache, and solves linear systems with it, `budget` says how long swap-2o goes on and how far a step goes, and
`newton` is the solver.
"""

from fwsvm.solvers.frank_wolfe.iterate import on_simplex
from fwsvm.solvers.newton.newton import NewtonRun
from fwsvm.solvers.registry import FAMILIES

FAMILIES["active-set"] = on_simplex("active-set", NewtonRun)
