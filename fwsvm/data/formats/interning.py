"""String interning, compiled: each distinct token of a text gets a code, in order of first appearance."""

import secrets

import numpy as np
from numpy.typing import NDArray

from fwsvm.numerics.compile import njit

INITIAL_SLOTS = 1024  # a power of two
HASH_BITS = 0xFFFFFFFF
HASH_FACTOR, MIX_FACTOR = 16777619, 0x45D9F3B  # of FNV-1a, 32 bits; odd
HASH_START = secrets.randbits(32)  # another one in each process: nobody can write a file whose words collide


def intern(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return codes for the tokens ``text[starts[i]:stops[i]]``, in order of first appearance, by a hash table.

    Returns
    -------
    codes : ndarray of int32, shape (len(starts),)
    firsts : ndarray of int64, one entry for each code
        The first token with that code.
    """
    codes, firsts = _intern(text, starts, stops, HASH_START)
    return codes, firsts


@njit
def _intern(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], hash_start: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    m = len(starts)
    codes = np.empty(m, np.int32)
    firsts = np.empty(m, np.int64)
    hashes = np.empty(m, np.int64)
    slots = np.full(INITIAL_SLOTS, -1)
    known = 0
    for i in range(m):
        key = _hash(text, starts[i], stops[i], hash_start)
        slot = key & (len(slots) - 1)
        while slots[slot] >= 0 and not _same(text, starts, stops, i, firsts[slots[slot]]):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            firsts[known] = i
            hashes[known] = key
            slots[slot] = known
            known += 1
            codes[i] = known - 1
            if 2 * known > len(slots):
                slots = _grown(slots, hashes[:known])
        else:
            codes[i] = slots[slot]
    return codes, firsts[:known].copy()


@njit(inner=True)
def _hash(text: NDArray[np.uint8], start: int, stop: int, key: int) -> int:
    for at in range(start, stop):
        key = ((key ^ int(text[at])) * HASH_FACTOR) & HASH_BITS
    key = ((key ^ (key >> 16)) * MIX_FACTOR) & HASH_BITS  # the low bits of FNV-1a know low bits alone
    return key ^ (key >> 16)


@njit(inner=True)
def _same(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], i: int, j: int
) -> bool:
    if stops[i] - starts[i] != stops[j] - starts[j]:
        return False
    k = 0
    while k < stops[i] - starts[i] and text[starts[i] + k] == text[starts[j] + k]:
        k += 1
    return k == stops[i] - starts[i]


@njit(inner=True)
def _grown(slots: NDArray[np.int64], hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table of twice the slots that holds the same tokens."""
    larger = np.full(2 * len(slots), -1)
    for code in range(len(hashes)):
        slot = hashes[code] & (len(larger) - 1)
        while larger[slot] >= 0:
            slot = (slot + 1) & (len(larger) - 1)
        larger[slot] = code
    return larger


def token_bytes(text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[bytes]:
    """Return the tokens ``text[starts[i]:stops[i]]``."""
    return [text[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
