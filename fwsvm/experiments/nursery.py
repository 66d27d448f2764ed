"""Where worker processes come from: a server of forks that imports what they need while this process still imports.

Importing takes a worker as long as this process, and on few processors that many at a time stand in each other's
way. The server imports once, has no threads and no data, and each worker is a copy of it, there in milliseconds.
Systems without it spawn: their workers import for themselves.
"""

import multiprocessing
from multiprocessing.context import BaseContext

KIND = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def open_nursery() -> None:
    """Start the server, if there can be one; at the first call only."""
    if KIND == "forkserver":
        from multiprocessing.forkserver import ensure_running, set_forkserver_preload

        set_forkserver_preload(["fwsvm.experiments.executors.preloaded"])
        ensure_running()


def nursery() -> BaseContext:
    """Return what makes workers and their pipes."""
    open_nursery()
    return multiprocessing.get_context(KIND)
