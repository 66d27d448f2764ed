"""``fwsvm data`` end to end: what is printed, what is written, what is returned."""

import hashlib
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from fwsvm.data import lockfile
from tests.cli.running import done
from tests.data import site as serve
from tests.data.conftest import cache, site
from tests.data.site import Site

__all__ = ["cache", "site"]  # fixtures

TRAIN = b"".join(b"%d 1:%d 3:0.5\n" % (1 - 2 * (i % 2), i + 1) for i in range(40))
TEST = b"-1 2:1\n1 3:4\n"


def run(*words: object, code: int = 0) -> Result:
    return done("data", *words, code=code)


def write_lock(path: Path, train_url: str, test_url: str, **train: object) -> Path:
    """Write a small lock with one pinned set, one unpinned set and comments."""

    def file(name: str, url: str, content: bytes, **more: object) -> dict[str, object]:
        facts: dict[str, object] = {"file": name, "urls": [url], "verified": False, "bytes": len(content)}
        return facts | {"sha256": hashlib.sha256(content).hexdigest(), "evidence": "D"} | more

    entry = {"title": "Tiny", "task": "binary", "classes": 2, "features": 5}
    loader = {"format": "svmlight"}
    pinned = {
        **entry,
        "sources": {
            "web": {
                "loader": loader,
                "train": [file("t", train_url, TRAIN, **train)],
                "test": [file("t.t", test_url, TEST)],
            }
        },
    }
    unknown = {"file": "u", "urls": [train_url], "sha256": "unpinned", "evidence": "unpinned"}
    unpinned = {**entry, "sources": {"web": {"loader": loader, "train": [unknown]}}}
    raw = {
        "version": 1,
        "evidence": {"D": "a single copy", "locked": "by hand", "unpinned": "no digest"},
        "datasets": {"tiny": pinned, "unsure": unpinned},
    }
    path.write_text("# a comment to keep\n" + yaml.safe_dump(raw, sort_keys=False), "utf-8")
    return path


@pytest.fixture
def lock(cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a small lock; what the user records goes to the overlay in the cache."""
    path = write_lock(tmp_path / "datasets.lock", site.put("/t", TRAIN), site.put("/t.t", TEST))
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    return path


def test_list_names_every_set_in_80_columns(cache):
    lines = run("list").output.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[1:]] == list(lockfile.read().entries)
    said = dict(line.split(maxsplit=1) for line in lines[1:])
    assert said["wdbc"].split() == ["2", "569", "-", "30", "ready"]
    assert said["a1a"].split() == ["2", "1,605", "30,956", "123", "fetch"]
    assert said["usps-ext"].endswith("by hand")
    assert said["heart-failure"].split()[1] == "273"


@pytest.mark.parametrize("name", sorted(lockfile.read().entries))
def test_info_tells_all_files_within_the_page(name, cache):
    entry = lockfile.read().entries[name]
    output = run("info", name).output
    record = yaml.safe_load(output)
    assert record["scaling"] == entry.scaling
    for source in entry.sources:
        for file in source.files:
            assert file.file in output
            assert all(digest in output for digest in (file.sha256, file.md5) if digest)
            assert all(url in output for url in file.urls)


def test_info_of_an_unknown_name_is_one_line_with_near_names(cache):
    result = run("info", "shutle", code=2)
    assert "shuttle" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_fetch_verify_path_and_prune(lock, site, cache):
    fetched = run("fetch", "tiny")
    assert f"tiny: 2 files, {len(TRAIN) + len(TEST):,} bytes, source web, verified" in fetched.stdout
    assert site.address in fetched.stderr
    paths = run("path", "tiny").stdout.splitlines()
    assert [Path(p).read_bytes() for p in paths] == [TRAIN, TEST]
    assert "2 files whole" in run("verify").stdout
    Path(paths[0]).write_bytes(TRAIN[:-1])
    assert "datasets.lock says" in run("verify", "tiny", code=3).output
    run("fetch", "tiny")
    assert Path(paths[0]).read_bytes() == TRAIN
    assert Path(paths[0]).is_file()
    Path(paths[0]).unlink()
    assert "in 0 places" in run("prune").stdout
    run("path", "tiny", code=3)


def test_fetch_goes_on_after_a_failure_and_says_so(lock, site):
    site.put("/t.t", TEST, serve.status(404))
    result = run("fetch", "tiny", "unsure", code=3)
    assert "unsure: 1 file," in result.stdout
    assert "fwsvm data add tiny FILE" in result.stderr
    assert "1 of 2 data sets" in result.stderr
    assert "name the data sets" in run("fetch", code=2).stderr


def test_lock_records_what_it_found(lock, site):
    before = lock.read_text("utf-8")
    output = run("lock", "unsure").output
    digest = hashlib.sha256(TRAIN).hexdigest()
    for fact in (f"u: sha256 {digest}, in the lock unpinned", "40 rows", "recorded sha256"):
        assert fact in output
    file = lockfile.read().entries["unsure"].sources[0].train[0]
    assert (file.sha256, file.bytes, file.rows) == (digest, len(TRAIN), 40)
    assert (file.evidence, file.verified) == ("locked", True)
    run("fetch", "unsure", "--offline")
    assert lock.read_text("utf-8") == before
    assert f"in the lock sha256:{digest}" in run("lock", "unsure").output


def test_lock_replaces_a_digest_only_when_told_to(lock, site, cache):
    changed = TRAIN + b"1 1:3\n"
    site.put("/t", changed)
    assert "--accept" in run("lock", "tiny", code=3).stderr
    other = site.put("/t", TRAIN[::-1]) and hashlib.sha256(TRAIN[::-1]).hexdigest()
    refused = run("lock", "tiny", code=3).stderr
    assert all(said in refused for said in (hashlib.sha256(TRAIN).hexdigest(), other, "--accept"))
    site.put("/t", changed)
    assert lockfile.read().entries["tiny"].sources[0].train[0].sha256 == hashlib.sha256(TRAIN).hexdigest()
    assert not list(cache.rglob("t"))
    run("lock", "tiny", "--accept")
    file = lockfile.read().entries["tiny"].sources[0].train[0]
    assert (file.sha256, file.rows, file.evidence) == (hashlib.sha256(changed).hexdigest(), 41, "locked")
    assert Path(run("path", "tiny").stdout.splitlines()[0]).read_bytes() == changed


def test_add_takes_a_file_by_its_digest_whatever_its_name(lock, site, tmp_path):
    mine = tmp_path / "downloaded by hand.txt"
    mine.write_bytes(TRAIN)
    (tmp_path / "t.t").write_bytes(TEST)
    assert "/tiny/web/t\n" in run("add", "tiny", mine, tmp_path / "t.t").stdout
    run("fetch", "tiny", "--offline")
    (tmp_path / "t").write_bytes(TEST)
    (tmp_path / "t").write_bytes(TRAIN + b"\n")
    refused = run("add", "tiny", tmp_path / "t", code=3).stderr
    assert hashlib.sha256(TRAIN).hexdigest() in refused
    assert "--accept" in refused
    assert (
        "its files are: t, t.t"
        in run("add", "tiny", write_lock(tmp_path / "x", "http://a", "http://b"), code=3).stderr
    )
    assert site.requests == []


def test_add_makes_a_new_data_set(lock, site, tmp_path):
    (tmp_path / "mine.svm").write_bytes(TRAIN)
    (tmp_path / "mine.t").write_bytes(TEST)
    run("add", "mine", tmp_path / "mine.svm", tmp_path / "mine.t")
    from fwsvm import data

    loaded = data.load("mine", offline=True)
    assert loaded.train.X.shape == (40, 3)
    assert loaded.test is not None
    assert loaded.test.X.shape == (2, 3)
    assert data.load("mine", offline=True, scale="[0,1]").train.X.max() == 1.0
    one_class = tmp_path / "one.svm"
    one_class.write_bytes(b"1 1:1\n1 2:1\n")
    assert "two classes" in run("add", "one", one_class, code=3).stderr
    assert "one of test rows" in run("add", "other", *[one_class] * 3, code=2).stderr
    assert "'a b' is no name for a data set" in run("add", "a b", tmp_path / "mine.svm", code=2).stderr


@pytest.fixture
def mine(lock: Path, tmp_path: Path) -> Path:
    """Add a data set of the user's own and lock another, as a user does, and return the overlay."""
    (tmp_path / "mine.svm").write_bytes(TRAIN)
    run("add", "mine", tmp_path / "mine.svm")
    (tmp_path / "u").write_bytes(TRAIN)
    run("add", "unsure", tmp_path / "u")
    return lockfile.overlay_path()


def test_what_a_user_adds_and_locks_is_the_user_s(lock, mine):
    assert "mine" not in lock.read_text("utf-8")
    assert lock.read_text("utf-8").count("unpinned") == 3
    assert {line.split()[0]: line.split()[-1] for line in run("list").output.splitlines()[1:4]} == {
        "tiny": "fetch",
        "unsure": "ready",
        "mine": "ready",
    }
    for name in ("unsure", "mine"):
        assert "evidence: locked" in run("info", name).output


def test_remove_takes_back_what_was_added_and_locked(lock, mine, cache):
    assert f"mine: removed from {mine}" in run("remove", "mine").stdout
    assert "neither a file nor a name" in run("info", "mine", code=2).stderr
    assert "unsure: removed" in run("remove", "unsure").stdout
    assert not lockfile.read().entries["unsure"].sources[0].train[0].known_hash
    assert "nothing of it was added or locked" in run("remove", "tiny", code=2).stderr
    kept = cache / "data" / "mine" / "local" / "mine"
    assert kept.read_bytes() == TRAIN
    assert str(kept) in run("prune").stdout
    assert not kept.exists()


def test_prune_leaves_what_is_not_fwsvm_s(cache):
    theirs = [cache / each for each in ("data/raw/mine.csv", "data/results/web/runs.csv", "parsed/mine.txt")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    old = cache / "parsed" / ("b" * 32)  # as the version before named it
    old.mkdir()
    (old / "about.json").write_text('{"readers": "others"}')
    said = run("prune").stdout
    assert f"{old}: " in said
    assert "in 1 place\n" in said
    assert "in 0 places" in run("prune").stdout
    assert all(path.read_text() == "mine" for path in theirs)
    assert not old.exists()
