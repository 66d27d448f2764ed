"""Files of a results folder: regular ones, inside it, read up to a bound."""

import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from fwsvm.errors import ResultsError


def opened(path: Path, folder: Path, most: int) -> BinaryIO:
    """Open a file of a results folder for reading.

    Parameters
    ----------
    path : Path
    folder : Path
        The results folder: links that lead out of it are not followed, because merge and report copy what they read.
    most : int
        Bytes that the file may have.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ResultsError
        It is no regular file, lies elsewhere, is too large, or cannot be read.
    """
    refuse_link(path, folder)
    try:
        # without O_NONBLOCK a pipe of that name would wait for a writer
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        stream = os.fdopen(number, "rb")
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:
        raise unreadable(path, error) from None
    held = os.fstat(stream.fileno())
    if not stat.S_ISREG(held.st_mode) or held.st_size > most:
        stream.close()
        if not stat.S_ISREG(held.st_mode):
            raise ResultsError(f"{path}: not a regular file; give a folder that fwsvm grid wrote")
        raise ResultsError(
            f"{path}: {held.st_size / 2**20:,.1f} MiB, and at most {most / 2**20:,.1f} MiB are read; "
            "divide it over several folders, or delete what is not needed"
        )
    return stream


def refuse_reference(folder: Path) -> None:
    """Refuse to write among the committed results."""
    parts = Path(os.path.realpath(folder)).parts  # Path.resolve raises for links that lead to themselves
    if ("results", "reference") in pairwise(parts):
        raise ResultsError(
            f"{folder}: committed results are never written to; give another folder with --out"
        )


def refuse_link(path: Path, folder: Path) -> None:
    """Raise ResultsError if a name in a results folder is, or lies below, a link that leads out of it or nowhere."""
    try:
        outside = present(path) and not path.resolve().is_relative_to(folder.resolve())
        nowhere = path.is_symlink() and not path.exists()
    except (OSError, RuntimeError) as error:
        raise unreadable(path, error) from None
    if outside:
        raise ResultsError(
            f"{path}: a link that leads out of the folder; replace it with a copy of what it points to"
        )
    if nowhere:
        raise ResultsError(f"{path}: a link to something that does not exist; delete the link")


def text_of(path: Path, folder: Path, most: int) -> str:
    """Return a UTF-8 file of a results folder; errors as `opened`."""
    with opened(path, folder, most) as stream:
        try:
            return stream.read(most).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ResultsError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
        except OSError as error:
            raise unreadable(path, error) from None


def present(path: Path) -> bool:
    """Return whether something has this name; ResultsError where that cannot be told."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unreadable(path, error) from None
    return True


def no_results(path: Path) -> ResultsError:
    """Return the error for what should be a results folder and is none."""
    lacks = "no runs.csv here" if present(path) else "no such folder"
    return ResultsError(f"{str(path)[:300]}: {lacks}; give the folder that fwsvm grid wrote (its --out)")


def unreadable(path: Path, error: Exception) -> ResultsError:
    """Return the error for a file that the system does not let be read."""
    reason = error.strerror if isinstance(error, OSError) else error
    return ResultsError(f"{str(path)[:300]}: cannot be read: {reason or error}")
