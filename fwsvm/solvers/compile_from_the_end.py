"""What simplex methods need compiled, in an order of its own, for a process that compiles beside another.

The other process reads data first, whose layout is not known before. Then it compiles as it comes to the functions:
kernel columns, the loop, from the search for a vertex to the move, what fetches columns, the certificate, and Newton's
linear systems. Here the move comes first, which the loop comes to last, then the certificate, if the layout is known,
and the linear systems.
"""

import json
import os
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import column_cache, fetch_in_thread, room_for_columns
from fwsvm.kernels.rows import as_rows, in_precision
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import compile_for
from fwsvm.problems.simplex_qp import simplex_qp
from fwsvm.settings import Settings
from fwsvm.solvers.auto.grouped_rows import tiny_groups
from fwsvm.solvers.auto.own_columns import compile_certificate
from fwsvm.solvers.frank_wolfe.engine import make, plain
from fwsvm.solvers.frank_wolfe.gradient.full import Full
from fwsvm.solvers.frank_wolfe.gradient.storage import state_of
from fwsvm.solvers.frank_wolfe.iterate import sorted_by_class
from fwsvm.solvers.frank_wolfe.moves import NOBODY, Move
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.frank_wolfe.starting_point import optimum
from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
from fwsvm.solvers.newton.warm_up import compile_systems
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.warm_up import tiny_problem

WITH_NEWTON_STEPS = ("auto", "newton")


class Layouts(NamedTuple):
    """How the rows of a run are laid out: ``gaps`` of `tiny_problem`; and whether it has `OwnColumns` of pairs."""

    gaps: Sequence[int]
    pairs: bool = False


def compile_from_the_end(method: str, kernel: str, stop: str, told: "SimpleQueue[Layouts]") -> None:
    """Compile what full search by a method needs, on rows of the layouts that are ``told``, once they are."""
    problem = tiny_problem()
    resolved = resolve(Settings(method=method, kernel=kernel, stop=stop), problem.X)
    first = in_precision(sorted_by_class(problem)[1], np.float32)
    columns = room_for_columns(resolved.kernel, first, resolved.cache_bytes)
    qp = simplex_qp(columns, int(np.count_nonzero(problem.y > 0)), problem.penalties)
    state = state_of(qp, Full(), problem.stream, resolved)
    compile_for(make, state, Move(0, NOBODY, 1.0, 0.0, 0.0, 0.0, 0.0, False))
    layouts = None if told.empty() else told.get()
    if layouts is not None:
        _compile_certificates(resolved, layouts)
    if method in WITH_NEWTON_STEPS:
        compile_systems(columns)
    compile_for(fetch_in_thread, columns, columns.all_rows, state.alpha, 0, 0)
    rule = plain(resolved.rule if resolved.family.name == "simplex" else Swap2o())
    compile_for(run_until_miss, 0, 0, rule, state, columns, 0, np.empty(0, np.int32))
    optimum(np.eye(1), qp, np.arange(1))
    if layouts is None:  # the data are large
        layouts = told.get()
        _compile_certificates(resolved, layouts)
    for gaps in reversed(layouts.gaps):
        rows = as_rows(tiny_problem(gaps).X)
        column_cache(resolved.kernel, in_precision(rows, np.float32), resolved.cache_bytes)


def _compile_certificates(resolved: Resolved, layouts: Layouts) -> None:
    if layouts.pairs:  # they come to theirs before all others
        for gaps in layouts.gaps:
            compile_certificate(resolved.kernel, tiny_groups(gaps))
    for gaps in layouts.gaps:
        rows = sorted_by_class(tiny_problem(gaps))[1]
        weighted_sums(resolved.kernel, rows, np.arange(1), np.ones((1, 1)), rows)


def main() -> None:
    """Be the second process: compile what lines on the standard input ask for; end where that ends."""
    settings: SimpleQueue[dict[str, str]] = SimpleQueue()
    told: SimpleQueue[Layouts] = SimpleQueue()

    def listen() -> None:
        # without a buffer: its lock would be this thread's when the process ends
        with open(0, "rb", buffering=0, closefd=False) as given:
            for number, line in enumerate(given):
                if number == 0:
                    settings.put(json.loads(line))
                else:
                    told.put(Layouts(**json.loads(line)))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    compile_from_the_end(**settings.get(), told=told)
