"""Derive a stand-in for a file that is not available: a smaller file's lines and lines of a larger one, drawn by seed.

The a_k and w_k are nested parts of one set. One that is lacking is made of the next smaller one that is there and of
rows drawn uniformly from the rest of a larger one. Draws with one seed take from one permutation, so they are nested.
"""

from pathlib import Path

from fwsvm.data.fetching.complement import lines_of_file, match
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError


def drawn(whole: Path, part: Path, *, rows: int, seed: int) -> bytes:
    """Return ``part``'s lines and others of ``whole``, ``rows`` in all, in the order of ``whole``.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines, or ``rows`` is not between the two.
    """
    lines, taken = lines_of_file(whole), lines_of_file(part)
    if not len(taken) <= rows <= len(lines):
        raise DataError(
            f"cannot draw {rows:,} lines of {whole}, {len(lines):,} with the {len(taken):,} of {part}"
        )
    kept = set(match(range(len(lines)), lines, taken, part, whole))
    rest = [place for place in range(len(lines)) if place not in kept]
    kept.update(rest[place] for place in permutation(len(rest), seed)[: rows - len(taken)])
    return b"".join(line + b"\n" for place, line in enumerate(lines) if place in kept)
