"""Where worker processes come from: a server of forks that imports what they need while this process still imports.

Importing takes a worker as long as this process, and on few processors that many at a time stand in each other's
way. The server imports once, has no threads of ours and no data, and each worker is a copy of it, there in
milliseconds. Where it cannot be had, or copies are not safe (macOS), workers import for themselves.
"""

import functools
import multiprocessing
import signal
import sys
import threading
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

#: Before 3.11.1 any user of the machine could speak to the server (CVE-2022-42919).
FORKS = sys.platform == "linux" and sys.version_info >= (3, 11, 1)


@functools.cache
def open_nursery() -> bool:
    """Start the server at the first call; return whether there is one."""
    if not FORKS:
        return False
    try:
        _start()
    except OSError:  # no room for its socket: a folder that cannot be written, or a path too long for one
        return False
    return True


def _start() -> None:
    from multiprocessing.forkserver import ensure_running, set_forkserver_preload

    set_forkserver_preload(["fwsvm.experiments.executors.forkserver_imports"])
    if threading.current_thread() is not threading.main_thread():
        ensure_running()
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: Ctrl-C is for this process to hear
    try:
        ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)


def nursery() -> Union["ForkServerContext", "SpawnContext"]:
    """Return what makes workers and their pipes."""
    if open_nursery():
        return multiprocessing.get_context("forkserver")
    return multiprocessing.get_context("spawn")
