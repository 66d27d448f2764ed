"""Whatever a server does, a download ends in a sentence, in bounded time and memory."""

import gzip
import hashlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from fwsvm.data.fetching import connections
from fwsvm.data.fetching.download import Timeouts
from fwsvm.data.fetching.obtaining import obtain
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.errors import DataError, UsageError
from tests.data.site import PATIENT, Site
from tests.data.test_fetch import CONTENT, a_file, an_entry, final_path

OK = b"HTTP/1.1 200 OK\r\n"


def endless(start: bytes, more: bytes) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    """Send something for ever."""

    def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(start)
        for _ in range(1 << 40):
            handler.wfile.write(more)

    return answer


def dripping(start: bytes, site: Site) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    """Send a byte every tenth of a second, less often than which nobody would wait for in a test."""

    def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(start)
        while not site.release.wait(0.1):
            handler.wfile.write(b"1")

    return answer


def raw(answer: bytes) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    return lambda handler, _: handler.wfile.write(answer) and None


def refusal(site: Site, *behaviours: Callable[[BaseHTTPRequestHandler, bytes], None], **more: object) -> str:
    """Fetch what is served so, and return what is said; nothing may be under the final name."""
    entry = an_entry(a_file(site.put("/tiny", CONTENT, *behaviours), **more))
    with pytest.raises(DataError) as error:
        obtain(entry, None, FetchOptions(timeouts=PATIENT))
    assert not final_path(entry).exists()
    part = final_path(entry).with_name("tiny.part")
    assert not part.is_file() or part.stat().st_size <= len(CONTENT)
    return str(error.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OK + b"Content-Length: abc\r\n\r\n", "announces 'abc' as its length"),
        (OK + b"Content-Length: -5\r\n\r\n", "announces '-5' as its length"),
        (OK + b"Content-Length: 99999999999999999999\r\n\r\n", "as its length"),
        (OK + b"Content-Length: 70000\r\n\r\n", "has 70,000 bytes or more, datasets.lock says"),
        (
            OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(CONTENT),
            "encoding 'gzip', which was not asked",
        ),
        (OK + b"Content-Encoding: br, gzip\r\n\r\n", "which was not asked"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", "which is no web address"),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", "which is no web address"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://a:99999/\r\n\r\n", "which is no web address"),
        (b"HTTP/1.1 302 Found\r\nLocation: /tiny\r\n\r\n", "more than 10 redirects"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "broke off"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500 + b"\r\n", "not HTTP"),
        (b"", "broke off"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "HTTP status 204"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_sentence(
    answer: bytes, said: str, cache: Path, site: Site
) -> None:
    assert said in refusal(site, raw(answer))


@pytest.mark.parametrize(
    ("start", "more", "said"),
    [
        (OK + b"\r\n", b"1 1:1\n" * 1000, "bytes or more, datasets.lock says"),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n",
            b"6\r\n1 1:1\n\r\n" * 1000,
            "bytes or more, datasets.lock says",
        ),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 4096, "broke off"),
        (OK, b"a: " + b"b" * 4096, "not HTTP"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", b"x" * 4096, "which is no web address"),
        (b"HTTP/1.1 302 Found\r\nLocation: /gone\r\n\r\n", b"x" * 4096, "HTTP status 404"),
    ],
    ids=["body", "chunks", "chunk-size", "header", "bad-redirect", "redirect"],
)
def test_an_answer_without_an_end_is_left(
    start: bytes, more: bytes, said: str, cache: Path, site: Site
) -> None:
    assert said in refusal(site, endless(start, more))


@pytest.fixture
def often_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look after a fifth of a second, not after two minutes, whether enough came.

    The longest silence stays a minute: nothing but how little comes can end a download.
    """
    real = connections.Watchdog

    def watchdog(seconds: float, slow_seconds: float, least: int) -> connections.Watchdog:
        assert slow_seconds == 2 * PATIENT.read_seconds
        return real(seconds, 0.2, least)

    monkeypatch.setattr(connections, "Watchdog", watchdog)


@pytest.mark.usefixtures("often_looked_at")
def test_a_server_that_only_says_continue_is_left(cache: Path, site: Site) -> None:
    said = refusal(site, endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"))
    assert "sent less than 16,384 bytes in 0.2 s" in said


@pytest.mark.usefixtures("often_looked_at")
@pytest.mark.parametrize("start", [b"", OK, OK + b"\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"])
def test_an_answer_that_drips_is_left(start: bytes, cache: Path, site: Site) -> None:
    said = refusal(site, dripping(start, site))
    assert "sent less than 16,384 bytes in 0.2 s" in said


def test_a_download_has_a_deadline_for_all_its_attempts(cache: Path, site: Site) -> None:
    def steady(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(OK + b"\r\n")
        while not site.release.wait(0.02):
            handler.wfile.write(b"1 1:1\n" * 1000)

    size = 1 << 30
    entry = an_entry(a_file(site.put("/tiny", CONTENT, steady), bytes=size))
    patience = Timeouts(read_seconds=60.0, attempts=3, pause=0.01, whole_seconds=0.3)
    with pytest.raises(DataError, match=r"not complete after 0\.3 s"):
        obtain(entry, None, FetchOptions(timeouts=patience))


def test_a_file_of_unknown_size_has_a_limit(cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwsvm.data.fetching.download.MAX_BYTES", len(CONTENT) - 1)
    said = refusal(site, endless(OK + b"\r\n", b"1 1:1\n" * 1000), bytes=None)
    assert f"{len(CONTENT) - 1:,} are the limit" in said


def test_chunks_and_redirects_are_followed(cache: Path, site: Site) -> None:
    def chunked(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.wfile.write(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(content), 999):
            piece = content[at : at + 999]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n")

    site.put("/there", CONTENT, chunked)
    here = site.put(
        "/here", b"", raw(b"HTTP/1.1 301 Moved\r\nLocation: ../there\r\nContent-Length: 0\r\n\r\n")
    )
    got = obtain(an_entry(a_file(here)), None, FetchOptions(timeouts=PATIENT))
    assert hashlib.sha256(got.files["tiny"][0].read_bytes()).digest() == hashlib.sha256(CONTENT).digest()


def test_what_cannot_be_a_mirror_or_a_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="neither a folder nor a web address"):
        FetchOptions.default("http://[::1")
    for said in ("soon", "0", "nan", "-1"):
        monkeypatch.setenv("FWSVM_FETCH_SECONDS", said)
        with pytest.raises(UsageError, match="FWSVM_FETCH_SECONDS"):
            FetchOptions.default()
    monkeypatch.setenv("FWSVM_FETCH_SECONDS", "7.5")
    assert FetchOptions.default().timeouts.whole_seconds == 7.5
