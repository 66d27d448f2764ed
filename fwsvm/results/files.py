"""Files of a results folder, and the folders that are never written to."""

import os
import re
from itertools import pairwise
from pathlib import Path

from fwsvm.errors import ResultsError

#: Files of a results folder besides its traces, and the configurations of its further experiments.
OF_FOLDER = ("runs.csv", "experiment.yaml", "log.jsonl")
FURTHER = re.compile(r"experiment-[1-9][0-9]{0,3}\.yaml")


def bytes_of(path: Path) -> bytes:
    """Return the content of a file; `ResultsError` where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


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
