"""Checks of output paths, and the writing of models."""

import dataclasses
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fwsvm.errors import ModelError, UsageError

if TYPE_CHECKING:
    from fwsvm.experiments.record import Row
    from fwsvm.solvers import Result

#: Columns of a run's row that its model file keeps.
FACTS = (
    "method",
    "dataset",
    "data_sha256",
    "C",
    "lambda",
    "search",
    "stop",
    "tolerance",
    "seed",
    "status",
    "objective",
    "gap",
    "relative_gap",
    "gap_kind",
    "certified",
    "train_seconds",
    "fwsvm",
    "run_id",
)


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


def refuse_no_folder(output: Path | None, option: str) -> None:
    """Raise `UsageError` for an output file that cannot be made, before anything is computed for it."""
    if output is None or str(output).startswith("/dev/"):
        return
    folder = output.absolute().parent
    why = "it is a folder" if output.is_dir() else "" if folder.is_dir() else f"there is no folder {folder}"
    if why or not os.access(folder, os.W_OK):
        why = why or f"no permission to write in {folder}"
        raise UsageError(f"{output} cannot be written: {why}; name another file with {option}")


def write_model(path: Path, result: "Result", row: "Row") -> None:
    """Write the model with columns of its row, else to the folder for temporary files: hours may stand behind it.

    Raises
    ------
    ModelError
        The file cannot be written; the sentence says where the model is instead.
    """
    from fwsvm.problems import model_files
    from fwsvm.results.writing import json_values

    values = json_values(row)
    facts = {**result.model.facts, **{name: values[name] for name in FACTS}}
    model = dataclasses.replace(result.model, facts=facts)
    try:
        model_files.write(path, model)
    except ModelError as error:
        try:
            spare = Path(tempfile.mkdtemp(prefix="fwsvm-")) / path.name
            model_files.write(spare, model)
        except (ModelError, OSError):
            raise error from None
        raise ModelError(f"{error}; the model is in {spare} instead") from None
