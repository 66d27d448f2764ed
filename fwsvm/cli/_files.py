"""Checks of output paths."""

from collections.abc import Iterable
from pathlib import Path

from fwsvm.errors import UsageError


def refuse_overwriting(inputs: Iterable[str | Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse an output path that is also an input or another output, which would be overwritten."""
    taken = {Path(each).resolve() for each in inputs if each is not None}
    for output in outputs:
        if output is None:
            continue
        if output.resolve() in taken:
            raise UsageError(
                f"{output} would be written over, being read or written already; name another file"
            )
        taken.add(output.resolve())
