"""One process at a time, without a daemon and without stale locks; and interrupts that wait until a block ends."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _acquire(descriptor: int, *, wait: bool) -> None:
        while True:
            with contextlib.suppress(OSError):
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                return
            if not wait:
                raise BlockingIOError
            time.sleep(0.05)

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(descriptor: int, *, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock that belongs to ``path`` (a file ``path.lock`` beside it).

    While another has it, wait, or raise `BlockingIOError` without ``wait``. The system releases it when a
    process dies, so a kill leaves nothing to clean up but an empty file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _acquire(descriptor, wait=wait)
        try:
            yield
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block; other threads than the main one hear of neither."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    met: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        met.append(number)

    ours = [number for number in SIGNALS if signal.getsignal(number) is not None]  # None: it is not of Python
    before = {number: signal.signal(number, remember) for number in ours}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for again in dict.fromkeys(met):
            signal.raise_signal(again)
