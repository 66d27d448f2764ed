"""A file or a folder of files in LIBSVM's format that is cut into partitions, as `fwsvm train --scheduler` has it."""

import random
from pathlib import Path

from fwsvm.data import partitions
from fwsvm.data.formats import svmlight as whole
from fwsvm.errors import FwsvmError
from tests.fuzz.readers import svmlight

LEAST = (1, 7, 40, 1 << 18)


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    svmlight.warm_up(folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a file as `svmlight` does, sometimes with others beside it, and of what size partitions are to be."""
    svmlight.generate(rng, folder)
    (folder / ".least").write_text(str(rng.choice(LEAST)))
    if rng.random() < 0.2:
        (folder / "rows2").write_bytes(rng.choice((svmlight.VALID, b"", b"\n", b"1 1:1")))


def read(folder: Path) -> None:
    """Read all partitions; those of one file have the rows that it has read at once."""
    before, partitions.LEAST = partitions.LEAST, int((folder / ".least").read_text())
    try:
        place = folder if (folder / "rows2").exists() else folder / "rows"
        tables = [partitions.read(part, unlabelled=True).table for part in partitions.cut(place)[:200]]
    finally:
        partitions.LEAST = before
    if place == folder or len(tables) == 200:
        return
    try:
        expected = whole.read(place, unlabelled=True)[0]
    except FwsvmError:  # of the whole file: that some rows have labels, or that there are none
        return
    found = [(table.rows, table.X.nnz) for table in tables]
    if (sum(rows for rows, _ in found), sum(stored for _, stored in found)) != (
        expected.rows,
        expected.X.nnz,
    ):
        raise AssertionError("the partitions have other rows or values than the file")
