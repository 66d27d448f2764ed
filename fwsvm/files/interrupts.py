"""Interrupts that wait until what must not be done by halves is done."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
