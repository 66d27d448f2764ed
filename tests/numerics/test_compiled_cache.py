"""Files of machine code: kept for each combination of types, and a miss where they are damaged."""

import numpy as np
import pytest

from fwsvm.numerics.compile import njit

#: What a file on disk may hold after a crash or a bug; the last raises an OverflowError in pickle.
DAMAGED = [b"", b"\x80", b"\x00" * 64, b"\x80\x04\x96" + b"\xff" * 8]


def total(values):
    """Return a sum."""
    found = 0.0
    for value in values:
        found += value
    return found


@pytest.mark.parametrize("content", [None, *DAMAGED])
def test_code_is_kept_on_disk_and_a_damaged_file_is_a_miss(tmp_path, monkeypatch, content):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    one, other = (np.ones(3, dtype) for dtype in (np.float32, np.float64))
    assert njit(total)(one) == njit(total)(other) == 3.0
    files = sorted(tmp_path.rglob("*.nbc"))
    assert len(files) == 2
    if content is not None:
        files[0].write_bytes(content)
    again = njit(total)
    assert again(one) == again(other) == 3.0
    assert sum(again.stats.cache_hits.values()) == (2 if content is None else 1)
    assert sorted(tmp_path.rglob("*")) == sorted({*files, *(file.parent for file in files)})
    assert all(file.stat().st_size > 100 for file in files)
