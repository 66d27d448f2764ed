"""The lock: well-formed, honest, and true of every real file at hand."""

import copy
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fwsvm import data
from fwsvm.data import lockfile
from fwsvm.data.lockfile import DataSource, Entry, Lock
from fwsvm.errors import DataError

LOCK = lockfile.read()
RAW = yaml.safe_load(lockfile.lock_path().read_text("utf-8"))
MIRROR = os.environ.get("FWSVM_MIRROR")
FILES = [
    (entry, source, file)
    for entry in LOCK.entries.values()
    for source in entry.sources
    for file in source.files
]
PAPER_SETS = {"003": 27, "000": 27, "002": 7, "004": 10}  # pendigits and covtype stand there twice


@pytest.mark.parametrize(("paper", "count"), PAPER_SETS.items())
def test_every_paper_has_all_its_sets(paper: str, count: int) -> None:
    assert sum(any(paper in p.paper for p in entry.published) for entry in LOCK.entries.values()) == count


def test_our_rows_are_the_published_ones_where_a_paper_prints_them() -> None:
    differ = {}
    for name, entry in LOCK.entries.items():
        source = entry.sources[0]
        for published in entry.published:
            if entry.split is None and all(f.rows for f in source.train):
                ours = sum(f.rows or 0 for f in source.train)
                if ours != published.m:
                    differ[name] = ours
    assert differ == {}


def parsed(raw: dict[str, Any]) -> Lock:
    """Return the lock of plain values."""
    path = Path("datasets.lock")
    return lockfile.assemble({path: lockfile.converted(raw, lockfile.LockText, str(path))})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda e: e.pop("task"), "a1a: Object missing required field `task`"),
        (lambda e: e.update(colour="red"), "a1a: Object contains unknown field `colour`"),
        (lambda e: e.update(features=0), "a1a.features: Expected `int` >= 1"),
        (lambda e: e.update(sources=[]), "a1a.sources: Expected `object`"),
        (
            lambda e: file_of(e).update(derived={"of": "a9a"}),
            "sources[0].train[0].derived: Object missing",
        ),
        (
            lambda e: file_of(e).update(sha256="abc"),
            "a1a.sources[0].train[0].sha256: Expected `str` matching",
        ),
        (lambda e: file_of(e).update(urls=["ftp://example.org/a1a"]), "train[0].urls[0]: Expected `str`"),
        (lambda e: file_of(e).update(file="../a1a"), "train[0].file: Expected `str` matching"),
        (
            lambda e: e["sources"]["libsvm"].update(loader={"format": "npy"}),
            "libsvm.loader.format: Invalid enum value 'npy'",
        ),
        (
            lambda e: e["sources"]["libsvm"].update(loader={"format": "csv", "label": [1]}),
            "loader.label: Expected",
        ),
    ],
)
def test_a_broken_lock_says_which_key_and_why(damage, said: str) -> None:  # type: ignore[no-untyped-def]
    raw = copy.deepcopy(RAW)
    damage(raw["datasets"]["a1a"])
    with pytest.raises(DataError) as error:
        parsed(raw)
    assert str(error.value).startswith("datasets.lock: datasets.a1a")
    assert said in str(error.value)


def file_of(entry: dict) -> dict:  # type: ignore[type-arg]
    return entry["sources"]["libsvm"]["train"][0]  # type: ignore[no-any-return]


def test_a_lock_of_another_version_is_refused() -> None:
    with pytest.raises(DataError, match=r"datasets\.lock\.version: Invalid enum value 2"):
        parsed({"version": 2, "datasets": {}})


def test_entries_agree_with_themselves() -> None:
    for entry in LOCK.entries.values():
        assert (entry.task == "binary") == (entry.classes == 2)
        assert entry.split is None or (entry.split.test_fraction is None) != (entry.split.train_rows is None)
        for source in entry.sources:
            assert bool(source.train) != bool(source.generate and source.sha256)
            labels = [label for members in (source.grouping or {}).values() for label in members]
            assert len(set(labels)) == len(labels)
            for file in source.files:
                assert file.known_hash or file.evidence == "unpinned"
                assert not file.derived or {file.derived.of, file.derived.part} <= set(LOCK.entries)


def test_the_shipped_sets_need_no_network_and_no_mirror(cache: Path) -> None:
    wdbc, digits = data.load("wdbc", offline=True), data.load("digits", offline=True)
    assert wdbc.train.X.shape == (569, 30)
    assert wdbc.classes == ("1", "-1")
    assert Counter(wdbc.train.labels.tolist()) == {1.0: 212, -1.0: 357}
    assert wdbc.scaling == "[0,1]"
    assert wdbc.train.X.min() == 0.0
    assert wdbc.train.X.max() == 1.0
    assert digits.train.X.shape == (1797, 64)
    assert len(digits.classes) == 10


def test_the_digest_covers_bytes_split_and_scaling(cache: Path, tmp_path: Path) -> None:
    whole, half, other = data.load("wdbc"), data.load("wdbc-500", seed=0), data.load("wdbc-500", seed=1)
    assert len({whole.fingerprint, half.fingerprint, other.fingerprint}) == 3
    assert data.load("wdbc-500", seed=0).fingerprint == half.fingerprint
    (tmp_path / "t.svm").write_text("1 1:0.5\n-1 2:0.25\n", "utf-8")
    tested = data.load("wdbc", test=tmp_path / "t.svm")
    assert tested.fingerprint != whole.fingerprint
    assert tested.test is not None
    assert tested.test.X.shape == (2, 30)


#: Data sets whose files take many seconds to read, each alone.
LARGE = {"covtype", "kdd99-10pc", "mnist", "sector"}


def unless_large(name: str, *values: object) -> Any:
    """Return the parameters of a test of a data set, which is slow if that is large."""
    return pytest.param(*values, marks=[pytest.mark.slow] if name in LARGE else [])


def mirrored() -> list[Any]:
    """Return the sources all of whose files are in the mirror."""
    if not MIRROR:
        return []
    return [
        unless_large(entry.name, entry, source)
        for entry in LOCK.entries.values()
        for source in entry.sources
        if source.files
        and all(f.shipped or (f.known_hash and (Path(MIRROR) / f.file).is_file()) for f in source.files)
        and not any(f.shipped for f in source.files)
    ]


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.mirror
@pytest.mark.skipif(not MIRROR, reason="needs real files: FWSVM_MIRROR")
@pytest.mark.parametrize(("entry", "source"), mirrored(), ids=lambda x: x.name)
def test_every_real_file_has_the_shape_that_is_written(
    entry: Entry, source: DataSource, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FWSVM_CACHE", str(shared_cache))
    loaded = data.load(entry.name, source=source.name, offline=True)
    assert loaded.train.features == entry.features
    assert len(loaded.classes) == entry.classes
    assert len(loaded.train.labels) == loaded.train.rows
    pool = sum(f.rows or 0 for f in source.files)
    assert loaded.train.rows + (loaded.test.rows if loaded.test else 0) == pool
    assert loaded.source == source.name


#: Rows of each class over training and test rows, from public descriptions of the sets.
CLASS_COUNTS = {
    "kdd99-10pc": {"normal": 97278, "dos": 391458, "probe": 4107, "r2l": 1126, "u2r": 52},
    "shuttle": {1: 45586, 2: 50, 3: 171, 4: 8903, 5: 3267, 6: 10, 7: 13},
    "usps": dict(enumerate([1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821])),
    "pendigits": dict(enumerate([1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055])),
    "heart-failure": {0: 203, 1: 96},
    "wine-quality-red": {1: 217, -1: 1382},
    "magic": {"g": 12332, "h": 6688},
    "room-occupancy": {1: 1901, -1: 8228},
    "covtype": {1: 297711, 2: 283301},
    "a9a": {1: 11687, -1: 37155},
}


@pytest.mark.mirror
@pytest.mark.skipif(not MIRROR, reason="needs real files: FWSVM_MIRROR")
@pytest.mark.parametrize("name", [unless_large(name, name) for name in CLASS_COUNTS])
def test_classes_are_as_many_as_the_world_knows(
    name: str, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FWSVM_CACHE", str(shared_cache))
    loaded = data.load(name, offline=True)
    parts = [loaded.train.labels] + ([loaded.test.labels] if loaded.test else [])
    counts = Counter(label for labels in parts for label in labels.tolist())
    assert counts == CLASS_COUNTS[name]


@pytest.mark.mirror
@pytest.mark.skipif(not MIRROR, reason="needs real files: FWSVM_MIRROR")
@pytest.mark.parametrize("name", ["a1a", "a2a", "a4a", "a5a", "a7a"])
def test_the_rest_of_adult_is_derived_byte_for_byte(
    name: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("a9a", name):
        (tmp_path / file).symlink_to(Path(str(MIRROR)) / file)
    monkeypatch.setenv("FWSVM_MIRROR", str(tmp_path))
    derived = data.load(name, offline=True)
    assert any("was derived, as its digest confirms" in notice for notice in derived.notices)
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path / "another"))
    monkeypatch.setenv("FWSVM_MIRROR", str(MIRROR))
    assert data.load(name, offline=True).fingerprint == derived.fingerprint
