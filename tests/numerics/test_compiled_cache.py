"""Files of machine code: written by several processes at the same time, and a miss where they are damaged."""

import pytest

from fwsvm.numerics.compiled_cache import _CacheFile

#: What a file on disk may hold after a crash or a bug; the last raises an OverflowError in pickle.
DAMAGED = [b"", b"\x80", b"\x00" * 64, b"\x80\x04\x96" + b"\xff" * 8]


def test_two_that_save_at_the_same_time_never_find_the_code_of_the_other(tmp_path):
    """Each has read the index before the other wrote it; what is lost is compiled anew."""
    one, other = (_CacheFile(str(tmp_path), "module.function", "") for _ in range(2))
    one._load_index = other._load_index = dict
    one.save("for float32", "code of float32")
    other.save("for float64", "code of float64")
    found = _CacheFile(str(tmp_path), "module.function", "")
    assert found.load("for float32") in {None, "code of float32"}
    assert found.load("for float64") == "code of float64"


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_file_is_a_miss_and_is_written_again(tmp_path, suffix, content):
    file = _CacheFile(str(tmp_path), "module.function", "")
    file.save("types", "code")
    (path,) = tmp_path.glob(f"*.{suffix}")
    path.write_bytes(content)
    assert file.load("types") is None
    file.save("types", "code")
    assert file.load("types") == "code"
