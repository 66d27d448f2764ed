"""How to fetch, and what pooch downloads with: a URL to a file, within its size and its time."""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fwsvm.errors import DataError, UnobtainableError

CHUNK = 1 << 16
LARGEST = 1 << 32  # bytes of a file whose size is not known
SECONDS_TO_CONNECT = 10.0
HTML = (b"<!doctype", b"<html")
#: Words of errors of requests and urllib3, and what they mean.
REASONS = {
    "NameResolution": "no such host, or no network",
    "timed out": "the server does not answer",
    "IncompleteRead": "the connection broke off in mid-file",
    "InvalidSchema": "plain http is only for files whose digest is pinned",
    "": "the connection failed, or the server's answer is not HTTP",
}


@dataclass(frozen=True)
class FetchOptions:
    """Where to look for files, how long to wait, and whom to tell.

    Attributes
    ----------
    mirror : str
        A folder or URL that is tried first after the cache; empty for none.
    offline : bool
    seconds, silence : float
        Seconds for a file, and the longest silence of a server.
    say : callable
        Receives lines of progress.
    bar : callable
        Returns, for a file of a given name and size (bytes, or None), a context of a function that is told how many
        bytes are there.
    """

    mirror: str = ""
    offline: bool = False
    seconds: float = 3600.0
    silence: float = 30.0
    say: Callable[[str], None] = lambda _: None
    bar: Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]] = lambda _name, _size: (
        nullcontext(lambda _: None)
    )

    @classmethod
    def default(cls, **more: Any) -> Self:
        """Return options with the mirror of ``FWSVM_MIRROR``, and ``FWSVM_FETCH_SECONDS`` for each file."""
        seconds = float(os.environ.get("FWSVM_FETCH_SECONDS") or cls.seconds)
        return cls(mirror=os.environ.get("FWSVM_MIRROR", ""), seconds=seconds, **more)


def receive(url: str, path: Path, size: int | None, options: FetchOptions, *, plain_http: bool) -> None:
    """Write the body that a server sends to a file, as it is: some servers call the compression of a file an encoding.

    `UnobtainableError` where the server does not send it, `DataError` where it sends more than ``size`` bytes,
    `OSError` where the file cannot be written.
    """
    import requests
    from urllib3.exceptions import HTTPError

    deadline, done, limit = time.monotonic() + options.seconds, 0, size or LARGEST
    options.say(f"fetching {url}")
    how: dict[str, Any] = {"stream": True, "timeout": (SECONDS_TO_CONNECT, options.silence)}
    try:
        with (
            options.bar(url.rpartition("/")[2], size) as told,
            requests.Session() as session,
            path.open("wb") as file,
        ):
            if not plain_http:
                del session.adapters["http://"]
            with session.get(url, headers={"Accept-Encoding": "identity"}, **how) as response:
                if response.status_code != 200:
                    raise UnobtainableError(f"HTTP status {response.status_code} {response.reason}")
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    if not done and chunk.lstrip()[:9].lower().startswith(HTML):
                        raise UnobtainableError("an HTML page came in place of the data")
                    done += len(chunk)
                    if done > limit:
                        raise DataError(f"the file there has more than the {limit:,} bytes allowed")
                    if time.monotonic() > deadline:
                        raise UnobtainableError(f"the download was not complete after {options.seconds:g} s")
                    file.write(chunk)
                    told(done)
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise UnobtainableError(
            next(said for words, said in REASONS.items() if words in repr(error))
        ) from None
