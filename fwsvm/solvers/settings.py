"""What decides the numbers of a training run, besides the data and the code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STOPS = ("relative", "gap", "meb", "eps")
SEARCHES = ("full", "sampled")
SPELLED = {"cache_mib": "cache-mb"}  # settings that the command line calls by another name


@dataclass(frozen=True)
class Settings:
    """Settings of one run, in the words of the command line and of the YAML files.

    ``None`` means: the default that `fwsvm.solvers.resolve` fills in from the method, the data and the machine.

    Attributes
    ----------
    method : str
        A registered method.
    parameters : mapping of str to value
        The method's own parameters.
    kernel : str or None
        A registered kernel; None: rbf for kernel methods, linear for linear ones.
    gamma, sigma2, width_rule, degree, coef0
        The kernel's parameters; at most one of gamma and sigma2, else the width rule (None: the protocol's).
    kernel_parameters : mapping of str to value
        Parameters that only this kernel has.
    C, lambda_ : float or None
        At most one; lambda = 1 / (C m); C is 1 if neither is given.
    class_weight : "balanced", mapping of labels to positive numbers, or None
        Multiplies C for the rows of a class (`fwsvm.solvers.class_weight`); labels as the classes have them.
    stop, tolerance : str or None, float or None
        The stopping rule and its tolerance (relative, 1e-3).
    search : {"full", "sampled"} or None
        How simplex methods look for the ascent vertex.
    protocol : {"default", "paper", "libcvm", "fw-svms"}
        How simplex methods start, sample and stop (`fwsvm.solvers.protocols`).
    retries, first_level, candidates, gradient : int, float, str, str, or None
        Settings of the protocol by themselves (`fwsvm.solvers.protocols.SimplexProtocol`); None: the protocol's.
    time_limit : float or None, seconds on the clock of the algorithm
    max_iterations : int or None
    seed : int
    threads : int or None
        None: as many as the machine offers.
    cache_mib : int or None
        Memory for kernel columns; None: from the memory that is free.
    final_gap : bool
        Whether objective and gap are recomputed from scratch when the run ends.
    """

    method: str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kernel: str | None = None
    gamma: float | None = None
    sigma2: float | None = None
    width_rule: str | None = None
    degree: int = 3
    coef0: float = 1.0
    kernel_parameters: Mapping[str, Any] = field(default_factory=dict)
    C: float | None = None
    lambda_: float | None = None
    class_weight: str | Mapping[str, float] | None = None
    stop: str | None = None
    tolerance: float | None = None
    search: str | None = None
    protocol: str = "default"
    retries: int | None = None
    first_level: float | None = None
    candidates: str | None = None
    gradient: str | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    seed: int = 0
    threads: int | None = None
    cache_mib: int | None = None
    final_gap: bool = True
