"""The experiments that come with fwsvm: at the top of a checkout in ``configs``, elsewhere in the package."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from fwsvm.errors import UsageError, nearest
from fwsvm.experiments.config_files import read_config_file

SUFFIX = ".yaml"


class ShippedExperiment(NamedTuple):
    """An experiment that comes with fwsvm: its name, its file, its profiles, and the first sentence of its comment."""

    name: str
    file: Path
    profiles: tuple[str, ...]
    about: str


def shipped_folder() -> Path:
    """Return the folder of the experiments that belong to this copy of the package."""
    here = Path(__file__)
    top = here.parents[2]
    checkout = (top / "configs").is_dir() and (top / "pyproject.toml").is_file()
    return (top if checkout else here.parent) / "configs"


def shipped_experiments() -> list[ShippedExperiment]:
    """Return all shipped experiments, by name."""
    return [
        ShippedExperiment(file.stem, file, tuple(read_config_file(file).profile_names), _first_sentence(file))
        for file in _files().values()
    ]


def config_file(word: Path) -> Path:
    """Return the file that is meant: ``word`` if it exists or has a folder, else the shipped experiment of that name.

    Raises
    ------
    UsageError
        Neither a file nor a shipped experiment.
    """
    if os.path.exists(word) or word.parent != Path():  # noqa: PTH110  (Path.exists raises for a name that is too long)
        return word
    name, files = word.name.removesuffix(SUFFIX), _files()
    if name not in files:
        hint = nearest(name, files, "`fwsvm grid --list` shows all")
        raise UsageError(f"{word}: neither a file nor an experiment that comes with fwsvm; {hint}")
    return files[name]


def _files() -> dict[str, Path]:
    files = shipped_folder().glob(f"*{SUFFIX}")
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def _first_sentence(file: Path) -> str:
    """Return the first sentence of the comment that a file begins with."""
    comment = re.match(r"(?:#.*\n)*", file.read_text("utf-8"))
    text = " ".join(line.strip("# ") for line in (comment[0] if comment else "").splitlines())
    return re.split(r"(?<=[^.][.])\s(?=[A-Z])", text, maxsplit=1)[0]
