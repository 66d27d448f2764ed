"""One URL into one ``.part`` file: within its size and its time, resumed and retried; and how to fetch.

Bodies are written as the server sends them: some servers name the compression of a ``.gz`` file as a transport
encoding, which a client would undo.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from fwsvm.errors import UsageError

CHUNK = 1 << 16
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
#: Endings of compressed files; some servers name their compression as a transport encoding.
COMPRESSED = (".gz", ".bz2", ".xz", ".Z", ".zip")
HTML_PAGE = "an HTML page came in place of the data"


class FetchError(Exception):
    """A download failed; ``again`` if another attempt may succeed."""

    def __init__(self, why: str, *, again: bool = False) -> None:
        super().__init__(why)
        self.again = again


class ProgressBar(Protocol):
    """A progress bar."""

    total: int

    def update(self, count: int) -> None: ...  # noqa: D102
    def reset(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Timeouts:
    """How long to wait and how often to try again; the n-th retry waits ``pause`` 2^n seconds.

    ``read_seconds`` is the longest silence. All attempts for one file together end after ``whole_seconds``.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    attempts: int = 4
    pause: float = 1.0
    whole_seconds: float = 3600.0


@dataclass(frozen=True)
class FetchOptions:
    """Where to look for files, how long to wait, and whom to tell.

    ``mirror`` is a folder or URL that is tried first after the cache. ``say`` receives lines of progress, and ``bar``
    makes a progress bar for a file of a given name and size (bytes, or None), or returns None for no bar.
    """

    mirror: str | None = None
    offline: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    say: Callable[[str], None] = lambda _: None
    bar: Callable[[str, int | None], ProgressBar | None] = lambda _name, _size: None

    @classmethod
    def default(
        cls,
        mirror: str | Path | None = None,
        *,
        offline: bool = False,
        seconds: float | None = None,
        **more: object,
    ) -> "FetchOptions":
        """Return options with the given mirror and seconds for each file, by default those of the environment.

        ``FWSVM_MIRROR`` names the mirror, ``FWSVM_FETCH_SECONDS`` the seconds. `UsageError` if the mirror is a
        malformed URL or the seconds are not a positive number.
        """
        named = str(mirror) if mirror else os.environ.get("FWSVM_MIRROR") or None
        if named and "://" in named and not _is_url(named):
            raise UsageError(f"mirror {named!r}: neither a folder nor a web address")
        timeouts = Timeouts(whole_seconds=seconds or _seconds())
        return cls(mirror=named, offline=offline, timeouts=timeouts, **more)  # type: ignore[arg-type]


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _seconds() -> float:
    """Return the seconds that the environment allows for each file, or the default."""
    said = os.environ.get("FWSVM_FETCH_SECONDS") or str(Timeouts.whole_seconds)
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise UsageError(f"FWSVM_FETCH_SECONDS must be a number of seconds above 0, not {said[:40]!r}")
    return seconds


@dataclass(frozen=True)
class Limits:
    """What a download may be: its size in bytes where that is pinned, else at most how many, and why."""

    size: int | None
    most: int
    why: str
    plain_http: bool

    def too_much(self, found: int) -> FetchError:
        """Return the refusal of a body that is larger than the pinned size or the limit."""
        limit = f"datasets.lock says {self.size:,}" if self.size else f"{self.most:,} are the limit{self.why}"
        return FetchError(f"the file there has {found:,} bytes or more, {limit}")


def download(url: str, part: Path, limits: Limits, options: FetchOptions) -> None:
    """Append the rest of ``url`` to ``part``, or all of it; raise `FetchError` after the last attempt.

    A file of pinned size that ends early is asked for again from there.
    """
    if urlsplit(url).scheme != "https" and not limits.plain_http:
        raise FetchError("plain http is only for files whose digest is pinned")
    timeouts, name = options.timeouts, part.name.removesuffix(".part")
    deadline = time.monotonic() + timeouts.whole_seconds
    part.parent.mkdir(parents=True, exist_ok=True)
    options.say(f"fetching {url}")
    bar = options.bar(name, limits.size)
    for attempt in range(1, timeouts.attempts + 1):
        try:
            with _as_fetch_errors(), closing(bar) if bar is not None else nullcontext():
                _attempt(url, part, limits, timeouts, deadline, bar)
        except FetchError as failure:
            wait = timeouts.pause * 2 ** (attempt - 1)
            if not failure.again or attempt == timeouts.attempts or time.monotonic() + wait > deadline:
                raise
            options.say(f"{url}: {failure}; attempt {attempt + 1} of {timeouts.attempts} in {wait:g} s")
            time.sleep(wait)
        else:
            return


def _attempt(
    url: str, part: Path, limits: Limits, timeouts: Timeouts, deadline: float, bar: ProgressBar | None
) -> None:
    import requests

    offset = part.stat().st_size if part.is_file() else 0
    if limits.size is not None and offset == limits.size:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    waits = (timeouts.connect_seconds, timeouts.read_seconds)
    with requests.get(url, headers=headers, stream=True, timeout=waits) as response:
        offset = _checked(response, part, limits, offset)
        if bar is not None:
            bar.total = limits.size or 0
            bar.reset()
            bar.update(offset)
        with part.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.truncate()
            while chunk := response.raw.read1(CHUNK, decode_content=False):
                if not offset and chunk[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
                    raise FetchError(HTML_PAGE)
                offset += len(chunk)
                if offset > limits.most:
                    raise limits.too_much(offset)
                if time.monotonic() > deadline:
                    raise FetchError(f"the download was not complete after {timeouts.whole_seconds:g} s")
                with _disk_errors():
                    file.write(chunk)
                if bar is not None:
                    bar.update(len(chunk))
            with _disk_errors():
                file.flush()
    if limits.size is not None and offset < limits.size:
        raise FetchError(f"the file ended after {offset:,} of {limits.size:,} bytes", again=True)


def _checked(response: Any, part: Path, limits: Limits, offset: int) -> int:
    """Return from where a response's body continues the file; raise `FetchError` where it is not that file."""
    hops = [urlsplit(each.url).scheme for each in (*response.history, response)]
    if "http" in hops and not limits.plain_http:
        raise FetchError("redirects to plain http")
    status, headers = response.status_code, response.headers
    if status == 416:  # the part is not the beginning of this file
        part.unlink()
        raise FetchError("the partial download does not fit the file there", again=True)
    if status not in (200, 206):
        said = "HTTP status 404, the address is gone" if status == 404 else f"HTTP status {status}"
        raise FetchError(said, again=status >= 500 or status in (408, 429))
    if "text/html" in headers.get("content-type", "").lower():
        raise FetchError(HTML_PAGE)
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity") and not part.name.removesuffix(".part").endswith(COMPRESSED):
        raise FetchError(f"it came in the encoding {encoding[:40]!r}, which was not asked for")
    if status == 200:
        offset = 0
    elif not headers.get("content-range", "").startswith(f"bytes {offset}-"):
        part.unlink()
        raise FetchError("the server sent another part of the file than was asked for", again=True)
    length = headers.get("content-length", "")
    if length.isdecimal() and offset + int(length) > limits.most:
        raise limits.too_much(offset + int(length))
    return offset


class _DiskError(Exception):
    """The ``.part`` file cannot be written: no error of the network, so no reason to try again."""


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _DiskError from error


@contextmanager
def _as_fetch_errors() -> Iterator[None]:
    """Turn whatever the network raises into a `FetchError`; errors of the disk stay `OSError`."""
    import http.client

    import requests
    import urllib3

    try:
        yield
    except _DiskError as error:
        raise error.__cause__ or error from None
    except (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        http.client.HTTPException,
        ValueError,
    ) as error:
        hopeless = (requests.exceptions.SSLError, requests.exceptions.InvalidURL, ValueError)
        lost = "NameResolution" in repr(error)
        raise FetchError(_reason(error), again=not lost and not isinstance(error, hopeless)) from None


def _reason(error: Exception) -> str:
    text = repr(error)
    for sign, words in (
        ("NameResolution", "no such host, or no network"),
        ("ead timed out", "the server stopped answering"),
        ("ReadTimeout", "the server stopped answering"),
        ("ConnectTimeout", "the server does not answer"),
        ("Connection refused", "connection refused"),
        ("IncompleteRead", "the connection broke off in mid-file"),
        ("SSL", "the secure connection failed"),
        ("TooManyRedirects", "it redirects too often"),
    ):
        if sign in text:
            return words
    return f"the server's answer is not HTTP, or broke off ({type(error).__name__})"
