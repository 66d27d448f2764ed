"""Which HTTP responses are accepted as the file: status, redirect, length, encoding, content type."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from fwsvm.data.lock.values import is_url
from fwsvm.errors import clipped

#: Endings of compressed files; some servers name their compression as a transport encoding.
COMPRESSED = (".gz", ".bz2", ".xz", ".Z", ".zip")
#: Bytes that a file of unpinned size may have.
MAX_BYTES = 4 << 30


class FetchError(Exception):
    """A download failed; ``again`` if another attempt may succeed."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


@dataclass
class ResponseRules:
    """Checks on a response's head before its body is written to ``part``, which grows from ``offset``."""

    part: Path
    name: str
    plain_http: bool
    size: int | None = None  # pinned
    most: int = MAX_BYTES
    offset: int = field(init=False)

    def __post_init__(self) -> None:
        self.offset = self.part.stat().st_size if self.part.is_file() else 0

    def inspect(self, response: Any) -> str | None:
        """Return the URL that a response redirects to, or None if its body may be written; raise `FetchError`."""
        if response.is_redirect:
            return self._redirect_target(response)
        status = response.status_code
        if status == 416:  # range not satisfiable: the part is not a prefix of this file
            self._restart()
            raise FetchError("the partial download does not fit the file there", again=True)
        if status not in (200, 206):
            raise FetchError(f"HTTP status {status}", again=status >= 500 or status in (408, 429))
        if "text/html" in response.headers.get("content-type", "").lower():
            raise FetchError("an HTML page came in place of the data", again=False)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity") and not self.name.endswith(COMPRESSED):
            raise FetchError(
                f"it came in the encoding {_quoted(encoding)}, which was not asked for", again=False
            )
        continues = response.headers.get("content-range", "").startswith(f"bytes {self.offset}-")
        if status == 206 and not continues:
            self._restart()
            raise FetchError("the server sent another part of the file than was asked for", again=True)
        if status == 200:
            self._restart()
        self._check_length(response)
        return None

    def _restart(self) -> None:
        with local_writes():
            self.part.write_bytes(b"")
        self.offset = 0

    def _redirect_target(self, response: Any) -> str:
        location = response.headers["location"]
        try:
            target = urljoin(response.url or "", location)
        except ValueError:
            target = ""
        if not is_url(target):
            raise FetchError(f"redirects to {_quoted(location)}, which is no web address", again=False)
        if urlsplit(target).scheme == "http" and not self.plain_http:
            raise FetchError(f"redirects to plain http ({_quoted(target)})", again=False)
        return target

    def _check_length(self, response: Any) -> None:
        said = response.headers.get("content-length")
        if said is None:
            return
        if not said.isdecimal() or not said.isascii() or len(said) > 18:
            raise FetchError(
                f"announces {_quoted(said)} as its length, which is no number of bytes", again=False
            )
        if self.offset + int(said) > self.most:
            raise FetchError(self.too_much(self.offset + int(said)), again=False)

    def too_much(self, found: int) -> str:
        """Return the sentence that says that a file is larger than the pinned size or the limit."""
        limit = (
            f"datasets.lock says {self.size:,}" if self.size is not None else f"{self.most:,} are the limit"
        )
        return f"the file there has {found:,} bytes or more, {limit}"


class LocalWriteError(Exception):
    """The ``.part`` file cannot be written: no error of the network, so no reason to try again."""


@contextmanager
def local_writes() -> Iterator[None]:
    """Raise an OSError of the local disk as `LocalWriteError`."""
    try:
        yield
    except OSError as error:
        raise LocalWriteError from error


def _quoted(word: str) -> str:
    return ascii(clipped(word, 100))
