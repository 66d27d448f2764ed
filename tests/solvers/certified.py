"""What the iterate of a run in a test is worth: its certificate and its machine, as they are made for users."""

from typing import Any

from fwsvm.problems.binary import Machine
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.solver import Outcome


def certified(run: Any, *, exact: bool = True) -> Certified:
    """Return what a run's iterate is worth; the run has its ``problem``."""
    candidate = Candidate(run.problem, run.resolved, run.iterate())
    (found,) = run.resolved.family.certify([candidate], exact=exact)
    return found


def outcome(run: Any, *, exact: bool = True) -> Outcome:
    """Return the outcome, from scratch or by the numbers that the run keeps."""
    return certified(run, exact=exact).outcome


def machine(run: Any) -> Machine:
    """Return the machine."""
    return certified(run).machine
