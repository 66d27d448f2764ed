"""Checks of output paths, and where a machine goes whose path cannot be written."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fwsvm.errors import ModelError, UsageError, WriteError

if TYPE_CHECKING:
    from fwsvm.problems.machines import KernelModel, LinearModel


def refuse_overwriting(inputs: Iterable[str | Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse an output path that is also an input or another output, which would be overwritten."""
    # realpath, because Path.resolve raises for links that lead to themselves
    taken = {os.path.realpath(each) for each in inputs if each is not None}
    for output in outputs:
        if output is None:
            continue
        if os.path.realpath(output) in taken:
            raise UsageError(
                f"{output} would be overwritten: it is also an input or another output; name another file"
            )
        taken.add(os.path.realpath(output))


def refuse_overwriting_results(folders: Iterable[Path], out: Path, *, read: Iterable[Path] = ()) -> None:
    """Refuse as ``out`` what is ``read``, and every file of results folders, their traces included."""
    from fwsvm.results.files import FURTHER, OF_FOLDER

    name = Path(os.path.realpath(out)).name
    own = (*OF_FOLDER, f"traces/{name}", *([name] if FURTHER.fullmatch(name) else []))
    refuse_overwriting([*read, *(folder / name for folder in folders for name in own)], [out])


def refuse_no_folder(output: Path, option: str) -> None:
    """Refuse an output file that its folder cannot take, before anything is computed for it.

    Raises
    ------
    UsageError
        There is no such folder, or the file is one.
    WriteError
        The folder may not be written to.
    """
    from fwsvm.files.atomic import is_written_in_place

    if is_written_in_place(output) and not output.is_dir():  # a pipe, /dev/stdout
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise UsageError(
            f"{output} cannot be written: there is no folder {folder}; make it, or name another with {option}"
        )
    if output.is_dir():
        raise UsageError(f"{output} cannot be written: it is a folder; name another file with {option}")
    if not os.access(folder, os.W_OK):
        raise WriteError(
            f"{output} cannot be written: no permission to write in {folder}; name another file with {option}"
        )


def written_elsewhere(path: Path, machine: "KernelModel | LinearModel", error: ModelError) -> ModelError:
    """Write a machine that cannot be written to its file to the system's folder for temporary ones; say where."""
    from fwsvm.problems import model_files

    try:
        spare = Path(tempfile.mkdtemp(prefix="fwsvm-")) / path.name
        model_files.write(spare, machine)
    except (ModelError, OSError):
        return error
    return ModelError(f"{error}; the model is in {spare} instead")
