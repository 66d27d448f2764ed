"""Linear methods: coordinate descent on the dual of the linear SVM, liblinear and AVSF over one engine.

`engine` has the coordinate step, the survey of all rows and the loop; `run` is the `Solver`. A method is one file with
what it does at the beginning and end of a sweep and after a step.
"""

from fwsvm.solvers.dual_coordinate.run import LinearRun, certify
from fwsvm.solvers.registry import FAMILIES, Family

FAMILIES["linear"] = Family(
    name="linear",
    problem="min |w|^2/2 + C sum of losses",
    kernels=("linear",),
    default_kernel="linear",
    stops=("relative", "gap", "eps"),
    multiclass="one-vs-rest",
    start=lambda problem, rule, resolved, start, _: LinearRun(problem, rule, resolved, start),
    certify=certify,
    keeps_values=False,
)
