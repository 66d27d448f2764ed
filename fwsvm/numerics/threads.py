"""Thread pools for compiled code that releases the interpreter lock.

Numba's parallel loops take seconds more to compile, and their fallback layer ends the process when two threads enter
it at once. A pool costs some microseconds a task.
"""

import functools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


@functools.cache
def pool(threads: int) -> Any:
    """Return the pool of so many threads."""
    from concurrent.futures import ThreadPoolExecutor  # late: the command line reads the bound alone

    return ThreadPoolExecutor(threads, thread_name_prefix="fwsvm")


def together(work: Callable[[int], None], parts: int) -> None:
    """Call ``work(0) ... work(parts - 1)`` at the same time, one of them here; wait, and raise the first error."""
    if parts == 1:
        work(0)
        return
    from concurrent.futures import wait

    others = [pool(parts - 1).submit(work, part) for part in range(1, parts)]
    try:
        work(0)
        wait(others)
    finally:
        wait(others)  # after an interrupt, too: they write into the caller's arrays
    for other in others:
        other.result()


def in_shares(work: Callable[[int, int], None], size: int, parts: int, whole: int) -> None:
    """Call ``work(first, last)`` at the same time for shares of 0 ... size - 1, cut at multiples of ``whole``."""
    ends = [size // whole * part // parts * whole for part in range(parts)] + [size]
    together(lambda part: work(ends[part], ends[part + 1]), parts)


@functools.cache
def _controllers(_with_scipy: bool) -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def _blas() -> list[Any]:
    """Return threadpoolctl's handles on the BLAS libraries that this process has loaded: numpy's, and maybe scipy's."""
    return _controllers("scipy.linalg" in sys.modules)


@functools.cache
def scipy_linalg() -> Any:
    """Return `scipy.linalg`, whose BLAS takes as many threads as numpy's does now.

    It is loaded where it is needed: that takes a quarter as long as numba.
    """
    now = [library.num_threads for library in _blas()]
    from scipy import linalg

    for library in _blas():
        library.set_num_threads(min(now, default=1))
    return linalg


_LIMITING = threading.RLock()


@contextmanager
def blas_on(threads: int) -> Iterator[None]:
    """Have BLAS take so many threads in the block.

    Its threads go on spinning for a while after each call, on the processors that ours are to have: one inner product
    of ten thousand numbers takes a processor away for 30 ms. The limit is the whole process's, and belongs to one
    thread at a time: in others such a block changes nothing, for each would restore what it found.

    As `threadpool_limits`, but the libraries are looked for once: that takes 2 ms, as long as a small linear system.
    Nor is each asked for all that it knows of itself, which takes as long as a small matrix of kernel values.
    """
    if not _LIMITING.acquire(blocking=False):
        yield
        return
    before = {library.filepath: library.num_threads for library in _blas()}
    try:
        for library in _blas():
            library.set_num_threads(threads)
        yield
    finally:
        for library in _blas():  # scipy's may have come
            library.set_num_threads(before.get(library.filepath, max(before.values(), default=threads)))
        _LIMITING.release()


def in_order(work: Callable[[Item], Made], items: Iterator[Item], threads: int) -> Iterator[Made]:
    """Yield ``work(item)`` for each item in order, of the first here, of the others on threads beside this one.

    As many items are taken ahead as there are threads.
    """
    for item in items:
        yield work(item)
        if threads > 1:
            break
    else:
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads - 1, "fwsvm") as others:
        ahead = deque(others.submit(work, item) for item in islice(items, threads))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(others.submit(work, item) for item in islice(items, 1))


def usable_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
