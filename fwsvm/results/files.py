"""Files of a results folder, and the folders that are never written to."""

from itertools import pairwise
from pathlib import Path

from fwsvm.errors import ResultsError, shortened

#: Files of a results folder besides its traces, and the configurations of its further experiments.
OF_FOLDER = ("runs.csv", "experiment.yaml", "log.jsonl")


def refuse_reference(folder: Path) -> None:
    """Refuse to write among the committed results."""
    if ("results", "reference") in pairwise(folder.resolve().parts):
        raise ResultsError(
            f"{folder}: committed results are never written to; give another folder with --out"
        )


def no_results(path: Path) -> ResultsError:
    """Return the error for what should be a results folder and is none."""
    lacks = "no runs.csv here" if path.exists() else "no such folder"
    return ResultsError(
        f"{shortened(str(path), 300)}: {lacks}; give the folder that fwsvm grid wrote (its --out)"
    )
