"""Linear methods: coordinate descent on the dual of the linear SVM, liblinear and AVSF over one engine.

`engine` has the visit, the survey and the loop, `run` the way from start to certificate. A method is one file
with what it does at the beginning and at the end of a sweep, and at a visit.
"""

from fwsvm.solvers.registry import FAMILIES, Family


def _start(*arguments):
    from fwsvm.solvers.dual_coordinate.run import LinearRun

    return LinearRun(*arguments)


FAMILIES["linear"] = Family(
    name="linear",
    kernels=("linear",),
    default_kernel="linear",
    stops=("relative", "gap", "eps"),
    multiclass="one-vs-rest",
    start=_start,
)
