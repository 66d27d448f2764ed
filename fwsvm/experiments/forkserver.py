"""Worker processes forked from a server that preloads imports in parallel with this process.

Importing takes a worker as long as it takes this process. The forkserver imports once, while this process still
imports, and has neither threads nor data; each worker is a fork of it, ready in milliseconds. Where the server cannot
be started, or forking is unsafe (macOS), workers are spawned and import for themselves.
"""

import functools
import multiprocessing
import signal
import sys
import threading
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

#: Before 3.11.1 any user of the machine could connect to the server (CVE-2022-42919).
FORKSERVER_IS_SAFE = sys.platform == "linux" and sys.version_info >= (3, 11, 1)


@functools.cache
def start_forkserver() -> bool:
    """Start the server at the first call; return whether it is available."""
    if not FORKSERVER_IS_SAFE:
        return False
    try:
        _start()
    except OSError:  # its socket cannot be made: the folder is read-only, or the path too long
        return False
    return True


def _start() -> None:
    from multiprocessing.forkserver import ensure_running, set_forkserver_preload

    set_forkserver_preload(["fwsvm.experiments.executors.forkserver_preload"])
    if threading.current_thread() is not threading.main_thread():
        ensure_running()
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: only this process handles Ctrl-C
    try:
        ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)


def worker_context() -> Union["ForkServerContext", "SpawnContext"]:
    """Return the multiprocessing context that starts workers."""
    if start_forkserver():
        return multiprocessing.get_context("forkserver")
    return multiprocessing.get_context("spawn")
