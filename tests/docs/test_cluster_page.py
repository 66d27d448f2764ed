"""One problem on a cluster: the commands of the page, run in their order, scheduler and workers included."""

import os
import shlex
import socket
import subprocess
import sys

import pytest

from tests.cli.running import done
from tests.clusters import wait_for_workers, wait_until
from tests.docs.pages import DOCS, ROOT, blocks

pytestmark = pytest.mark.slow

pytest.importorskip("distributed")
PAGE = DOCS / "large.md"
PROGRAMS = {
    "dask scheduler": ["distributed.cli.dask_scheduler", "--no-dashboard"],
    "dask worker": ["distributed.cli.dask_worker", "--no-dashboard"],
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command(line):
    """Return the words that run a line of Dask's with this Python."""
    name = next(name for name in PROGRAMS if line.startswith(f"{name} "))
    return [sys.executable, "-m", *PROGRAMS[name], *shlex.split(line.removeprefix(name))]


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_the_commands_of_the_page_run_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    port = free_port()
    lines = [
        line.replace("8786", str(port))
        for block in blocks(PAGE) if block.language == "shell"
        for line in block.text.splitlines()
    ]  # fmt: skip
    assert len(lines) == 6
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DASK_TEMPORARY_DIRECTORY": str(tmp_path)}
    output, running = {}, []
    try:
        for line in lines:
            if line.startswith("dask"):
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                running.append(subprocess.Popen(command(line), cwd=tmp_path, env=environment, **quiet))
                if "scheduler" in line:
                    wait_until(lambda: answers(port))
                else:
                    wait_for_workers(f"tcp://127.0.0.1:{port}", 2)
                continue
            _, name, *words = shlex.split(line)
            output[name] = done(name, *words).output
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(600)
    assert "chunking (distributed)" in output["train"]
    assert "certified: recomputed from scratch" in output["train"]
    assert len((tmp_path / "labels.txt").read_text().split()) == 2000
    assert "Accuracy = " in output["predict"]
    assert "accuracy " in output["cv"].lower()
