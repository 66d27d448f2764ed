"""A second process that compiles part of what a first run needs, beside the process that trains.

Both look in the same cache before they compile a function, and keep there what they have compiled. So nothing is handed
over: the first process finds functions that the second was faster with, and compiles the others itself. Where there is
no second process, or where it fails or is killed, the run takes longer, and nothing else changes.

The second process begins where the first one comes last (`compile_from_the_end`). It lives as long as the pipe from
the first: the system closes that when the first process ends, be it by a kill.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from numba.core import event

from fwsvm.files.folders import code_folder, places
from fwsvm.numerics.source_digest import PACKAGE
from fwsvm.numerics.threads import usable_threads
from fwsvm.solvers.registry import FAMILIES, METHODS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.settings import Settings

SECOND = "fwsvm.solvers.compile_from_the_end"  # what the second process runs


class SecondCompiler(event.Listener):  # type: ignore[misc]  # numba has no types
    """Starts the second process when this one first compiles a function, and ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = b""
        self._tried = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - which function it is does not matter
        """Start the process when the first function is compiled."""
        if not self._tried:
            self._tried = True
            with contextlib.suppress(OSError):  # no memory for it, say
                self._process = start()
            self._tell()

    def on_end(self, event: Any) -> None:
        """Nothing."""

    def ask(self, resolved: Resolved, gaps: Sequence[int], *, pairs: bool) -> None:
        """Let it compile what runs with these settings need, on rows of these layouts (`fwsvm.solvers.warm_up`)."""
        wanted = {
            "method": resolved.method.name, "kernel": resolved.kernel_name, "stop": resolved.stop, "gaps": list(gaps),
            "pairs": pairs,
        }  # fmt: skip
        self._wanted = json.dumps(wanted).encode() + b"\n"
        self._tell()

    def _tell(self) -> None:
        if self._process is not None and self._process.stdin is not None and self._wanted:
            with contextlib.suppress(OSError):  # it has ended
                self._process.stdin.write(self._wanted)

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
    helper = SecondCompiler()
    token = _present.set(helper)
    try:
        with event.install_listener("numba:compile", helper):
            yield
    finally:
        _present.reset(token)
        helper.end()


@contextlib.contextmanager
def helped(resolved: Resolved, gaps: Sequence[int], *, pairs: bool = False) -> Iterator[None]:
    """Have the second process, where there is one, help with what the block compiles; at its end it ends.

    With ``pairs``, with small pairs of classes that have columns of their own.
    """
    helper = _present.get()
    if helper is None:
        yield
        return
    try:
        helper.ask(resolved, gaps, pairs=pairs)
        yield
    finally:
        helper.end()


def can_help(settings: Settings) -> bool:
    """Whether a second process knows what to compile, has a processor, and a cache that both can write to."""
    known = METHODS.get(settings.method)
    family = FAMILIES[known.family] if known is not None else None
    if family is None or not (family.searches and family.keeps_values) or settings.search == "sampled":
        return False
    if settings.protocol != "default" or usable_threads() < 2 or not sys.executable:
        return False
    return places(code_folder()).write is not None


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
