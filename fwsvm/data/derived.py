"""Files that are made of others: the rest of a training set, or a stand-in drawn by seed.

``a_k.t`` and ``w_k.t`` are the lines of the whole set that are not in the training file, in file order. The training
file is a subsequence of the whole set. If a line occurs twice in the whole and once in the training file, either may be
the one in it (a1a: 3 lines of 1,605), so there are a few candidates that differ in the order of rows; the digest
decides.

A drawn file is a smaller file's lines and lines of a larger one. Draws with one seed take from one permutation, so they
are nested.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from fwsvm.data.lockfile import RawFile
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError

#: Candidates tried at most: a1a needs 8.
MAX_CANDIDATES = 256


def describe(file: RawFile) -> str:
    """Return how a file is derived."""
    if rule := file.draw:
        return f"{rule.onto} and lines of {rule.of} drawn by seed {rule.seed}, {rule.rows:,} in all"
    return " without ".join(file.parents)


def texts(file: RawFile, whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that a derived file may have, likely ones first.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines, or has more than the rows to draw.
    """
    lines, taken = (path.read_bytes().removesuffix(b"\n").split(b"\n") for path in (whole, part))
    first = _match(range(len(lines)), lines, taken, part)
    if rule := file.draw:
        if not len(taken) <= rule.rows <= len(lines):
            raise DataError(
                f"cannot draw {rule.rows:,} of {len(lines):,} lines with the {len(taken):,} of {part}"
            )
        known = set(first)
        others = [place for place in range(len(lines)) if place not in known]
        drawn = permutation(len(others), rule.seed)[: rule.rows - len(taken)]
        yield _joined(lines, known | {others[place] for place in drawn})
        return
    last = _match(range(len(lines) - 1, -1, -1), lines, taken[::-1], part)[::-1]
    choices = [
        [place for place in range(i, j + 1) if lines[place] == lines[i]]
        for i, j in zip(first, last, strict=True)
    ]
    for positions in itertools.islice(itertools.product(*choices), MAX_CANDIDATES):
        if len(rest := set(range(len(lines))).difference(positions)) + len(taken) == len(lines):
            yield _joined(lines, rest)


def _joined(lines: Sequence[bytes], kept: set[int]) -> bytes:
    return b"".join(line + b"\n" for place, line in enumerate(lines) if place in kept)


def _match(order: range, lines: Sequence[bytes], taken: Sequence[bytes], part: Path) -> list[int]:
    """Return the positions of ``taken`` as the earliest subsequence of ``lines`` read in ``order``."""
    positions: list[int] = []
    for i in order:
        if len(positions) < len(taken) and lines[i] == taken[len(positions)]:
            positions.append(i)
    if len(positions) < len(taken):
        line = taken[len(positions)][:60].decode(errors="replace")
        raise DataError(f"{part}: the line {line!r} is not in the larger set there")
    return positions
