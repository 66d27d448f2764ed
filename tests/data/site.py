"""A web site of our own that serves files well or badly, as told."""

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MIRROR = os.environ.get("FWSVM_MIRROR")
Behaviour = Callable[[BaseHTTPRequestHandler, bytes], None]


class Site:
    """Files by path, each served by a behaviour; remembers the path of every request."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, Behaviour]] = {}
        self.requests: list[str] = []
        self.release = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(self.path)
                if self.path not in site.files:
                    self.send_error(404)
                    return
                content, behaviour = site.files[self.path]
                behaviour(self, content)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Say nothing of clients that hang up: that is what they are to do."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def put(self, path: str, content: bytes, behaviour: Behaviour | None = None) -> str:
        """Serve a file; return its URL."""
        self.files[path] = content, behaviour or well
        return self.address + path

    def close(self) -> None:
        self.release.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def _answer(handler: BaseHTTPRequestHandler, status: int, length: int, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def well(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Serve the file."""
    _answer(handler, 200, len(content))
    handler.wfile.write(content)


def status(code: int) -> Behaviour:
    """Answer with a status alone."""
    return lambda handler, _: handler.send_error(code)


def page(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Answer 200 with an HTML page."""
    body = b"\n<!DOCTYPE html><html><body>Site under maintenance</body></html>"
    _answer(handler, 200, len(body))
    handler.wfile.write(body)


def truncated(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Serve half of the file as if it were all."""
    half = content[: len(content) // 2]
    _answer(handler, 200, len(half))
    handler.wfile.write(half)


def dies(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Promise the file, serve half of it and hang up."""
    _answer(handler, 200, len(content))
    handler.wfile.write(content[: len(content) // 2])


def wrong(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Serve as many bytes, but others."""
    _answer(handler, 200, len(content))
    handler.wfile.write(content[::-1])


def too_much(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Serve the file and something after it."""
    _answer(handler, 200, len(content) + 3)
    handler.wfile.write(content + b"1 1")


def as_encoding(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Serve a .gz file as some sites do: as a transport encoding that a client would undo."""
    _answer(handler, 200, len(content), Content_Encoding="gzip")
    handler.wfile.write(content)


def stalls(site: Site) -> Behaviour:
    """Serve half of the file and fall silent until the site closes."""

    def answer(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        _answer(handler, 200, len(content))
        handler.wfile.write(content[: len(content) // 2])
        handler.wfile.flush()
        site.release.wait(20)

    return answer


def raw(answer: bytes) -> Behaviour:
    """Send these bytes, headers and all."""
    return lambda handler, _: handler.wfile.write(answer) and None


def endless(start: bytes, more: bytes) -> Behaviour:
    """Send something for ever."""

    def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(start)
        for _ in range(1 << 40):
            handler.wfile.write(more)

    return answer


def running() -> Iterator[Site]:
    """Yield a site and close it."""
    site = Site()
    try:
        yield site
    finally:
        site.close()
