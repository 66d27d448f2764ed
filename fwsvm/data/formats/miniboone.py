"""MiniBooNE's particle file: a line with two counts, then that many signal rows, then the background rows."""

from pathlib import Path

import numpy as np
import pandas as pd

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.svmlight_errors import one_line
from fwsvm.data.formats.text_file import open_decompressed
from fwsvm.errors import DataError

LONGEST = 100  # characters of the line with the counts


def read(path: Path) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows, and labels +1 (signal, electron neutrinos) and -1 (background).

    `DataError` where the counts in the first line are not there or do not add up.
    """
    try:
        with open_decompressed(path) as file:
            signal, background = (int(word) for word in file.readline(LONGEST).split())
            frame = pd.read_csv(file, sep=r"\s+", header=None, dtype="float64")
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}: not MiniBooNE's format: {one_line(error)}") from None
    rows = frame.to_numpy()
    if signal < 0 or background < 0 or len(rows) != signal + background or not np.isfinite(rows).all():
        raise DataError(
            f"{path}: {len(rows):,} rows, not all of finite numbers or not as many as its first line says, "
            f"{signal + background:,}"
        )
    labels = np.repeat([1.0, -1.0], [signal, background])
    return LabelledRows(np.ascontiguousarray(rows), labels), ()
