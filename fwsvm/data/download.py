"""One URL into one ``.part`` file: resumed, retried with back-off, and ended whatever the server does.

A download is bounded by the size that is pinned (or a limit where none is), by a deadline for all attempts, and by a
least speed. Nothing is unpacked on the way, redirects are followed one by one, and what cannot be the file (an HTML
page, more bytes, an encoding that was not asked for) is refused before it is kept.
"""

import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from fwsvm.data.lockvalue import is_address

#: What a download is compressed with by itself; some servers then name that as an encoding of the transport.
COMPRESSED = (".gz", ".bz2", ".xz", ".Z", ".zip")
MOST_REDIRECTS = 10
#: Bytes that a file may have whose size is not pinned.
MOST_BYTES = 4 << 30
CHUNK = 1 << 14
#: Fewer bytes than this in twice the time that silence is allowed end a download.
LEAST = 1 << 14


class Bar(Protocol):
    """A progress bar."""

    total: int

    def update(self, count: int) -> None: ...  # noqa: D102
    def reset(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Patience:
    """How long to wait and how often to try again; the n-th retry waits ``pause`` 2^n seconds.

    ``read_seconds`` is the longest silence; in twice that time at least `LEAST` bytes have to come. A file, with all
    attempts, has ``whole_seconds``.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    attempts: int = 4
    pause: float = 1.0
    whole_seconds: float = 3600.0


class FetchError(Exception):
    """A URL did not give the file; ``again`` where another attempt may."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


@dataclass
class Transfer:
    """The rules that one response has to keep before its body is written to ``part``."""

    part: Path
    name: str
    plain_http: bool
    size: int | None = None  # pinned
    most: int = MOST_BYTES
    offset: int = field(init=False)

    def __post_init__(self) -> None:
        self.offset = self.part.stat().st_size if self.part.is_file() else 0

    def inspect(self, response: Any) -> str | None:
        """Judge a response by its head; return where it redirects to, or None where the body is to be written."""
        if response.is_redirect:
            return self._target(response)
        status = response.status_code
        if status == 416:  # nothing beyond what we have: the part is not the beginning of this file
            self._begin_again()
            raise FetchError("the partial download does not fit the file there", again=True)
        if status not in (200, 206):
            raise FetchError(f"HTTP status {status}", again=status >= 500 or status in (408, 429))
        if "text/html" in response.headers.get("content-type", "").lower():
            raise FetchError("an HTML page came in place of the data", again=False)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity") and not self.name.endswith(COMPRESSED):
            raise FetchError(
                f"it came in the encoding {_shown(encoding)}, which was not asked for", again=False
            )
        if status == 206 and response.headers.get("content-range", "").startswith(f"bytes {self.offset}-"):
            pass  # what follows belongs behind what we have
        else:
            self._begin_again()
        self._check_length(response)
        return None

    def _begin_again(self) -> None:
        with _writing():
            self.part.write_bytes(b"")
        self.offset = 0

    def _target(self, response: Any) -> str:
        location = response.headers["location"]
        try:
            target = urljoin(response.url or "", location)
        except ValueError:
            target = ""
        if not is_address(target):
            raise FetchError(f"redirects to {_shown(location)}, which is no web address", again=False)
        if urlsplit(target).scheme == "http" and not self.plain_http:
            raise FetchError(f"redirects to plain http ({_shown(target)})", again=False)
        return target

    def _check_length(self, response: Any) -> None:
        said = response.headers.get("content-length")
        if said is None:
            return
        if not said.isdecimal() or not said.isascii() or len(said) > 18:
            raise FetchError(
                f"announces {_shown(said)} as its length, which is no number of bytes", again=False
            )
        if self.offset + int(said) > self.most:
            raise FetchError(self.too_much(self.offset + int(said)), again=False)

    def too_much(self, found: int) -> str:
        """Say that there are more bytes than there may be."""
        limit = (
            f"datasets.lock says {self.size:,}" if self.size is not None else f"{self.most:,} are the limit"
        )
        return f"the file there has {found:,} bytes or more, {limit}"


def download(
    url: str,
    part: Path,
    *,
    size: int | None,
    plain_http: bool,
    patience: Patience,
    most: int | None = None,
    bar: Bar | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Append the rest of ``url`` to ``part``, or all of it; raise `FetchError` when patience is at its end.

    ``size`` is the expected number of bytes, where known: a shorter file is asked for again, from where it
    ends, and a longer one is refused. Without it, ``most`` bytes are the limit (`MOST_BYTES` unless given).
    """
    deadline = time.monotonic() + patience.whole_seconds
    most = size if size is not None else most if most is not None else MOST_BYTES
    for attempt in range(1, patience.attempts + 1):
        try:
            transfer = Transfer(part, part.name.removesuffix(".part"), plain_http, size, most)
            _attempt(url, transfer, patience, deadline, bar)
        except FetchError as failure:
            wait = patience.pause * 2 ** (attempt - 1)
            if not failure.again or attempt == patience.attempts or time.monotonic() + wait > deadline:
                raise
            say(f"{url}: {failure}; attempt {attempt + 1} of {patience.attempts} in {wait:g} s")
            time.sleep(wait)
        else:
            return


def _attempt(url: str, transfer: Transfer, patience: Patience, deadline: float, bar: Bar | None) -> None:
    from fwsvm.data._connections import Watch, session

    part, size = transfer.part, transfer.size
    if size is not None and transfer.offset >= size:
        if transfer.offset == size:
            return
        part.unlink()
        transfer.offset = 0
    left = max(0.0, deadline - time.monotonic())
    watch = Watch(left, 2 * patience.read_seconds, LEAST)
    watch.seconds = patience.whole_seconds  # as it is told
    with (
        session(watch) as opened,
        part.open("ab", buffering=0) as file,
        _told(watch),
        closing(bar) if bar is not None else nullcontext(),
        _response(opened, url, transfer, patience) as response,
    ):
        if bar is not None:
            bar.total = transfer.most if size is not None else 0
            bar.reset()
            bar.update(transfer.offset)
        received = transfer.offset
        for chunk in _body(response):
            received += len(chunk)
            watch.received += len(chunk)
            if received > transfer.most:
                raise FetchError(transfer.too_much(received), again=False)
            with _writing():
                file.write(chunk)
            if bar is not None:
                bar.update(len(chunk))
    _refuse_page(part)
    if size is not None and part.stat().st_size < size:
        raise FetchError(f"the file ended after {part.stat().st_size:,} of {size:,} bytes", again=True)


@contextmanager
def _response(opened: Any, url: str, transfer: Transfer, patience: Patience) -> Iterator[Any]:
    """Give the response that has the file, after redirects, of whose bodies nothing is read."""
    headers = {"Accept-Encoding": "identity"}
    headers |= {"Range": f"bytes={transfer.offset}-"} if transfer.offset else {}
    for _ in range(MOST_REDIRECTS + 1):
        response = opened.get(
            url,
            headers=headers,
            stream=True,
            allow_redirects=False,
            timeout=(patience.connect_seconds, patience.read_seconds),
        )
        with closing(response):
            target = transfer.inspect(response)
            if target is None:
                yield response
                return
        url = target
    raise FetchError(f"more than {MOST_REDIRECTS} redirects", again=False)


def _body(response: Any) -> Iterator[bytes]:
    """Yield the bytes of a body as they come, never decoded; raise where it breaks off.

    It is read where http.client has it: its lines are bounded, those of urllib3's own reader are not.
    """
    body: http.client.HTTPResponse = response.raw._original_response  # noqa: SLF001
    left = body.length
    while chunk := body.read1(CHUNK):
        yield chunk
        left = left - len(chunk) if left is not None else None
    if left:
        raise http.client.IncompleteRead(b"", left)


class _WriteError(Exception):
    """The file cannot be written; not to be taken for an error of the network."""


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _WriteError from error


@contextmanager
def _told(watch: Any) -> Iterator[None]:
    """Turn whatever the network raises into a `FetchError`."""
    import requests
    import urllib3

    try:
        yield
    except _WriteError as error:
        raise error.__cause__ or error from None
    except FetchError:
        raise
    except (
        OSError,  # of requests, too
        urllib3.exceptions.HTTPError,
        http.client.HTTPException,
        ValueError,
    ) as error:
        if watch.why:
            raise FetchError(watch.why, again=False) from None
        hopeless = (requests.exceptions.SSLError, requests.exceptions.InvalidURL, ValueError)
        again = not isinstance(error, hopeless) and "NameResolution" not in repr(error)
        raise FetchError(_reason(error), again=again) from None
    if watch.why:
        raise FetchError(watch.why, again=False)


def _refuse_page(part: Path) -> None:
    with part.open("rb") as file:
        start = file.read(512).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        part.unlink()
        raise FetchError("an HTML page came in place of the data", again=False)


def _reason(error: Exception) -> str:
    text = repr(error)
    for sign, words in (
        ("NameResolution", "no such host, or no network"),
        ("ead timed out", "the server stopped answering"),
        ("ReadTimeout", "the server stopped answering"),
        ("TimeoutError", "the server stopped answering"),
        ("ConnectTimeout", "the server does not answer"),
        ("Connection refused", "connection refused"),
        ("IncompleteRead", "the connection broke off in mid-file"),
        ("SSL", "the secure connection failed"),
    ):
        if sign in text:
            return words
    return f"the server's answer is not HTTP, or broke off ({type(error).__name__})"


def _shown(word: str) -> str:
    return ascii(word if len(word) <= 100 else word[:97] + "...")
