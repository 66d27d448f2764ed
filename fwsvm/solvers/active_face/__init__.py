"""Methods of ours on the simplex: solve on the face of the active rows exactly, then see which rows are active there.

The problem, its objective and its certificate are those of `fwsvm.solvers.frank_wolfe`, which also gives the start.
`lines` reads the kernel, `square` is a factor, `border` lets it serve for other rows, `face` solves the linear systems
with them, `note` is for the next run, `warming` compiles, `run` is the Process, and `near` one that begins on the rows
that matter; a method is one file.
"""

from typing import Any

from fwsvm.solvers import memory
from fwsvm.solvers.handover import Handover
from fwsvm.solvers.process import Binary, Process
from fwsvm.solvers.registry import FAMILIES, on_simplex
from fwsvm.solvers.resolve import Resolved


def _start(problem: Binary, rule: Any, resolved: Resolved, handover: Handover | None = None) -> Process:
    from fwsvm.solvers.active_face.near import begun_near
    from fwsvm.solvers.active_face.run import FaceRun

    whole = FaceRun(problem, rule, resolved, handover)
    return whole if handover is None else begun_near(whole, rule, handover)


FAMILIES["active-face"] = on_simplex("active-face", _start, memory.active_face)
