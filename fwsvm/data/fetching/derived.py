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

from fwsvm.data.lockfile import Complement, DrawnLines
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError

#: Candidates tried at most: a1a needs 8.
MAX_CANDIDATES = 256


def texts(rule: Complement | DrawnLines, whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that a derived file may have, likely ones first; `DataError` if it cannot be derived."""
    if isinstance(rule, Complement):
        yield from candidates(whole, part)
    else:
        yield drawn(whole, part, rows=rule.rows, seed=rule.seed)


def in_words(rule: Complement | DrawnLines) -> str:
    """Return how a file is derived."""
    if isinstance(rule, Complement):
        return f"the lines of {rule.of} that are not in {rule.minus}"
    return f"{rule.onto} and lines of {rule.of} drawn by seed {rule.seed}, {rule.rows:,} in all"


def candidates(whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that ``whole`` without ``part`` may be, likely ones first.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines.
    """
    lines, taken = _lines(whole), _lines(part)
    first = _match(range(len(lines)), lines, taken, part, whole)
    last = _match(range(len(lines) - 1, -1, -1), lines, taken[::-1], part, whole)[::-1]
    choices = [
        [i] if i == j else [k for k in range(i, j + 1) if lines[k] == lines[i]]
        for i, j in zip(first, last, strict=True)
    ]
    for positions in itertools.islice(itertools.product(*choices), MAX_CANDIDATES):
        gone = set(positions)
        if len(gone) == len(taken):
            yield b"".join(line + b"\n" for i, line in enumerate(lines) if i not in gone)


def drawn(whole: Path, part: Path, *, rows: int, seed: int) -> bytes:
    """Return ``part``'s lines and others of ``whole``, ``rows`` in all, in the order of ``whole``.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines, or ``rows`` is not between the two.
    """
    lines, taken = _lines(whole), _lines(part)
    if not len(taken) <= rows <= len(lines):
        raise DataError(
            f"cannot draw {rows:,} lines of {whole}, {len(lines):,} with the {len(taken):,} of {part}"
        )
    kept = set(_match(range(len(lines)), lines, taken, part, whole))
    rest = [place for place in range(len(lines)) if place not in kept]
    kept.update(rest[place] for place in permutation(len(rest), seed)[: rows - len(taken)])
    return b"".join(line + b"\n" for place, line in enumerate(lines) if place in kept)


def _match(order: range, lines: list[bytes], taken: Sequence[bytes], part: Path, whole: Path) -> list[int]:
    """Return the positions of ``taken`` as the earliest subsequence of ``lines`` read in ``order``."""
    positions: list[int] = []
    for i in order:
        if len(positions) < len(taken) and lines[i] == taken[len(positions)]:
            positions.append(i)
    if len(positions) < len(taken):
        line = taken[len(positions)][:60].decode(errors="replace")
        raise DataError(f"{part}: not a part of {whole}, which lacks the line {line!r} there")
    return positions


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().removesuffix(b"\n").split(b"\n")
