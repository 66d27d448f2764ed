"""A second process that compiles part of what a first run needs, beside the process that trains.

Both look in the same cache before they compile a function, and keep there what they have compiled. So nothing is
handed over: the first process finds functions that the second was faster with, and compiles the others itself. Where
the second fails or is killed, the run takes longer, and nothing else changes.

The first process compiles as it comes to the functions: kernel columns, the loop, from the search for a vertex to the
move, what fetches columns, the certificate, and Newton's linear systems. The second begins with the move, then come the
certificate and the linear systems.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from fwsvm import phases
from fwsvm.numerics.compiled_cache import PACKAGE, kept_functions
from fwsvm.numerics.threads import usable_threads
from fwsvm.settings import Settings
from fwsvm.solvers.registry import FAMILIES, METHODS
from fwsvm.solvers.resolve import Resolved, resolve

WITH_NEWTON_STEPS = ("auto", "newton")
FEW = 20  # functions that a first run compiles before this is asked for


def can_help(settings: Settings | Resolved) -> bool:
    """Whether there is a processor for it, and the method's full search on the simplex, which has most to compile."""
    name = settings.method if isinstance(settings.method, str) else settings.method.name
    family = FAMILIES[METHODS[name].family]
    full = family.searches and family.keeps_values and settings.search != "sampled"
    default = settings.protocol == "default" or getattr(settings.protocol, "name", "") == "default"
    return bool(full and default and usable_threads() > 1 and sys.executable)


@contextlib.contextmanager
def helped(resolved: Resolved, gaps: Sequence[int], *, pairs: bool = False) -> Iterator[None]:
    """Have the second process help with what the block compiles, where a display waits for a first run.

    Rows are of these layouts (`fwsvm.solvers.warm_up`); with ``pairs``, small pairs of classes have columns of their
    own.
    """
    process = None
    if phases.is_listened_to() and kept_functions() < FEW and can_help(resolved):
        job = json.dumps([resolved.method.name, resolved.kernel_name, resolved.stop, list(gaps), pairs])
        with contextlib.suppress(OSError):  # no memory for it, say
            words = to_run(f"from {__name__} import main; main({job!r})")
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def to_run(code: str) -> list[str]:
    """Return the words that run code in a new interpreter with this package, wherever the process stands."""
    as_here = f"sys.path.insert(0, {str(PACKAGE.parent)!r}); import {PACKAGE.name}; del sys.path[0]"
    return [sys.executable, "-P", "-c", f"import sys; {as_here}; {code}"]


def main(job: str) -> None:
    """Be the second process."""
    from fwsvm.kernels.column_cache import column_cache, fetch_in_thread, room_for_columns
    from fwsvm.kernels.rows import as_rows, in_precision
    from fwsvm.kernels.sums import weighted_sums
    from fwsvm.numerics.compile import compile_for
    from fwsvm.problems.simplex_qp import simplex_qp
    from fwsvm.solvers.auto.pairs import compile_certificates
    from fwsvm.solvers.frank_wolfe.engine import make, plain, run_until_miss
    from fwsvm.solvers.frank_wolfe.gradient import Full
    from fwsvm.solvers.frank_wolfe.iterate import sorted_by_class
    from fwsvm.solvers.frank_wolfe.moves import NOBODY, Move
    from fwsvm.solvers.frank_wolfe.storage import state_of
    from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
    from fwsvm.solvers.newton.system import compile_systems
    from fwsvm.solvers.warm_up import tiny_problem

    method, kernel, stop, gaps, pairs = json.loads(job)
    problem = tiny_problem()
    resolved = resolve(Settings(method=method, kernel=kernel, stop=stop), problem.X)
    first = in_precision(sorted_by_class(problem)[1], np.float32)
    columns = room_for_columns(resolved.kernel, first, resolved.cache_bytes)
    qp = simplex_qp(columns, int(np.count_nonzero(problem.y > 0)), problem.penalties)
    state = state_of(qp, Full(), problem.stream, resolved)
    compile_for(make, state, Move(0, NOBODY, 1.0, 0.0, 0.0, 0.0, 0.0, False))
    for gap in gaps:
        if pairs:  # they come to theirs before all others
            compile_certificates(resolved.kernel, gap)
        rows = sorted_by_class(tiny_problem(gap))[1]
        weighted_sums(resolved.kernel, rows, np.arange(1), np.ones((1, 1)), rows)
    if method in WITH_NEWTON_STEPS:
        compile_systems(columns)
    compile_for(fetch_in_thread, columns, columns.all_rows, state.alpha, 0, 0)
    rule = plain(resolved.rule if resolved.family.name == "simplex" else Swap2o())
    compile_for(run_until_miss, 0, 0, rule, state, columns, 0, np.empty(0, np.int32))
    for gap in reversed(gaps):
        column_cache(
            resolved.kernel, in_precision(as_rows(tiny_problem(gap).X), np.float32), resolved.cache_bytes
        )
