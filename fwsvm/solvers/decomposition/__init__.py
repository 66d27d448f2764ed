"""A method of ours on the simplex that keeps no kernel columns: solve on a working set, update the gradient, repeat.

`working_set` says which rows are next, `inner` solves on their small matrix in compiled code, `run` is the `Solver`.
"""

from fwsvm.solvers.decomposition.decomposition import DecompositionRun
from fwsvm.solvers.frank_wolfe.iterate import on_simplex
from fwsvm.solvers.registry import FAMILIES

FAMILIES["decomposition"] = on_simplex(
    "decomposition",
    lambda problem, rule, resolved, start=None, _=None: DecompositionRun(problem, rule, resolved, start),
    keeps_values=False,
)
