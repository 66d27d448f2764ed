"""``fwsvm data fetch``, ``path`` and ``lock`` with ``--source``: the files of that source, and of no other."""

import hashlib
from pathlib import Path

import pytest
import yaml

from fwsvm.data.lock import lockfile
from tests.cli.running import done
from tests.data.conftest import cache, site
from tests.data.site import Site

__all__ = ["cache", "site"]  # fixtures

ROWS = {name: b"".join(b"%d 1:%d\n" % (1 - 2 * (i % 2), i + first) for i in range(40))
        for name, first in (("near", 1), ("far", 100))}  # fmt: skip


@pytest.fixture
def lock(cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a lock of two sets with two sources each; the digests of one set are known."""
    datasets = {
        name: {
            "title": name, "task": "binary", "classes": 2, "features": 1,
            "sources": {
                source: {
                    "loader": {"format": "svmlight"},
                    "train": [{"file": f"{source}.svm", "urls": [site.put(f"/{source}", content)],
                               "sha256": hashlib.sha256(content).hexdigest() if known else "unpinned",
                               "evidence": "D" if known else "unpinned"}],
                }
                for source, content in ROWS.items()
            },
        }
        for name, known in (("known", True), ("unsure", False))
    }  # fmt: skip
    evidence = {"D": "a single copy", "locked": "by hand", "unpinned": "no digest"}
    path = tmp_path / "datasets.lock"
    path.write_text(
        yaml.safe_dump({"version": 1, "evidence": evidence, "datasets": datasets}, sort_keys=False), "utf-8"
    )
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    monkeypatch.setattr(lockfile, "in_checkout", lambda: False)
    return path


def asked(site: Site) -> list[str]:
    return [path for path, _ in site.requests]


@pytest.mark.parametrize("source", ["near", "far"])
def test_the_source_that_is_named_is_fetched(lock: Path, site: Site, source: str) -> None:
    fetched = done("data", "fetch", "known", "--source", source).stdout
    assert fetched == f"known: 1 files, {len(ROWS[source]):,} bytes, source {source}, verified\n"
    assert asked(site) == [f"/{source}"]
    (path,) = done("data", "path", "known", "--source", source).stdout.splitlines()
    assert Path(path).read_bytes() == ROWS[source]
    assert Path(path).name == f"{source}.svm"


def test_the_paths_are_those_of_the_source(lock: Path, site: Site) -> None:
    done("data", "fetch", "known", "--source", "far")
    (any_source,) = done("data", "path", "known").stdout.splitlines()
    assert Path(any_source).read_bytes() == ROWS["far"]
    done("data", "path", "known", "--source", "near", code=3)
    done("data", "fetch", "known", "--source", "near")
    for words, source in (((), "near"), (("--source", "near"), "near"), (("--source", "far"), "far")):
        (path,) = done("data", "path", "known", *words).stdout.splitlines()
        assert Path(path).read_bytes() == ROWS[source]


@pytest.mark.parametrize(("words", "source"), [((), "near"), (("--source", "far"), "far")])
def test_the_digest_that_is_recorded_is_of_the_source(
    lock: Path, site: Site, words: tuple[str, ...], source: str
) -> None:
    said = done("data", "lock", "unsure", *words).stdout
    assert f"{source}.svm: new, from {site.address}/{source}" in said
    assert asked(site) == [f"/{source}"]
    entry = lockfile.read().entries["unsure"]
    digests = {each.name: each.train[0].sha256 for each in entry.sources}
    other = {"near": "far", "far": "near"}[source]
    assert digests == {source: hashlib.sha256(ROWS[source]).hexdigest(), other: None}


@pytest.mark.parametrize("command", ["fetch", "path", "lock"])
def test_a_source_that_there_is_not_is_answered_by_those_there_are(
    lock: Path, site: Site, command: str
) -> None:
    said = done("data", command, "known", "--source", "nowhere", code=2).stderr
    assert said == "fwsvm: known has no source 'nowhere'; it has: near, far\n"
    assert asked(site) == []
