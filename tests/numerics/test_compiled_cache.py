"""Files of machine code that several processes write at the same time."""

from fwsvm.numerics.compiled_cache import _CacheFile


def test_two_that_save_at_the_same_time_never_find_the_code_of_the_other(tmp_path):
    """Each has read the index before the other wrote it; what is lost is compiled anew."""
    one, other = (_CacheFile(str(tmp_path), "module.function", "") for _ in range(2))
    one._load_index = other._load_index = dict
    one.save("for float32", "code of float32")
    other.save("for float64", "code of float64")
    found = _CacheFile(str(tmp_path), "module.function", "")
    assert found.load("for float32") in {None, "code of float32"}
    assert found.load("for float64") == "code of float64"
    found.save("for float32", "code of float32")
    assert [found.load(f"for {kind}") for kind in ("float32", "float64")] == [
        "code of float32",
        "code of float64",
    ]


def test_what_is_saved_anew_takes_the_place_of_what_was(tmp_path):
    file = _CacheFile(str(tmp_path), "module.function", "")
    for code in ("first", "second"):
        file.save("types", code)
    assert file.load("types") == "second"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_index_whose_file_is_gone_has_nothing(tmp_path):
    file = _CacheFile(str(tmp_path), "module.function", "")
    file.save("types", "code")
    for data in tmp_path.glob("*.nbc"):
        data.unlink()
    assert file.load("types") is None


def test_a_folder_that_is_a_file_has_nothing_and_is_not_called_damaged(tmp_path, recwarn):
    place = tmp_path / "file"
    place.touch()
    assert _CacheFile(str(place / "folder"), "module.function", "").load("types") is None
    assert not recwarn.list
