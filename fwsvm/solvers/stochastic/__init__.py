"""Methods for the hinge problem of 004: Wolfe's conjugate subgradients, kernel Pegasos, and SCS.

descent        one iteration on a sample: subgradient, direction and line search
run            what all methods share: rows drawn, kernel sums over them, and what a point is worth
wolfe, scs, pegasos     a method each, with its parameters and loop
"""

from fwsvm.solvers.registry import FAMILIES, Family
from fwsvm.solvers.stochastic.run import certify

FAMILIES["stochastic"] = Family(
    name="stochastic",
    problem="min lambda/2 |w|^2 + mean hinge, no bias",
    kernels=None,
    default_kernel="rbf",
    stops=("relative", "eps"),
    multiclass="one-vs-one",
    # every run is cold and computes its own kernel values: nothing is taken over
    start=lambda problem, rule, resolved, *_: rule.start(problem, resolved),
    certify=certify,
    iteration_cap=100_000,
    goes_on=False,
)
