"""Dask clusters of this machine: a real scheduler and real workers, each in a process of its own."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

WORKER = ("--nthreads", "1", "--no-dashboard", "--no-nanny")


class LocalCluster(NamedTuple):
    """A scheduler's address and process, and its workers' processes."""

    address: str
    scheduler: "subprocess.Popen[bytes]"
    workers: list["subprocess.Popen[bytes]"]


def wait_until(there: Callable[[], bool]) -> None:
    """Wait until something is there: ten minutes at most, for the machine may be busy."""
    deadline = time.monotonic() + 600
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for_workers(address: str, workers: int) -> None:
    """Wait until so many workers have come to the scheduler at an address."""
    from distributed import Client

    with Client(address, timeout=600, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=600)


@contextlib.contextmanager
def started(folder: Path, workers: int = 2, **variables: str) -> Iterator[LocalCluster]:
    """Start a scheduler and workers of one thread, with environment variables, and end them with the block.

    Several may share a folder, as their workers' own files do.
    """
    file = Path(tempfile.mkdtemp(dir=folder)) / "scheduler.json"
    options = ("--no-dashboard", "--port", "0", "--scheduler-file", str(file))
    processes = [_process("scheduler", folder, variables, *options)]
    try:
        wait_until(lambda: file.exists() and "}" in file.read_text("utf-8"))
        address = json.loads(file.read_text("utf-8"))["address"]
        processes += [worker(folder, address, **variables) for _ in range(workers)]
        wait_for_workers(address, workers)
        yield LocalCluster(address, processes[0], processes[1:])
    finally:
        for process in processes:
            process.kill()
            process.wait()


def worker(folder: Path, address: str, **variables: str) -> "subprocess.Popen[bytes]":
    """Start a worker of one thread of the scheduler at an address."""
    return _process("worker", folder, variables, *WORKER, "--local-directory", str(folder), address)


def registered_worker(folder: Path, address: str) -> "subprocess.Popen[bytes]":
    """Start a worker, and wait until the scheduler knows it."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".log") as log:
        local = ("--local-directory", str(folder))
        started = _process("worker", folder, {}, *WORKER, *local, address, log=log)
        wait_until(lambda: b"Registered to" in Path(log.name).read_bytes())
    return started


def _process(
    what: str, folder: Path, variables: Mapping[str, str], *options: str, log: Any = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
    root = str(Path(__file__).parents[1])  # where this fwsvm is, whichever is installed
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, **variables}
    return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=environment)
