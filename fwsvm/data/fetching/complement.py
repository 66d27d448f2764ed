"""Derive ``a_k.t`` and ``w_k.t``: the lines of the whole set that are not in the training file, in file order.

The training file is a subsequence of the whole set. If a line occurs twice in the whole and once in the training file,
either may be the one in it (a1a: 3 lines of 1,605), so there are a few candidates that differ in the order of
rows; the digest decides.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from fwsvm.errors import DataError

#: Candidates tried at most: a1a needs 8.
MAX_CANDIDATES = 256


def candidates(whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that ``whole`` without ``part`` may be, likely ones first.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines.
    """
    lines, taken = lines_of_file(whole), lines_of_file(part)
    first = match(range(len(lines)), lines, taken, part, whole)
    last = match(range(len(lines) - 1, -1, -1), lines, taken[::-1], part, whole)[::-1]
    choices = [
        [i] if i == j else [k for k in range(i, j + 1) if lines[k] == lines[i]]
        for i, j in zip(first, last, strict=True)
    ]
    for positions in itertools.islice(itertools.product(*choices), MAX_CANDIDATES):
        gone = set(positions)
        if len(gone) == len(taken):
            yield b"".join(line + b"\n" for i, line in enumerate(lines) if i not in gone)


def match(order: range, lines: list[bytes], taken: Sequence[bytes], part: Path, whole: Path) -> list[int]:
    """Return the positions of ``taken`` as the earliest subsequence of ``lines`` read in ``order``.

    `DataError` where it is none; ``part`` and ``whole`` name the files.
    """
    positions: list[int] = []
    for i in order:
        if len(positions) < len(taken) and lines[i] == taken[len(positions)]:
            positions.append(i)
    if len(positions) < len(taken):
        line = taken[len(positions)][:60].decode(errors="replace")
        raise DataError(f"{part}: not a part of {whole}, which lacks the line {line!r} there")
    return positions


def lines_of_file(path: Path) -> list[bytes]:
    """Return the lines of a file without their ends."""
    return path.read_bytes().removesuffix(b"\n").split(b"\n")
