"""One URL into one ``.part`` file: resumed, retried with back-off, and ended whatever the server does.

A download is bounded by the pinned size (or a limit if none is pinned), by a deadline for all attempts, and by a
minimum speed. Bytes are not decompressed on the way, and redirects are followed one by one. A body that cannot be the
file (an HTML page, more bytes than pinned, an encoding that was not requested) is refused before it is kept.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fwsvm.data.fetching.http_response import (
    MAX_BYTES,
    FetchError,
    LocalWriteError,
    ResponseRules,
    local_writes,
)

MAX_REDIRECTS = 10
CHUNK = 1 << 14
#: A download ends if fewer bytes arrive in twice `Timeouts.read_seconds`.
MIN_BYTES = 1 << 14


class ProgressBar(Protocol):
    """A progress bar."""

    total: int

    def update(self, count: int) -> None: ...  # noqa: D102
    def reset(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Timeouts:
    """How long to wait and how often to try again; the n-th retry waits ``pause`` 2^n seconds.

    ``read_seconds`` is the longest silence; in twice that time at least `MIN_BYTES` bytes must arrive. All
    attempts for one file together end after ``whole_seconds``.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    attempts: int = 4
    pause: float = 1.0
    whole_seconds: float = 3600.0


def download(
    url: str,
    part: Path,
    *,
    size: int | None,
    plain_http: bool,
    timeouts: Timeouts,
    most: int | None = None,
    bar: ProgressBar | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Append the rest of ``url`` to ``part``, or all of it; raise `FetchError` after the last attempt.

    ``size`` is the expected number of bytes, where known: a shorter file is asked for again, from where it
    ends, and a longer one is refused. Without it, ``most`` bytes are the limit (`MAX_BYTES` unless given).
    """
    deadline = time.monotonic() + timeouts.whole_seconds
    most = size if size is not None else most if most is not None else MAX_BYTES
    for attempt in range(1, timeouts.attempts + 1):
        try:
            transfer = ResponseRules(part, part.name.removesuffix(".part"), plain_http, size, most)
            _attempt(url, transfer, timeouts, deadline, bar)
        except FetchError as failure:
            wait = timeouts.pause * 2 ** (attempt - 1)
            if not failure.again or attempt == timeouts.attempts or time.monotonic() + wait > deadline:
                raise
            say(f"{url}: {failure}; attempt {attempt + 1} of {timeouts.attempts} in {wait:g} s")
            time.sleep(wait)
        else:
            return


def _attempt(
    url: str, transfer: ResponseRules, timeouts: Timeouts, deadline: float, bar: ProgressBar | None
) -> None:
    from fwsvm.data.fetching.connections import Watchdog, session

    part, size = transfer.part, transfer.size
    if size is not None and transfer.offset >= size:
        if transfer.offset == size:
            return
        part.unlink()
        transfer.offset = 0
    left = max(0.0, deadline - time.monotonic())
    watch = Watchdog(left, 2 * timeouts.read_seconds, MIN_BYTES)
    watch.seconds = timeouts.whole_seconds  # for the message
    with (
        session(watch) as opened,
        part.open("ab", buffering=0) as file,
        _as_fetch_errors(watch),
        closing(bar) if bar is not None else nullcontext(),
        _response(opened, url, transfer, timeouts) as response,
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
            with local_writes():
                file.write(chunk)
            if bar is not None:
                bar.update(len(chunk))
    _refuse_html(part)
    if size is not None and part.stat().st_size < size:
        raise FetchError(f"the file ended after {part.stat().st_size:,} of {size:,} bytes", again=True)


@contextmanager
def _response(opened: Any, url: str, transfer: ResponseRules, timeouts: Timeouts) -> Iterator[Any]:
    """Give the response with the file, after redirects, whose bodies are not read."""
    headers = {"Accept-Encoding": "identity"}
    headers |= {"Range": f"bytes={transfer.offset}-"} if transfer.offset else {}
    for _ in range(MAX_REDIRECTS + 1):
        response = opened.get(
            url,
            headers=headers,
            stream=True,
            allow_redirects=False,
            timeout=(timeouts.connect_seconds, timeouts.read_seconds),
        )
        with closing(response):
            target = transfer.inspect(response)
            if target is None:
                yield response
                return
        url = target
    raise FetchError(f"more than {MAX_REDIRECTS} redirects", again=False)


def _body(response: Any) -> Iterator[bytes]:
    """Yield the bytes of a body as they arrive, not decoded; raise if it ends early.

    The body is read from http.client, which bounds the length of chunk headers; urllib3's own reader does not.
    """
    import http.client  # late: it loads ssl, which takes 10 ms

    body: http.client.HTTPResponse = response.raw._original_response  # noqa: SLF001
    left = body.length
    while chunk := body.read1(CHUNK):
        yield chunk
        left = left - len(chunk) if left is not None else None
    if left:
        raise http.client.IncompleteRead(b"", left)


@contextmanager
def _as_fetch_errors(watch: Any) -> Iterator[None]:
    """Turn whatever the network raises into a `FetchError`."""
    import http.client

    import requests
    import urllib3

    try:
        yield
    except LocalWriteError as error:
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


def _refuse_html(part: Path) -> None:
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
