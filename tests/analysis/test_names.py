"""Short names: as short as can be, and no two alike."""

from hypothesis import given
from hypothesis import strategies as st

from fwsvm.analysis.names import MOST, short_name, short_names

WORDS = st.sampled_from(["a/b", "c/b", "x" * 60, "x" * 61, "synthetic:g?rows=3&noise=0", "synthetic:g?rows=3&noise=1",
                         "a1a", "", "/", "..", "g 3", "b", "b (2)"])  # fmt: skip


def test_files_synthetic_and_published_sets_are_named_in_few_letters() -> None:
    names = ("mine/x.svm", "kdd99-10pc", "wdbc")
    assert [short_name(name) for name in names] == ["mine/x.svm", "KDD99-10pc", "wdbc"]
    assert [short_name(f"{'deep' * 10}{bar}x.svm") for bar in "/\\"] == ["x.svm", "x.svm"]
    assert short_name("synthetic:gaussians?rows=300&features=20") == "gaussians 300"


def test_what_differs_is_added_to_names_that_are_alike() -> None:
    first, second = "synthetic:text?rows=9&noise=0.1&seed=0", "synthetic:text?rows=9&noise=0.2&seed=0"
    assert short_names([first, second]) == {first: "text 9, noise 0.1", second: "text 9, noise 0.2"}
    assert list(short_names(["a" * 40 + "/x", "b" * 40 + "/x"]).values()) == ["x", "x (2)"]


@given(st.lists(WORDS | st.text(max_size=50), max_size=30))
def test_no_two_data_sets_have_one_short_name(names: list[str]) -> None:
    short = short_names(names)
    assert set(short) == set(names)
    assert len(set(short.values())) == len(short)
    assert max(map(len, short.values()), default=0) <= MOST
