"""Standard streams that end no command: what they cannot take is dropped, and `main` tells of it at the end.

So a model is written after hours of training, though the terminal went away or the disk of the output is full.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from click.exceptions import Exit

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Outlet(io.RawIOBase):
    """The lowest layer of a stream, which drops what it is given from its first failure on.

    ``ends`` says whether the command ends there, since it only prints.
    """

    def __init__(self, raw: io.RawIOBase) -> None:
        self.raw = raw
        self.name = getattr(raw, "name", "")
        self.failure: OSError | None = None
        self.ends = False

    def write(self, data: "ReadableBuffer", /) -> int | None:
        """Write the bytes, or drop them."""
        if self.failure is None:
            try:
                return self.raw.write(data)
            except OSError as failure:
                self.failure = failure
                if self.ends:
                    raise Exit(0) from None
        return memoryview(data).nbytes

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return whether this is a terminal."""
        return self.raw.isatty()

    def fileno(self) -> int:
        """Return the number of the open file."""
        return self.raw.fileno()


class LastingStream(io.TextIOWrapper):
    """A text stream over an `Outlet`, encoded and buffered as ``like`` is."""

    def __init__(self, like: io.TextIOWrapper, raw: io.RawIOBase) -> None:
        self.outlet = Outlet(raw)
        super().__init__(
            io.BufferedWriter(self.outlet) if isinstance(like.buffer, io.BufferedIOBase) else self.outlet,
            like.encoding,
            like.errors,
            line_buffering=like.line_buffering,
            write_through=like.write_through,
        )

    def finish(self) -> OSError | None:
        """Write what is left in the buffers; return why not all could be written, if so."""
        self.outlet.ends = False
        self.flush()
        return self.outlet.failure


@contextlib.contextmanager
def lasting() -> Iterator[None]:
    """Have streams in the block that last as stdout and stderr; one that was closed leads nowhere."""
    before = sys.stdout, sys.stderr
    with contextlib.ExitStack() as opened:
        for name, stream in zip(("stdout", "stderr"), before, strict=True):
            nowhere = stream is None  # after `>&-`
            given = opened.enter_context(open(os.devnull, "w", encoding="utf-8")) if nowhere else stream  # noqa: PTH123
            setattr(sys, name, _lasting(given))
        streams = sys.stdout, sys.stderr
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before
            for stream in streams:
                if isinstance(stream, LastingStream):
                    stream.finish()


def _lasting(stream: TextIO) -> TextIO:
    """Return a stream to the same file that lasts; one that leads to no file, as in tests, as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)  # under `python -u` there is no layer between
    if not isinstance(raw, io.RawIOBase):
        return stream
    stream.flush()
    return LastingStream(stream, raw)


def end_where_unread() -> None:
    """Let this command, which only prints, end where stdout takes no more, as after `| head`."""
    if isinstance(sys.stdout, LastingStream):
        sys.stdout.outlet.ends = True


def failure() -> OSError | None:
    """Return why the output could not be written, if so; that its reader closed the pipe is no failure."""
    found = sys.stdout.finish() if isinstance(sys.stdout, LastingStream) else None
    return None if isinstance(found, BrokenPipeError) else found
