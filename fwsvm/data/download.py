"""One URL into one ``.part`` file: resumed, retried with back-off, never an HTML page in place of data."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

#: What a download is compressed with by itself, so that the server's transport encoding must not be undone.
COMPRESSED = (".gz", ".bz2", ".xz", ".Z", ".zip")


class Bar(Protocol):
    """What pooch's downloader tells its progress bar."""

    total: int

    def update(self, count: int) -> None: ...  # noqa: D102
    def reset(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Patience:
    """How long to wait and how often to try again; the n-th retry waits ``pause`` 2^n seconds."""

    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    attempts: int = 4
    pause: float = 1.0


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
    offset: int = field(init=False)

    def __post_init__(self) -> None:
        self.offset = self.part.stat().st_size if self.part.is_file() else 0

    def inspect(self, response: Any, *_args: Any, **_kwargs: Any) -> None:
        """Judge a response by its head; called by requests for each, redirects included."""
        if response.is_redirect:
            target = response.headers["location"]
            if urlsplit(target).scheme == "http" and not self.plain_http:
                raise FetchError(f"redirects to plain http ({target})", again=False)
            return
        status = response.status_code
        if status == 416:  # nothing beyond what we have: the part is not the beginning of this file
            self.part.write_bytes(b"")
            raise FetchError("the partial download does not fit the file there", again=True)
        if status >= 400:
            raise FetchError(f"HTTP status {status}", again=status >= 500 or status in (408, 429))
        if "text/html" in response.headers.get("content-type", "").lower():
            raise FetchError("an HTML page came in place of the data", again=False)
        if status == 206 and response.headers.get("content-range", "").startswith(f"bytes {self.offset}-"):
            pass  # what follows belongs behind what we have
        else:
            self.part.write_bytes(b"")
            self.offset = 0
        if self.name.endswith(COMPRESSED):  # a .gz stays a .gz even where the server calls it an encoding
            response.raw.headers.discard("content-encoding")


def download(
    url: str,
    part: Path,
    *,
    size: int | None,
    plain_http: bool,
    patience: Patience,
    bar: Bar | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Append the rest of ``url`` to ``part``, or all of it; raise `FetchError` when patience is at its end.

    ``size`` is the expected number of bytes, where known: a shorter file is asked for again, from where it
    ends.
    """
    for attempt in range(1, patience.attempts + 1):
        try:
            _attempt(url, part, size, plain_http, patience, bar)
        except FetchError as failure:
            if not failure.again or attempt == patience.attempts:
                raise
            wait = patience.pause * 2 ** (attempt - 1)
            say(f"{url}: {failure}; attempt {attempt + 1} of {patience.attempts} in {wait:g} s")
            time.sleep(wait)
        else:
            return


def _attempt(
    url: str, part: Path, size: int | None, plain_http: bool, patience: Patience, bar: Bar | None
) -> None:
    import pooch
    import requests

    if size is not None and part.is_file() and part.stat().st_size >= size:
        if part.stat().st_size == size:
            return
        part.unlink()
    transfer = Transfer(part, part.name.removesuffix(".part"), plain_http)
    headers = {"Accept-Encoding": "identity"} | (
        {"Range": f"bytes={transfer.offset}-"} if transfer.offset else {}
    )
    fetch = pooch.HTTPDownloader(
        progressbar=bar if bar is not None else False,
        chunk_size=1 << 14,  # what a broken connection loses at most
        headers=headers,
        timeout=(patience.connect_seconds, patience.read_seconds),
        hooks={"response": transfer.inspect},
    )
    try:
        with (
            part.open("ab") as file,
            contextlib.closing(bar) if bar is not None else contextlib.nullcontext(),
        ):
            fetch(url, file, None)
    except (requests.exceptions.SSLError, requests.exceptions.InvalidURL) as error:
        raise FetchError(_reason(error), again=False) from None
    except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
        raise FetchError(_reason(error), again="NameResolution" not in repr(error)) from None
    except requests.exceptions.RequestException as error:
        raise FetchError(_reason(error), again=True) from None
    _refuse_page(part)
    if size is not None and part.stat().st_size < size:
        raise FetchError(f"the file ended after {part.stat().st_size:,} of {size:,} bytes", again=True)


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
        ("Read timed out", "the server stopped answering"),
        ("ReadTimeout", "the server stopped answering"),
        ("ConnectTimeout", "the server does not answer"),
        ("Connection refused", "connection refused"),
        ("IncompleteRead", "the connection broke off in mid-file"),
        ("SSL", "the secure connection failed"),
    ):
        if sign in text:
            return words
    return f"{type(error).__name__}"
