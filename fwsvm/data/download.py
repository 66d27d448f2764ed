"""One URL into one ``.part`` file: within its size and its time, resumed and retried; and how to fetch.

Bodies are written as the server sends them: some servers name the compression of a ``.gz`` file as a transport
encoding, which a client would undo.
"""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fwsvm.errors import DataError, UsageError

ATTEMPTS = 4
CHUNK = 1 << 16
SECONDS_TO_CONNECT = 10.0
HTML_PAGE = "an HTML page came in place of the data"
#: Words of errors of requests and urllib3, and what they mean.
REASONS = {
    "NameResolution": "no such host, or no network",
    "timed out": "the server does not answer",
    "Connection refused": "connection refused",
    "IncompleteRead": "the connection broke off in mid-file",
    "InvalidSchema": "plain http is only for files whose digest is pinned",
    "SSL": "the secure connection failed",
}


class FetchError(Exception):
    """A download failed; ``again`` if another attempt may succeed."""

    def __init__(self, why: str, *, again: bool = False) -> None:
        super().__init__(why)
        self.again = again


@dataclass(frozen=True)
class FetchOptions:
    """Where to look for files, how long to wait, and whom to tell.

    Attributes
    ----------
    mirror : str or None
        A folder or URL that is tried first after the cache.
    offline : bool
    seconds, silence, pause : float
        Seconds for all attempts for one file; the longest silence of a server; the n-th retry waits ``pause`` 2^n.
    say : callable
        Receives lines of progress.
    bar : callable
        Returns, for a file of a given name and size (bytes, or None), a context of a function that is told how many
        bytes are there.
    """

    mirror: str | None = None
    offline: bool = False
    seconds: float = 3600.0
    silence: float = 30.0
    pause: float = 1.0
    say: Callable[[str], None] = lambda _: None
    bar: Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]] = lambda _name, _size: (
        nullcontext(lambda _: None)
    )

    @classmethod
    def default(
        cls, mirror: str | Path | None = None, *, seconds: float | None = None, **more: Any
    ) -> "FetchOptions":
        """Return options with the given mirror and seconds for each file, by default those of the environment.

        ``FWSVM_MIRROR`` names the mirror, ``FWSVM_FETCH_SECONDS`` the seconds. `UsageError` if they are neither.
        """
        named = str(mirror or os.environ.get("FWSVM_MIRROR") or "")
        if "://" in named and not named.startswith(("http://", "https://")):
            raise UsageError(f"mirror {named!r}: neither a folder nor a web address")
        said = seconds or os.environ.get("FWSVM_FETCH_SECONDS") or cls.seconds
        try:
            allowed = float(said)
        except ValueError:
            allowed = 0.0
        if not 0 < allowed < float("inf"):
            raise UsageError(f"FWSVM_FETCH_SECONDS must be a number of seconds above 0, not {said!r}")
        return cls(mirror=named or None, seconds=allowed, **more)


def is_local(url: str) -> bool:
    """Whether a URL is of a server on this computer."""
    return urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}


class Wanted(NamedTuple):
    """A file to download: where it is and goes, its size in bytes if that is known, and what else it may be."""

    url: str
    part: Path
    size: int | None
    limit: int
    plain_http: bool


def download(wanted: Wanted, options: FetchOptions) -> None:
    """Append the rest of a file to its ``.part``, or write all of it; raise `FetchError` after the last attempt.

    A file that ends early is asked for again from there. `DataError` where the file is too large, `OSError` where it
    cannot be written.
    """
    deadline = time.monotonic() + options.seconds
    wanted.part.parent.mkdir(parents=True, exist_ok=True)
    options.say(f"fetching {wanted.url}")
    with options.bar(wanted.part.stem, wanted.size) as told:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return _attempt(wanted, options, deadline, told)
            except FetchError as failure:
                wait = options.pause * 2 ** (attempt - 1)
                if not failure.again or attempt == ATTEMPTS or time.monotonic() + wait > deadline:
                    raise
                again = f"attempt {attempt + 1} of {ATTEMPTS} in {wait:g} s"
                options.say(f"{wanted.url}: {failure}; {again}")
                time.sleep(wait)
    return None


def _attempt(wanted: Wanted, options: FetchOptions, deadline: float, told: Callable[[int], None]) -> None:
    import requests
    import urllib3

    url, part, size, limit, plain_http = wanted
    done = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    waits = (SECONDS_TO_CONNECT, options.silence)
    try:
        with requests.Session() as session:
            if not plain_http:
                del session.adapters["http://"]
            with session.get(url, headers=headers, stream=True, timeout=waits) as response:
                done = _start(response, part, done)
                announced = done + int(response.headers.get("content-length") or 0)
                with part.open("ab" if done else "wb") as file:
                    while chunk := response.raw.read1(CHUNK, decode_content=False):
                        if not done and chunk.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
                            raise FetchError(HTML_PAGE)
                        done += len(chunk)
                        if max(done, announced) > limit:
                            raise DataError(f"the file there has more than the {limit:,} bytes allowed")
                        if time.monotonic() > deadline:
                            raise FetchError(f"the download was not complete after {options.seconds:g} s")
                        file.write(chunk)
                        told(done)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        said = repr(error)
        why = next((words for sign, words in REASONS.items() if sign in said), "")
        passing = not isinstance(error, ValueError) and not any(x in said for x in ("NameResolution", "SSL"))
        why = why or f"the server's answer is not HTTP, or broke off ({type(error).__name__})"
        raise FetchError(why, again=passing) from None
    if size is not None and done < size:
        raise FetchError(f"the file ended after {done:,} of {size:,} bytes", again=True)


def _start(response: Any, part: Path, done: int) -> int:
    """Return at which byte of the file a response's body starts; raise `FetchError` where it is not the file."""
    status, headers = response.status_code, response.headers
    if status == 416 or (status == 206 and not headers.get("content-range", "").startswith(f"bytes {done}-")):
        part.unlink()
        raise FetchError("the partial download does not fit the file there", again=True)
    if status not in (200, 206):
        said = "HTTP status 404, the address is gone" if status == 404 else f"HTTP status {status}"
        raise FetchError(said, again=status >= 500 or status in (408, 429))
    if "text/html" in headers.get("content-type", "").lower():
        raise FetchError(HTML_PAGE)
    return done if status == 206 else 0
