"""Machine code for other machines: a second process compiles it, for a processor that it is told of when it starts."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from fwsvm import __version__, exit_codes
from fwsvm.errors import FwsvmError, UsageError, WriteError
from fwsvm.files.atomic import make_folder
from fwsvm.files.folders import FACTS, code_folder, is_carried, own_root
from fwsvm.numerics.carried_code import CodeFacts, facts_for, read_facts, write_facts
from fwsvm.numerics.processor import NATIVE, lacking, level_target, native_target
from fwsvm.solvers.second_compiler import to_run


class WarmupError(FwsvmError):
    """The process that compiles for other machines failed; it has said why."""

    exit_code = exit_codes.FAILED


def compile_into(folder: Path, processor: str, words: Sequence[str]) -> None:
    """Compile what ``fwsvm warmup`` with these words does, for a processor, into the folder ``numba`` of a folder.

    It appears there whole, with what an earlier call for the same processor has put there.

    Raises
    ------
    UsageError
        This processor cannot run such code; the folder is the cache in use, or has something else.
    WriteError
        The folder cannot be written.
    """
    facts = _facts(processor)
    folder = Path(os.path.realpath(folder))
    code = folder / "numba"
    _refuse_what_is_there(code, facts)
    make_folder(folder)
    started = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix=".warmup-", dir=folder) as made:
            part = Path(made, "numba")
            if code.exists():
                shutil.copytree(code, part, ignore=shutil.ignore_patterns(FACTS))
            _compile(Path(made), facts, words)
            write_facts(part, facts)
            if code.exists():
                code.rename(Path(made, "before"))
            part.rename(code)
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {error.strerror or error}") from None
    click.echo(
        f"Ready after {time.perf_counter() - started:.1f} s; code for {facts.processor} is in {code}: "
        f"copy all of {folder} to the other machine, and set FWSVM_CACHE to it there"
    )


def _facts(processor: str) -> CodeFacts:
    if processor == NATIVE:
        return facts_for(native_target(), __version__)
    said = lacking(processor)
    if said is not None:
        raise UsageError(f"code for {processor} cannot be made here, because {said}")
    return facts_for(level_target(processor), __version__)


def _refuse_what_is_there(code: Path, facts: CodeFacts) -> None:
    in_use = {os.path.realpath(place) for place in (own_root() / "numba", code_folder())}
    if os.path.realpath(code) in in_use and not is_carried(code):
        raise UsageError(f"{code} is the cache in use, to which runs add: give another folder with --to")
    if is_carried(code):
        before = read_facts(code)
        if before != facts:
            raise UsageError(
                f"{code} has code for {before.processor} by fwsvm {before.fwsvm}, or by other sources or packages: "
                "delete it, or give another folder with --to"
            )
    elif code.exists() and any(code.iterdir()):
        raise UsageError(f"{code} has what `fwsvm warmup --to` did not make: give another folder with --to")


def _compile(root: Path, facts: CodeFacts, words: Sequence[str]) -> None:
    """Run ``fwsvm warmup`` in a process whose cache is ``root``, and say what it says."""
    surroundings = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    surroundings |= {"FWSVM_CACHE": str(root), "PYTHONUTF8": "1"}
    surroundings |= {"NUMBA_CPU_NAME": facts.processor, "NUMBA_CPU_FEATURES": facts.features}
    with subprocess.Popen(
        to_run(f"from fwsvm.cli import main; main({['warmup', *words]!r})"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=surroundings,
        encoding="utf-8",
        errors="backslashreplace",
    ) as process:
        try:
            for line in process.stderr or ():
                click.echo(line, nl=False, err=True)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise WarmupError(f"the process that compiles for {facts.processor} ended with {process.returncode}")
