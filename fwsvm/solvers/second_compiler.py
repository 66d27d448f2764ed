"""A second process that compiles part of what a first run needs, beside the process that trains.

Both look in the same cache before they compile a function, and keep there what they have compiled. So nothing is handed
over: the first process finds functions that the second was faster with, and compiles the others itself. Where there is
no second process, or where it fails or is killed, the run takes longer, and nothing else changes.

The second process begins with what the first one comes to late (`compile_from_the_end`), and before the first has read
its data, whose layout it is told later. It lives as long as the pipe from the first: the system closes that when the
first process ends, be it by a kill.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from numba.core import event

from fwsvm.numerics.compiled_cache import PACKAGE, is_cache_empty
from fwsvm.numerics.threads import usable_threads
from fwsvm.settings import Settings
from fwsvm.solvers.registry import FAMILIES, METHODS
from fwsvm.solvers.resolve import stop_of

SECOND = "fwsvm.solvers.compile_from_the_end"  # what the second process runs


class SecondCompiler(event.Listener):  # type: ignore[misc]  # numba has no types
    """Starts the second process when this one first compiles a function, and ends it.

    Parameters
    ----------
    settings : Settings
        Of the runs to come, which it knows (`can_help`).
    """

    def __init__(self, settings: Settings) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        kernel = settings.kernel or FAMILIES[METHODS[settings.method].family].default_kernel
        self._untold: list[dict[str, Any]] = [
            {"method": settings.method, "kernel": kernel, "stop": stop_of(settings)[0]}
        ]
        self._tried = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - which function it is does not matter
        """Start the process when the first function is compiled."""
        self.begin()

    def begin(self) -> None:
        """Start the process, unless that was tried."""
        if not self._tried:
            self._tried = True
            with contextlib.suppress(OSError):  # no memory for it, say
                self._process = start()
            self._tell()

    def on_end(self, event: Any) -> None:
        """Nothing."""

    def tell(self, gaps: Sequence[int], *, pairs: bool) -> None:
        """Tell it how rows are laid out (`fwsvm.solvers.warm_up`); with ``pairs``, pairs have `OwnColumns`."""
        self._untold.append({"gaps": list(gaps), "pairs": pairs})
        self._tell()

    def _tell(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended
                for words in self._untold:
                    self._process.stdin.write(json.dumps(words).encode() + b"\n")
            self._untold.clear()

    def end(self) -> None:
        """End the process, and start no other."""
        process, self._process, self._tried = self._process, None, True
        if process is not None and process.stdin is not None:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()


_present: ContextVar[SecondCompiler | None] = ContextVar("second_compiler", default=None)


@contextlib.contextmanager
def second_compiler(settings: Settings) -> Iterator[None]:
    """Have a second process help with what the block compiles until its first run begins to train.

    For full search on the simplex with kernel columns alone: other methods have less to compile.
    """
    if not can_help(settings):
        yield
        return
    helper = SecondCompiler(settings)
    token = _present.set(helper)
    try:
        with event.install_listener("numba:compile", helper):
            # importing takes it a second, which this process may take to its first function
            if is_cache_empty():
                helper.begin()
            yield
    finally:
        _present.reset(token)
        helper.end()


@contextlib.contextmanager
def helped(gaps: Sequence[int], *, pairs: bool = False) -> Iterator[None]:
    """Have the second process, where there is one, help with what the block compiles; at its end it ends.

    For rows of these layouts; with ``pairs``, with small pairs of classes that have columns of their own.
    """
    helper = _present.get()
    if helper is None:
        yield
        return
    try:
        helper.tell(gaps, pairs=pairs)
        yield
    finally:
        helper.end()


def can_help(settings: Settings) -> bool:
    """Whether a second process knows what to compile, has a processor."""
    known = METHODS.get(settings.method)
    family = FAMILIES[known.family] if known is not None else None
    if family is None or not (family.searches and family.keeps_values) or settings.search == "sampled":
        return False
    return settings.protocol == "default" and usable_threads() > 1 and bool(sys.executable)


def start() -> "subprocess.Popen[bytes]":
    """Start the process, which waits for word of what to compile."""
    return subprocess.Popen(
        to_run(f"from {SECOND} import main; main()"),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def to_run(code: str) -> list[str]:
    """Return the words that run code in a new interpreter with this package, wherever the process stands."""
    as_here = f"sys.path.insert(0, {str(PACKAGE.parent)!r}); import {PACKAGE.name}; del sys.path[0]"
    return [sys.executable, "-P", "-c", f"import sys; {as_here}; {code}"]
