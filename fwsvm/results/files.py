"""Files of a results folder, and the folders that are never written to."""

import os
import re
from itertools import pairwise
from pathlib import Path

from fwsvm.errors import ResultsError

#: Files of a results folder besides its traces, and the configurations of its further experiments.
OF_FOLDER = ("runs.csv", "experiment.yaml", "log.jsonl")
FURTHER = re.compile(r"experiment-[1-9][0-9]{0,3}\.yaml")
MAX_BYTES = 1 << 28  # of a file: half a million runs


def bytes_of(path: Path) -> bytes:
    """Return the content of a file; `ResultsError` where it cannot be read."""
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise ResultsError(
                f"{path}: {size / 2**20:,.0f} MiB, and at most {MAX_BYTES >> 20} MiB are read; divide it over "
                "several folders"
            )
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def text_of(path: Path) -> str:
    """Return a text in UTF-8; errors as `bytes_of`."""
    try:
        return bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None


def refuse_reference(folder: Path) -> None:
    """Refuse to write among the committed results."""
    parts = Path(os.path.realpath(folder)).parts  # Path.resolve raises for links that lead to themselves
    if ("results", "reference") in pairwise(parts):
        raise ResultsError(
            f"{folder}: committed results are never written to; give another folder with --out"
        )


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
