"""What a run is doing: the layers below announce the phase they enter, and who shows progress listens.

Compiling is not announced where it is done, for it happens wherever a function is first called: numba tells of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """A phase of a run, in their usual order."""

    FETCH = "fetch"
    LOAD = "load"
    COMPILE = "compile"
    TRAIN = "train"
    CHECK = "check"
    PREDICT = "predict"


Listener = Callable[[Phase], None]
InsideListener = Callable[[str, float | None], None]

_listeners: ContextVar[tuple[Listener | None, InsideListener | None]] = ContextVar(
    "listeners", default=(None, None)
)


def enter(phase: Phase) -> None:
    """Announce that a phase begins, which ends the one before; threads of a run announce none but compiling."""
    if listener := _listeners.get()[0]:
        listener(phase)


def is_listened_to() -> bool:
    """Whether somebody shows the phases to the user."""
    return _listeners.get()[0] is not None


def inside(what: str, part: float | None = None) -> None:
    """Announce a long step of the present phase, in a word or two, and what part of it is done (0 to 1) if known."""
    if listener := _listeners.get()[1]:
        listener(what, part)


@contextmanager
def listening(listener: Listener, of_steps: InsideListener | None = None) -> Iterator[None]:
    """Tell the listener of each phase that is entered within the block, and another how far long steps are.

    The first is told ``COMPILE`` before each function that is compiled; the phase then goes on.
    """
    from numba.core import event

    class Compiling(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, _event: Any) -> None:
            listener(Phase.COMPILE)

        def on_end(self, _event: Any) -> None:
            """Go on with the phase."""

    token = _listeners.set((listener, of_steps or _listeners.get()[1]))
    try:
        with event.install_listener("numba:compile", Compiling()):
            yield
    finally:
        _listeners.reset(token)
