"""Data sets that are made here: drawn from larger ones or generated, by seed, the same everywhere, and marked."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fwsvm import data
from fwsvm.analysis import published
from fwsvm.data import catalogue, fetching, lockfile
from fwsvm.data.lockfile import Derivation
from fwsvm.errors import DataError
from tests.cli.running import run

MIRROR = os.environ.get("FWSVM_MIRROR")
LOCK = lockfile.read()
MADE = {name: entry for name, entry in LOCK.entries.items() if entry.made}


def test_what_is_made_here_is_marked_where_it_is_shown_and_nothing_else_is() -> None:
    marked = published.names()
    assert set(MADE) == set(marked.index[marked["made"] != ""]) == set(published.made_here())
    for name, entry in MADE.items():
        assert marked.loc[name, "made"] == entry.made
        assert marked.loc[name, "stands_for"] == entry.stands_for
        assert published.title(name).endswith("†")
        assert not entry.published
        assert not entry.stands_for or LOCK.entries[entry.stands_for].published
    assert not any("†" in printed for printed in marked.loc[marked["made"] == "", "printed"])


def written(folder: Path, name: str, numbers: list[int]) -> Path:
    path = folder / name
    path.write_bytes(b"".join(b"%d\n" % number for number in numbers))
    return path


def drawn(whole: Path, part: Path, rows: int, seed: int) -> list[int]:
    """Return the numbers of a drawn file."""
    rule = Derivation(of="whole", part="part", rows=rows, seed=seed)
    text = fetching.derived_text(rule, whole, part)
    return list(map(int, text.split()))


@given(st.data())
def test_a_draw_keeps_the_part_and_the_order_and_is_nested(
    tmp_path_factory: pytest.TempPathFactory, choose: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("draw")
    numbers = choose.draw(st.lists(st.integers(0, 5), min_size=1, max_size=40))
    taken = choose.draw(st.lists(st.booleans(), min_size=len(numbers), max_size=len(numbers)))
    part = [number for number, kept in zip(numbers, taken, strict=True) if kept] or numbers[:1]
    seed = choose.draw(st.integers(0, 5))
    whole, smaller = written(folder, "whole", numbers), written(folder, "part", part)
    draws = [drawn(whole, smaller, rows, seed) for rows in range(len(part), len(numbers) + 1)]
    assert draws[0] == part
    assert draws[-1] == numbers
    for fewer, more in itertools.pairwise(draws):
        assert len(more) == len(fewer) + 1
        rest = iter(more)
        assert all(number in rest for number in fewer), "fewer rows are a part of more, in order"


def test_generated_values_that_are_not_those_of_the_lock_are_refused(cache: Path, tmp_path: Path) -> None:
    entry = LOCK.entries["overlapping-text"]
    small = "synthetic:clusters?rows=50&features=3&test=10&noise=0.05&seed=1"
    made = data.load(small)
    (source,) = entry.sources

    def load(sha256: str, test: Path | None = None):
        changed = replace(entry, sources=(replace(source, generate=small, sha256=sha256),))
        return catalogue.load(changed, source=None, test=test, seed=7, offline=True, scale="[0,1]")

    loaded = load(made.fingerprint)
    assert np.array_equal(loaded.train.X, made.train.X)
    assert (loaded.name, loaded.scaling) == ("overlapping-text", "[0,1]")
    assert loaded.fingerprint != made.fingerprint
    with pytest.raises(DataError, match="in datasets"):
        load("0" * 64)
    (tmp_path / "rows").write_text("1 1:0.5\n")
    tested = load(made.fingerprint, tmp_path / "rows")
    assert tested.test is not None
    assert tested.test.X.shape == (1, 3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("data", "fetch", "overlapping-text"),
            "overlapping-text: generated when it is used, nothing to fetch",
        ),
        (("data", "lock", "overlapping-text"), "overlapping-text: nothing to record"),
        (("data", "info", "w2a-drawn"), "made: drawn stands_for: w2a"),
        (("data", "path", "w2a-drawn"), "w2a-drawn is not available"),
    ],
)
def test_commands_say_that_they_are_made(words: tuple[str, ...], said: str, cache: Path) -> None:
    assert said in " ".join(run(*words).output.split())
