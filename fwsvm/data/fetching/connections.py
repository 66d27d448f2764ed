"""HTTP connections that a watchdog thread shuts down at a deadline, whatever the server does."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter


class Watchdog:
    """A thread that shuts down its connections at a deadline, or if too few bytes arrive.

    ``why`` says which of the two happened; until then it is empty.
    """

    def __init__(self, seconds: float, slow_seconds: float, least: int) -> None:
        self.deadline = time.monotonic() + seconds
        self.seconds, self.slow_seconds, self.least = seconds, slow_seconds, least
        self.received, self.why = 0, ""
        self.sockets: list[socket.socket] = []
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="fwsvm download", daemon=True)
        self.thread.start()

    def add(self, connection: socket.socket) -> None:
        """Watch a connection, through a duplicated descriptor, since TLS wraps the original."""
        with self.lock:
            self.sockets.append(connection.dup())
        if self.why:  # it was opened too late
            self._cut()

    def close(self) -> None:
        """End the watch."""
        self.ended.set()
        self.thread.join()
        with self.lock:
            for each in self.sockets:
                each.close()

    def _run(self) -> None:
        seen = 0
        while True:
            left = self.deadline - time.monotonic()
            if self.ended.wait(max(0.0, min(left, self.slow_seconds))):
                return
            if time.monotonic() >= self.deadline:
                self.why = f"the download was not complete after {self.seconds:g} s"
            elif self.received - seen < self.least:
                self.why = f"the server sent less than {self.least:,} bytes in {self.slow_seconds:g} s"
            seen = self.received
            if self.why:
                self._cut()
                return

    def _cut(self) -> None:
        with self.lock:
            for each in self.sockets:
                with contextlib.suppress(OSError):  # it may be closed
                    each.shutdown(socket.SHUT_RDWR)


def _watched(kind: type[Any], watch: Watchdog) -> type[Any]:
    """Return a subclass of a connection class that registers its sockets with the watchdog."""

    class Watched(kind):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            connection: socket.socket = super()._new_conn()
            watch.add(connection)
            return connection

    return Watched


class _Adapter(HTTPAdapter):
    """An adapter of requests that opens watched connections, to servers and to proxies."""

    def __init__(self, watch: Watchdog) -> None:
        pools = (("http", urllib3.HTTPConnectionPool), ("https", urllib3.HTTPSConnectionPool))
        self.pools = {
            scheme: type(pool.__name__, (pool,), {"ConnectionCls": _watched(pool.ConnectionCls, watch)})
            for scheme, pool in pools
        }
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **more: Any) -> None:
        super().init_poolmanager(*arguments, **more)
        self.poolmanager.pool_classes_by_scheme = self.pools

    def proxy_manager_for(self, proxy: str, **more: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **more)
        manager.pool_classes_by_scheme = self.pools
        return manager


class _Session(requests.Session):
    """A session that follows no redirects: requests would read the body of each to its end, whatever its length."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002
        return None


@contextlib.contextmanager
def session(watch: Watchdog) -> Iterator[requests.Session]:
    """Give a session of watched connections that follows no redirects."""
    with _Session() as opened:
        for scheme in ("http://", "https://"):
            opened.mount(scheme, _Adapter(watch))
        try:
            yield opened
        finally:
            watch.close()
