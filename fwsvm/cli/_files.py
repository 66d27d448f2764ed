"""Checks of output paths."""

import os
from collections.abc import Iterable
from pathlib import Path

from fwsvm.errors import UsageError


def refuse_overwriting(inputs: Iterable[str | Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse an output path that is also an input or another output, which would be overwritten."""
    # realpath, because Path.resolve raises for links that lead to themselves
    taken = {os.path.realpath(each) for each in inputs if each is not None}
    for output in outputs:
        if output is None:
            continue
        if os.path.realpath(output) in taken:
            raise UsageError(
                f"{output} would be written over, being read or written already; name another file"
            )
        taken.add(os.path.realpath(output))


def refuse_overwriting_results(folders: Iterable[Path], out: Path, *, read: Iterable[Path] = ()) -> None:
    """Refuse as ``out`` what is ``read``, and every file of results folders, their traces included."""
    from fwsvm.results.archives import OF_FOLDER

    own = (*OF_FOLDER, f"traces/{Path(os.path.realpath(out)).name}")
    refuse_overwriting([*read, *(folder / name for folder in folders for name in own)], [out])
