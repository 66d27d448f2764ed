"""What simplex methods need compiled, in an order of its own, for a process that compiles beside another.

The other process compiles as it comes to the functions: kernel columns, then the loop, from the search for a vertex to
the move, then what fetches columns, and last the certificate. Here the certificate comes first, and of the loop the
move alone. Last come Newton's linear systems, to which many runs never come. Small pairs of classes end with a
certificate of their own, which then comes before all else.
"""

import json
import os
import threading
from collections.abc import Sequence
from queue import SimpleQueue

import numpy as np

from fwsvm.kernels.column_cache import column_cache, fetch_in_thread, room_for_columns
from fwsvm.kernels.rows import in_precision
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import compile_for
from fwsvm.problems.simplex_qp import simplex_qp
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
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.warm_up import tiny_problem

WITH_NEWTON_STEPS = ("auto", "newton")
MOST_BYTES = 512  # of a line: what any system writes to a pipe at once


def compile_from_the_end(
    method: str, kernel: str, stop: str, gaps: Sequence[int], *, pairs: bool = False
) -> None:
    """Compile what full search by a method needs, on rows laid out as those of tiny problems with these ``gaps``.

    With ``pairs``, what `fwsvm.solvers.auto.own_columns` needs first.
    """
    problems = [tiny_problem(each) for each in gaps]
    resolved = resolve(Settings(method=method, kernel=kernel, stop=stop), problems[0].X)
    if pairs:
        for each in gaps:
            compile_certificate(resolved.kernel, tiny_groups(each))
    tables = [sorted_by_class(problem)[1] for problem in problems]
    for rows in tables:
        weighted_sums(resolved.kernel, rows, np.arange(1), np.ones((1, 1)), rows)
    first = in_precision(tables[0], np.float32)
    columns = room_for_columns(resolved.kernel, first, resolved.cache_bytes)
    qp = simplex_qp(columns, int(np.count_nonzero(problems[0].y > 0)), problems[0].penalties)
    state = state_of(qp, Full(), problems[0].stream, resolved)
    compile_for(make, state, Move(0, NOBODY, 1.0, 0.0, 0.0, 0.0, 0.0, False))
    compile_for(fetch_in_thread, columns, columns.all_rows, state.alpha, 0, 0)
    rule = plain(resolved.rule if resolved.family.name == "simplex" else Swap2o())
    compile_for(run_until_miss, 0, 0, rule, state, columns, 0)
    optimum(np.eye(1), qp, np.arange(1))
    for rows in reversed(tables):
        column_cache(resolved.kernel, in_precision(rows, np.float32), resolved.cache_bytes)
    if method in WITH_NEWTON_STEPS:
        compile_systems(columns)


def main() -> None:
    """Be the second process: compile what the line on the standard input asks for; end where that ends."""
    asked: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        while line := os.read(0, MOST_BYTES):
            asked.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    compile_from_the_end(**json.loads(asked.get()))
