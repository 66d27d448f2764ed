"""MiniBooNE's particle file: a line with two counts, then that many signal rows, then the background rows."""

from pathlib import Path

import numpy as np
import pandas as pd

from fwsvm.data.dataset import Table
from fwsvm.errors import DataError


def read(path: Path) -> tuple[Table, tuple[str, ...]]:
    """Return the rows, and labels +1 (signal, electron neutrinos) and -1 (background).

    `DataError` where the counts in the first line are not there or do not add up.
    """
    try:
        with path.open(encoding="ascii") as file:
            signal, background = (int(word) for word in file.readline().split())
        frame = pd.read_csv(path, sep=r"\s+", skiprows=1, header=None, dtype="float64")
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}: not MiniBooNE's format: {' '.join(str(error).split())}") from None
    if len(frame) != signal + background or frame.isna().to_numpy().any():
        raise DataError(f"{path}: {len(frame):,} whole rows, its first line says {signal + background:,}")
    labels = np.repeat([1.0, -1.0], [signal, background])
    return Table(np.ascontiguousarray(frame.to_numpy()), labels), ()
