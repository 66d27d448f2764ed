"""One process at a time, without a daemon and without stale locks; and interrupts that wait until a block ends."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)

POLL_SECONDS = 0.05

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _set(descriptor: int, *, locked: bool) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK if locked else msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _set(descriptor: int, *, locked: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if locked else fcntl.LOCK_UN)


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock that belongs to ``path`` (a file ``path.lock`` beside it).

    While another has it, wait, or raise `BlockingIOError` without ``wait``. The system releases it when a
    process dies, so a kill leaves nothing to clean up but an empty file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        while True:
            try:
                _set(descriptor, locked=True)
                break
            except (BlockingIOError, PermissionError):  # another has it, as Linux and Windows say it
                if not wait:
                    raise BlockingIOError from None
                time.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            _set(descriptor, locked=False)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block; other threads than the main one hear of neither."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    met: list[int] = []
    before = {number: signal.signal(number, lambda number, _: met.append(number)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for again in dict.fromkeys(met):
            signal.raise_signal(again)
