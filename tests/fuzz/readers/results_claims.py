"""A results folder, as `fwsvm claims` reads it."""

import random
from pathlib import Path

from fwsvm.cli import claims
from tests.fuzz import results_folder

FORMS = ("terminal", "markdown", "html", "csv")

SHORT = 10
SECONDS = 60.0


def warm_up(folder: Path) -> None:
    """Import what is needed."""
    results_folder.warm_up(folder, claims.command)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a folder and the form that is asked for."""
    results_folder.generate(rng, folder)
    (folder / "asked").write_text(rng.choice(FORMS))


def read(folder: Path) -> None:
    """Put the papers' claims to it."""
    form = (folder / "asked").read_text()
    said = results_folder.call(claims.command, folder, "--mixed-load", "--format", form)
    if form == "csv":
        results_folder.no_formulas(said)
    if form == "html":
        results_folder.no_markup(said)
