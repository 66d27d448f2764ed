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
from typing import Any

from fwsvm.errors import DataError, UsageError

ATTEMPTS = 4
CHUNK = 1 << 16
SECONDS_TO_CONNECT = 10.0
HTML_PAGE = "an HTML page came in place of the data"
#: Words of errors of requests and urllib3, what they mean, and whether another attempt may succeed.
REASONS = {
    "NameResolution": ("no such host, or no network", False),
    "timed out": ("the server does not answer", True),
    "Connection refused": ("connection refused", True),
    "IncompleteRead": ("the connection broke off in mid-file", True),
    "InvalidSchema": ("plain http is only for files whose digest is pinned", False),
    "SSL": ("the secure connection failed", False),
    "": ("the server's answer is not HTTP, or broke off", True),
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
            return cls(mirror=named or None, seconds=float(said), **more)
        except ValueError:
            raise UsageError(f"FWSVM_FETCH_SECONDS must be a number of seconds, not {said!r}") from None


def download(
    url: str, part: Path, size: int | None, limit: int, options: FetchOptions, *, plain_http: bool
) -> None:
    """Append the rest of a file to its ``.part``, or write all of it; raise `FetchError` after the last attempt.

    A file that ends before its ``size`` in bytes, where that is known, is asked for again from there. `DataError` where
    the file has more bytes than ``limit``, `OSError` where it cannot be written.
    """
    deadline = time.monotonic() + options.seconds
    part.parent.mkdir(parents=True, exist_ok=True)
    options.say(f"fetching {url}")
    with options.bar(part.stem, size) as told:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                _attempt(url, part, size, limit, options, deadline, told, plain_http=plain_http)
                break
            except FetchError as failure:
                wait = options.pause * 2 ** (attempt - 1)
                if not failure.again or attempt == ATTEMPTS or time.monotonic() + wait > deadline:
                    raise
                options.say(f"{url}: {failure}; attempt {attempt + 1} of {ATTEMPTS} in {wait:g} s")
                time.sleep(wait)


def _attempt(
    url: str,
    part: Path,
    size: int | None,
    limit: int,
    options: FetchOptions,
    deadline: float,
    told: Callable[[int], None],
    *,
    plain_http: bool,
) -> None:
    """Append what a server sends to the file."""
    import requests
    import urllib3

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
        why, again = next(reason for sign, reason in REASONS.items() if sign in repr(error))
        raise FetchError(why, again=again) from None
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
