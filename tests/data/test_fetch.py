"""Fetching: whatever a server does, nothing wrong ever stands under a file's final name."""

import gzip
import hashlib
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from fwsvm.data import catalogue, fetching
from fwsvm.data.fetching import obtain
from fwsvm.data.lockfile import DataSource, Entry, RawFile
from fwsvm.errors import DataError
from tests.data import site as serve
from tests.data.site import Site, endless, raw

CONTENT = b"".join(b"%d 1:%d 3:0.5\n" % (1 - 2 * (i % 2), i) for i in range(4000))


OK = b"HTTP/1.1 200 OK\r\n"


def a_file(*urls: str, content: bytes = CONTENT, name: str = "tiny", **more: object) -> RawFile:
    facts: dict[str, object] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} | more
    evidence = "B" if facts["sha256"] or facts.get("md5") else "unpinned"
    return RawFile(**{"file": name, "folder": "tiny/web", "urls": urls, "evidence": evidence} | facts)  # type: ignore[arg-type]


def a_source(name: str, *files: RawFile, **more: object) -> DataSource:
    facts = {"name": name, "loader": {"format": "svmlight"}, "train": files} | more
    return DataSource(**facts)  # type: ignore[arg-type]


def of_sources(*sources: DataSource, **more: object) -> Entry:
    facts = {"name": "tiny", "title": "Tiny", "task": "binary", "classes": 2, "features": 3} | more
    return Entry(**facts, sources=sources)  # type: ignore[arg-type]


def an_entry(*files: RawFile) -> Entry:
    return of_sources(a_source("web", *files))


def fetched(entry: Entry, *, offline: bool = False) -> Path:
    obtain(entry, offline=offline)
    return final_path(entry)


def final_path(entry: Entry) -> Path:
    return entry.sources[0].train[0].path


def test_a_good_file_arrives_whole_and_is_not_asked_for_again(cache: Path, site: Site) -> None:
    entry = an_entry(a_file(site.put("/tiny", CONTENT)))
    path = fetched(entry)
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(cache)
    (cache / "other").touch()
    assert path.stat().st_mode == (cache / "other").stat().st_mode  # users may share a cache
    fetched(entry)
    assert site.requests == ["/tiny"]
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny", "tiny.lock"]


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (serve.status(404), "HTTP status 404"),
        (serve.page, "HTML page"),
        (serve.truncated, "datasets.lock says"),
        (serve.dies, "broke off in mid-file"),
        (serve.wrong, "datasets.lock says"),
        (serve.too_much, "more than the"),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "not HTTP"),
        (endless(OK + b"\r\n", b"1 1:1\n" * 1000), "more than the"),
    ],
)
def test_a_bad_answer_leaves_nothing_under_the_final_name(
    behaviour: serve.Behaviour, said: str, cache: Path, site: Site
) -> None:
    url = site.put("/tiny", CONTENT, behaviour)
    entry = an_entry(a_file(url))
    with pytest.raises(DataError) as error:
        fetched(entry)
    assert said in str(error.value)
    assert url in str(error.value)
    assert "fwsvm data add tiny FILE" in str(error.value)
    assert not final_path(entry).exists()


def test_a_server_that_falls_silent_is_left_and_all_attempts_have_a_deadline(
    cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SILENCE", 0.1)
    entry = an_entry(a_file(site.put("/tiny", CONTENT, serve.stalls(site))))
    with pytest.raises(DataError, match="does not answer"):
        fetched(entry)
    assert not final_path(entry).exists()

    def dripping(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(OK + b"\r\n")
        while not site.release.wait(0.02):
            handler.wfile.write(b"1")

    entry = an_entry(a_file(site.put("/tiny", CONTENT, dripping)))
    monkeypatch.setattr(fetching, "SILENCE", 30.0)  # or a busy machine is silent for longer than that
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    with pytest.raises(DataError, match=r"not complete after 0\.3 s"):
        fetched(entry)


def test_wrong_bytes_are_not_kept_and_both_digests_are_named(cache: Path, site: Site) -> None:
    entry = an_entry(a_file(site.put("/tiny", CONTENT, serve.wrong), evidence="D"))
    with pytest.raises(DataError) as error:
        fetched(entry)
    for content in (CONTENT, CONTENT[::-1]):
        assert hashlib.sha256(content).hexdigest() in str(error.value)
    assert "data lock tiny --source web --accept" in str(error.value)
    assert [path.name for path in final_path(entry).parent.iterdir()] == ["tiny.lock"]


def test_a_file_is_verified_by_its_md5_where_no_sha256_is_known(cache: Path, site: Site) -> None:
    good, other = (hashlib.md5(content, usedforsecurity=False).hexdigest() for content in (CONTENT, b""))
    url = site.put("/tiny", CONTENT)
    with pytest.raises(DataError, match=f"md5 is {good}, datasets.lock says {other}"):
        fetched(an_entry(a_file(url, sha256=None, bytes=None, md5=other)))
    assert fetched(an_entry(a_file(url, sha256=None, bytes=None, md5=good))).read_bytes() == CONTENT


def test_a_part_left_by_a_kill_is_not_used_and_is_pruned(cache: Path, site: Site) -> None:
    entry = an_entry(a_file(site.put("/tiny", CONTENT)))
    part = final_path(entry).with_name("tmp")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * (len(CONTENT) + 5))
    assert fetched(entry).read_bytes() == CONTENT
    assert part in {path for path, _ in fetching.prune(dry_run=False)}
    assert not part.exists()


def test_a_gz_file_stays_as_it_came_even_where_the_server_calls_it_an_encoding(
    cache: Path, site: Site
) -> None:
    packed = gzip.compress(CONTENT)
    url = site.put("/tiny.gz", packed, serve.as_encoding)
    assert fetched(an_entry(a_file(url, content=packed, name="tiny.gz"))).read_bytes() == packed


def test_offline_asks_nobody(cache: Path, site: Site) -> None:
    entry = an_entry(a_file(site.put("/tiny", CONTENT)))
    with pytest.raises(DataError, match="offline"):
        fetched(entry, offline=True)
    assert site.requests == []
    fetched(entry)
    assert fetched(entry, offline=True).read_bytes() == CONTENT


def test_a_mirror_folder_comes_first_and_its_bytes_count_as_any_others(
    cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FWSVM_MIRROR", str(tmp_path))
    (tmp_path / "tiny").write_bytes(CONTENT)
    entry = an_entry(a_file(site.put("/tiny", CONTENT)))
    path = fetched(entry)
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(cache)
    assert site.requests == []
    path.unlink()
    (tmp_path / "tiny").write_bytes(CONTENT[::-1])
    with pytest.raises(DataError, match=r"datasets\.lock says"):
        fetched(entry, offline=True)
    assert fetched(entry).read_bytes() == CONTENT


def test_a_mirror_may_be_a_url(cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FWSVM_MIRROR", f"{site.address}/mirror/")
    site.put("/mirror/tiny", CONTENT)
    assert fetched(an_entry(a_file())).read_bytes() == CONTENT
    site.put("/mirror/other", CONTENT, serve.wrong)
    with pytest.raises(DataError, match=r"datasets\.lock says"):
        fetched(an_entry(a_file(name="other")))


def test_plain_http_is_for_pinned_files_mirrors_and_this_machine(cache: Path) -> None:
    entry = an_entry(a_file("http://example.invalid/tiny", sha256=None, bytes=None))
    with pytest.raises(DataError, match="plain http is only for files whose digest is pinned"):
        fetched(entry)


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
from fwsvm.errors import DataError
from tests.data.test_fetch import a_file, an_entry, fetched
try:
    fetched(an_entry(a_file(sys.argv[1])))
except DataError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="no RLIMIT_FSIZE")
def test_a_full_disk_is_one_sentence_and_no_file(cache: Path, site: Site) -> None:
    url = site.put("/tiny", CONTENT)
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, url], capture_output=True, text=True, timeout=120, check=True
    )
    assert "cannot be written" in ran.stdout
    assert "free some space" in ran.stdout
    assert not final_path(an_entry(a_file(url))).exists()


def test_the_source_at_hand_comes_before_the_one_to_fetch(
    cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = a_source("first", a_file(site.put("/tiny", CONTENT)))
    other = CONTENT + b"1 1:2\n"
    entry = of_sources(first, a_source("second", a_file(content=other, name="copy")))
    (tmp_path / "copy").write_bytes(other)
    monkeypatch.setenv("FWSVM_MIRROR", str(tmp_path))
    assert obtain(entry).source.name == "second"
    assert obtain(entry, "first").source.name == "first"
    assert obtain(entry).source.name == "first"


@pytest.mark.parametrize(
    ("loader", "features", "said"),
    [
        ({"format": "svmlight"}, 2, "3 features where datasets.lock says 2"),
        ({"format": "csv", "label": 0}, 3, "2 features where datasets.lock says 3"),
        ({"format": "svmlight"}, 4, ""),
    ],
)
def test_columns_are_neither_cut_nor_made_up_in_silence(
    cache: Path, site: Site, loader: dict[str, object], features: int, said: str
) -> None:
    content = CONTENT if loader["format"] == "svmlight" else b"1,2,3\n-1,4,5\n1,0,7\n-1,1,1\n"
    source = a_source("web", a_file(site.put("/tiny", content), content=content), loader=loader)
    entry = of_sources(source, features=features)
    given: dict[str, Any] = {"source": None, "test": None, "seed": 0, "offline": False, "scale": None}
    if said:
        with pytest.raises(DataError, match=said):
            catalogue.load(entry, **given)
    else:
        assert catalogue.load(entry, **given).train.features == features
