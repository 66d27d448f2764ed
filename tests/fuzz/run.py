"""Runs a reader over generated inputs in a child process with a bound on memory, and watches its time."""

import importlib
import json
import os
import pkgutil
import random
import resource
import selectors
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fwsvm.errors import FwsvmError
from tests.fuzz import readers

SECONDS, MEMORY_MIB = 10.0, 512  # for one input, where a reader names none
#: A heap a thread, which malloc reserves 64 MiB of addresses for, would use up the bound by threads that ended.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
STARTING = 300.0  # seconds until the first input is read: what a reader needs is compiled in them


class Find(NamedTuple):
    """An input that was neither read nor refused in a sentence."""

    reader: str
    seed: int
    number: int
    what: str

    @property
    def command(self) -> str:
        """The command that tries this input again and keeps it in a folder."""
        return (
            f"python -m tests.fuzz {self.reader} --seed {self.seed} --first {self.number} --inputs 1 --keep"
        )


def names() -> list[str]:
    """Return the names of all readers."""
    return sorted(each.name for each in pkgutil.iter_modules(readers.__path__))


def inputs(reader: str, seed: int, first: int, count: int, keep: Path | None = None) -> Iterator[Find]:
    """Try ``count`` inputs from number ``first`` on, and yield the finds."""
    module = importlib.import_module(f"tests.fuzz.readers.{reader}")
    seconds = getattr(module, "SECONDS", SECONDS)
    number, end = first, first + count
    while number < end:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.run",
            reader,
            str(seed),
            str(number),
            str(end),
            str(keep or ""),
        ]
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env=os.environ | ONE_HEAP,
            ) as child,
            tempfile.TemporaryFile() as said,
        ):
            assert child.stdout is not None
            assert child.stderr is not None
            waiting, begun, left = selectors.DefaultSelector(), False, b""
            waiting.register(child.stdout, selectors.EVENT_READ)
            waiting.register(child.stderr, selectors.EVENT_READ)
            trouble = "the process ended"
            while waiting.get_map():
                ready = waiting.select(seconds if begun else STARTING)
                if not ready:
                    trouble = f"no answer in {seconds:g} s"
                    child.kill()
                    break
                for key, _ in ready:
                    chunk = key.fileobj.read1(65536)  # type: ignore[union-attr]
                    if not chunk:
                        waiting.unregister(key.fileobj)
                    elif key.fileobj is child.stderr:
                        said.write(chunk)
                    else:
                        *lines, left = (left + chunk).split(b"\n")
                        for line in lines:
                            begun = True
                            told = json.loads(line)
                            number = told["number"] + ("what" in told)
                            if "what" in told:
                                yield Find(reader, seed, told["number"], told["what"])
            child.wait()
            if child.returncode == 0:
                return
            said.seek(0)
            yield Find(
                reader,
                seed,
                number,
                f"{trouble} ({child.returncode})\n{said.read()[-2000:].decode('utf-8', 'replace')}",
            )
            number += 1


def _child(reader: str, seed: int, first: int, end: int, keep: str) -> None:
    """Read the inputs; tell the number of each before it is read, and what was found."""
    module = importlib.import_module(f"tests.fuzz.readers.{reader}")
    with tempfile.TemporaryDirectory() as name:
        warm = getattr(module, "warm_up", None)
        if warm is not None:
            warm(Path(name))
    held = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    most = held + getattr(module, "MEMORY_MIB", MEMORY_MIB) * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, end):
        _tell(number=number)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            module.generate(random.Random(f"{reader} {seed} {number}"), folder)
            if keep:
                shutil.copytree(folder, Path(keep) / f"{reader}-{seed}-{number}", dirs_exist_ok=True)
            try:
                module.read(folder)
            except FwsvmError as error:
                said = str(error)
                if not said.strip() or "\n" in said or len(said) > 2000:
                    _tell(number=number, what=f"refused, but not in a sentence: {said[:500]!r}")
            except BaseException:  # noqa: BLE001 - whatever it is, it is what is looked for
                _tell(number=number, what=traceback.format_exc()[-3000:])


def _tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
