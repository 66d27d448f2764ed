"""A headless Chromium, spoken to in its DevTools protocol over a pair of pipes: nothing but Python is needed."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60.0


def found() -> str | None:
    """Return the path of a browser, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page of the browser, and what its scripts complained about."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._numbers = itertools.count(1)
        self._read = b""
        self._session: str | None = None
        self.loaded = False
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        left = json.dumps(command).encode() + b"\0"
        while left:
            left = left[os.write(self._commands, left) :]
        end = time.monotonic() + SECONDS
        while True:
            message = self._message(end)
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return dict(message["result"])

    def open(self, page: Path, *, width: int = 1280, dark: bool = False, scripts: bool = True) -> None:
        """Show a file in a window of that width, and wait until it is loaded."""
        self.complaints.clear()
        self.requests.clear()
        self.resize(width)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        end = time.monotonic() + SECONDS
        while not self.loaded:
            self._message(end)

    def resize(self, width: int) -> None:
        """Make the window that wide."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )

    def value(self, expression: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def printed(self) -> bytes:
        """Return the page as it is printed on A4, as PDF."""
        done = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)
        return base64.b64decode(done["data"])

    def picture(self, *, whole: bool = True) -> bytes:
        """Return a screenshot as PNG."""
        done = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(done["data"])

    def _message(self, end: float) -> dict[str, Any]:
        """Return the next message, and note what it says of the page."""
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser has ended"
            self._read += more
        line, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        what, said = message.get("method"), message.get("params", {})
        if what == "Page.loadEventFired":
            self.loaded = True
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(str(said["exceptionDetails"]))
        elif what == "Runtime.consoleAPICalled" and said["type"] in {"error", "warning", "assert"}:
            self.complaints.append(str(said["args"]))
        elif what == "Log.entryAdded" and said["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(str(said["entry"]))
        elif what == "Network.requestWillBeSent":
            self.requests.append(str(said["request"]["url"]))
        return message


@contextlib.contextmanager
def browser(path: str, profile: Path) -> Iterator[Tab]:
    """Start the browser at ``path`` with a profile folder of its own; yield a tab; end the browser."""
    commands, write = os.pipe()
    read, answers = os.pipe()
    # the browser reads commands from descriptor 3 and answers on 4
    started = subprocess.Popen(
        ["bash", "-c", f'exec 3<&{commands} 4>&{answers}; exec "$0" "$@"', path, "--headless=new", "--no-sandbox",
         "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-dev-shm-usage",
         "--hide-scrollbars", f"--user-data-dir={profile}"],
        pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(commands)
    os.close(answers)
    try:
        yield Tab(write, read)
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(write, b'{"id": 0, "method": "Browser.close"}\0')
        os.close(write)
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
        os.close(read)
