"""A web server that answers with anything, in pieces, slowly or without end, and what a download makes of it."""

import contextlib
import hashlib
import json
import os
import random
import socket
import socketserver
import threading
import time
from pathlib import Path

from fwsvm.data.fetching.download import Timeouts
from fwsvm.data.fetching.obtaining import obtain
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.data.lock.entry import DataSource, Entry, RawFile
from tests.fuzz.mutate import TOKENS, mutated

SHORT = 40  # inputs in the test suite: each takes a tenth of a second

CONTENT = b"".join(b"%d 1:%d 3:0.5\n" % (1 - 2 * (i % 2), i) for i in range(40))
PATIENCE = Timeouts(connect_seconds=1.0, read_seconds=0.1, attempts=2, pause=0.001, whole_seconds=0.5)
STATUSES = (200, 200, 200, 200, 206, 206, 100, 101, 204, 301, 302, 303, 304, 307, 308, 400, 401, 404, 408, 416, 429,
            500, 503, 0, 99, 999, 10**9)  # fmt: skip
NUMBERS = ("0", "1", str(len(CONTENT)), str(len(CONTENT) + 1), "-1", "abc", "", "9" * 30, "9" * 5000, "1e3", " 5 ",
           "5, 5", "5, 6", "0x10", "\u0663")  # fmt: skip
PLACES = ("/again", "/", "", "http://[::1", "http://", "//", "file:///etc/passwd", "ftp://127.0.0.1/a", "?" * 9000,
          "http://127.0.0.1:1/a", "http://127.0.0.1:99999/", "https://127.0.0.1:1/", "http://\u0663.example.invalid/",
          "http://x" + "y" * 300 + "/", "javascript:1", "\x00", "http://user:word@127.0.0.1:1/")  # fmt: skip
HEADERS = {
    "Content-Length": NUMBERS,
    "Location": PLACES,
    "Content-Encoding": ("gzip", "identity", "br", "deflate", "gzip, gzip", "\xff", "x" * 2000),
    "Transfer-Encoding": ("chunked", "identity", "gzip, chunked", "x"),
    "Content-Type": ("text/plain", "text/html", "a" * 1000, "application/x-bzip2; charset=utf-9"),
    "Content-Range": ("bytes 100-", "bytes 0-9/10", "bytes */5", "x", "bytes 100-99999999999999999999/*"),
    "Connection": ("close", "keep-alive", "upgrade"),
    "Set-Cookie": ("a=b; expires=never", "=", "a" * 5000, "a=b; Max-Age=9999999999999999999999"),
    "WWW-Authenticate": ("Basic", "Digest realm=x", ""),
    "Retry-After": ("1", "soon"),
    "X": ("y", "\r\n z", ":" * 100),
}


def generate(rng: random.Random, folder: Path) -> None:
    """Write what the server answers to each request in turn: pieces of bytes, how often, and the pause after each."""
    answers = [_answer(rng) for _ in range(rng.choice((1, 1, 2, 4)))]
    pinned = rng.random() < 0.7
    name = rng.choice(("rows", "rows", "rows.gz"))
    (folder / "answers").write_text(json.dumps({"answers": answers, "pinned": pinned, "name": name}), "utf-8")


def _answer(rng: random.Random) -> list[tuple[str, int, float]]:
    status = rng.choice((200, 206)) if rng.random() < 0.6 else rng.choice(STATUSES)
    head = b"HTTP/1.1 %d Said\r\n" % status
    if rng.random() < 0.05:
        head = rng.choice(
            (b"", b"HTTP/0.9\r\n", b"SSH-2.0\r\n", b"HTTP/1.1\r\n", b"\x16\x03\x01\x02", b"\n" * 99)
        )
    chosen = rng.sample(list(HEADERS), rng.choice((0, 0, 1, 2, 3)))
    if 300 <= status < 400 and "Location" not in chosen:
        chosen.append("Location")
    for key in chosen:
        head += f"{key}: {rng.choice(HEADERS[key])}\r\n".encode("utf-8", "replace")
    head += b"\r\n"
    body = CONTENT
    if rng.random() < 0.5:
        body = rng.choice(
            (CONTENT[:100], CONTENT[100:], b"", b"<html>", mutated(rng, CONTENT), rng.choice(TOKENS))
        )
    if rng.random() < 0.3:
        size = rng.choice((b"%x" % len(body), b"0", b"-1", b"z", b"f" * 40, b"1;x=" + b"y" * 100))
        body = size + b"\r\n" + body + b"\r\n" + rng.choice((b"0\r\n\r\n", b"0\r\na: b\r\n", b"", b"\r\n"))
    if rng.random() < 0.1:
        head = mutated(rng, head, 3)
    pieces = [(head, 1, 0.0), (body, 1, 0.0)]
    for _ in range(rng.choice((0, 0, 0, 1))):
        more = rng.choice(
            (head, b"x: y\r\n", b"0", body, b"HTTP/1.1 100 Continue\r\n\r\n", b"6\r\n1 1:1\n\r\n")
        )
        piece = rng.choice(
            ((more * 1000, 2000, 0.0), (more, 50, 0.01), (more[:1], 500, 0.002), (b"", 1, 0.3))
        )
        pieces.insert(rng.randrange(3), piece)
    return [(piece.hex(), count, pause) for piece, count, pause in pieces]


def read(folder: Path) -> None:
    """Fetch the file from such a server."""
    said = json.loads((folder / "answers").read_text("utf-8"))
    os.environ |= {"FWSVM_CACHE": str(folder / "cache"), "NO_PROXY": "*"}
    with _serving(said["answers"]) as port:
        url = f"http://127.0.0.1:{port}/{said['name']}"
        size = len(CONTENT) if said["pinned"] else None
        file = RawFile(
            said["name"], (url,), bytes=size, sha256=hashlib.sha256(CONTENT).hexdigest(), evidence="B"
        )
        source = DataSource("web", "tiny", {"format": "svmlight"}, (file,))
        entry = Entry("tiny", "Tiny", "binary", 2, 3, "none", (source,))
        try:
            got = obtain(entry, None, FetchOptions(timeouts=PATIENCE))
        finally:
            left = [p for p in (folder / "cache").rglob("*") if p.name == said["name"]]
            assert all(p.read_bytes() == CONTENT for p in left), "unverified bytes under the final name"
        assert got.files[said["name"]][0].read_bytes() == CONTENT


class _serving:  # noqa: N801 - used as a function
    """A server that plays answers in turn while it is open; gives its port."""

    def __init__(self, answers: list[list[tuple[str, int, float]]]) -> None:
        served, ended = iter(range(10**6)), threading.Event()
        self.ended = ended

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.settimeout(2.0)
                with contextlib.suppress(OSError):
                    self._play(answers[next(served) % len(answers)])

            def _play(self, pieces: list[tuple[str, int, float]]) -> None:
                self.request.recv(65536)
                for piece, count, pause in pieces:
                    for _ in range(count):
                        if ended.is_set():
                            return
                        self.request.sendall(bytes.fromhex(piece))
                        time.sleep(pause)
                self.request.shutdown(socket.SHUT_WR)

        socketserver.ThreadingTCPServer.daemon_threads = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.005,), daemon=True)

    def __enter__(self) -> int:
        self.thread.start()
        return self.server.server_address[1]

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
