"""Try the inputs of a reader, and keep those that it neither reads nor refuses in a sentence."""

import faulthandler
import random
import shutil
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from fwsvm.cli import main
from tests.fuzz.inputs import READERS

SECONDS = 600.0  # after which the process says where it hangs, and ends
LONGEST = 2000  # characters of a sentence
CODES = (0, 2, 3, 4)


def finds(reader: str, seed: int, count: int, out: Path) -> Iterator[str]:
    """Yield what went wrong with which of ``count`` inputs; the input itself stays in the folder ``out``."""
    for number in range(count):
        kept = out / f"{reader}-{seed}-{number}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        commands = READERS[reader](random.Random(f"{reader} {seed} {number}"), kept)
        faulthandler.dump_traceback_later(SECONDS, exit=True)  # what was read is in `kept` already
        wrong = [line for words in commands for line in problems(words, kept)]
        faulthandler.cancel_dump_traceback_later()
        if wrong:
            yield f"{kept}: {'; '.join(wrong)}"
        else:
            shutil.rmtree(kept)


def problems(words: list[object], folder: Path) -> Iterator[str]:
    """Run a command in this process; yield what is wrong with its answer."""
    with tempfile.TemporaryDirectory() as cache:
        lock = folder / "data"
        if lock.exists():
            shutil.copytree(lock, Path(cache, "data"))
        try:
            result = CliRunner().invoke(
                main, [str(word) for word in words], env={"FWSVM_CACHE": cache}, catch_exceptions=False
            )
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            yield traceback.format_exc()[-3000:]
            return
    if result.exit_code not in CODES:
        yield f"exit code {result.exit_code}"
    if "Traceback" in result.stderr:
        yield result.stderr[-3000:]
    # `check` lists wrong lines as results, on stdout
    said = [line for line in result.output.splitlines() if line.startswith(("fwsvm: ", "Error: ", "Found "))]
    if result.exit_code and not (said and len(said[-1]) < LONGEST):
        yield f"exit code {result.exit_code}, and no short reason in {result.stderr[-500:]!r}"
