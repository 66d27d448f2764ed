"""Machine code that `fwsvm warmup --to` made, for other machines: a folder, and a file that says what it is for.

Its functions are found where the sources, Python, numba and the processor's level are those that the file names; a
process that finds such a folder compiles for that level, too. The folder is only read. Its files are pickles of numba's
and machine code: who can write to it can run what he likes, as who can write to the program's own folder.
"""

import functools
import hashlib
import json
import multiprocessing
import sys
import warnings
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba

from fwsvm.errors import CodeWarning, DataError, WriteError, shown
from fwsvm.files.atomic import write_whole
from fwsvm.files.folders import FACTS, Places, code_folder, is_carried, places
from fwsvm.numerics.processor import LEVELS, Target, lacking, make_for, target
from fwsvm.numerics.source_digest import FOUNDATION, READING, SOLVING, package_digest

MOST = 1 << 16  # bytes of a file of facts


@dataclass(frozen=True)
class CodeFacts:
    """What a folder of machine code is for."""

    fwsvm: str
    sources: str
    python: str
    numba: str
    llvmlite: str
    svml: bool
    system: str
    processor: str
    features: str

    @property
    def target(self) -> Target:
        """What the code was made for, in numba's terms."""
        return Target(self.system, self.processor, self.features)


def facts_for(made_for: Target, fwsvm: str) -> CodeFacts:
    """Return the facts of code that this Python, numba and version of ``fwsvm`` make for a target."""
    sources = [package_digest(*FOUNDATION, *part, compiled=True) for part in (READING, SOLVING)]
    return CodeFacts(
        fwsvm=fwsvm,
        sources=hashlib.sha256("".join(sources).encode()).hexdigest(),
        python=str(sys.implementation.cache_tag),
        numba=version("numba"),
        llvmlite=version("llvmlite"),
        svml=bool(numba.config.USING_SVML),
        system=made_for.system,
        processor=made_for.processor,
        features=made_for.features,
    )


def write_facts(folder: Path, facts: CodeFacts) -> None:
    """Say what a folder of machine code is for; from then on it is only read."""
    text = json.dumps(asdict(facts), indent=2) + "\n"
    write_whole(folder / FACTS, text.encode("ascii"), WriteError)


def read_facts(folder: Path) -> CodeFacts:
    """Return what a folder of machine code is for.

    Raises
    ------
    DataError
        The file that says so cannot be read, or is not what `write_facts` writes.
    """
    file = folder / FACTS
    try:
        if not file.is_file():
            raise DataError(f"{file} is no file")
        with file.open("rb") as stream:
            raw = stream.read(MOST + 1)
        known: Any = json.loads(raw.decode("ascii")) if len(raw) <= MOST else None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{file} is no JSON") from None
    kinds: Any = {field.name: field.type for field in fields(CodeFacts)}
    if not isinstance(known, dict) or known.keys() != kinds.keys():
        raise DataError(f"{file} is not what `fwsvm warmup --to` of this version writes")
    for name, value in known.items():
        if not isinstance(value, kinds[name]) or (isinstance(value, str) and not value.isprintable()):
            raise DataError(f"{file} says {name} is {shown(value)}")
    return CodeFacts(**known)


@functools.cache
def code_places() -> Places:
    """Return where this process looks for machine code, and where it keeps what it compiles.

    If `fwsvm warmup --to` made the folder, compile for what it was made for. Where it does not fit, warn in a sentence,
    and compile for this processor.
    """
    named = code_folder()
    found = places(named)
    if not is_carried(named):
        return found
    try:
        facts = read_facts(named)
        said = unlike(facts) or _made_otherwise(facts.target)
    except DataError as error:
        said = str(error)
    if said is None:
        return found
    if multiprocessing.parent_process() is None:  # workers would only repeat it
        warnings.warn(
            f"the machine code in {shown(str(named))} is not used, because {said}; functions are compiled for this "
            "machine",
            CodeWarning,
            stacklevel=2,
        )
    return found._replace(read=tuple(place for place in found.read if place != named))


def unlike(facts: CodeFacts) -> str | None:
    """Say in a clause what it was made by, if that is not what runs here."""
    here = facts_for(facts.target, facts.fwsvm)
    for name, called in {
        "python": "Python",
        "numba": "numba",
        "llvmlite": "llvmlite",
        "fwsvm": "fwsvm",
    }.items():
        theirs, ours = getattr(facts, name), getattr(here, name)
        if theirs != ours:
            return f"it was made by {called} {shown(theirs)}, and this is {shown(ours)}"
    if facts.sources != here.sources:
        return f"it was made by other sources, those of fwsvm {shown(facts.fwsvm)}"
    if facts.svml != here.svml:
        theirs, ours = ("with", "without") if facts.svml else ("without", "with")
        return f"it was made {theirs} Intel's SVML, and numba here runs {ours} it"
    return None


def _made_otherwise(wanted: Target) -> str | None:
    """Let this process compile for a target; say in a clause why it cannot."""
    if wanted.processor in LEVELS and not wanted.features:
        said = lacking(wanted.processor)
        if said is not None:
            return f"it was made for {wanted.processor}, and {said}"
        said = make_for(wanted.processor)
        if said is not None:
            return f"it was made for {wanted.processor}, and {said}"
    here = target()
    if here != wanted:
        made = f"it was made for a processor {shown(wanted.processor)} with all its features"
        return f"{made}, and the processor here is {here.processor} or has other features"
    return None
