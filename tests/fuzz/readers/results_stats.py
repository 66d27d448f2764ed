"""A results folder, as `fwsvm stats` reads it."""

import random
from pathlib import Path

from fwsvm.cli import stats
from tests.fuzz import results_folder

FORMS = ("terminal", "markdown", "latex", "csv", "html")

SHORT = 25
SECONDS = 60.0


def warm_up(folder: Path) -> None:
    """Import what is needed."""
    results_folder.warm_up(folder, stats.command)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a folder and what is asked of it."""
    results_folder.generate(rng, folder)
    words = [
        rng.choice(FORMS),
        *rng.choice(([], ["--design", "pairs"], ["--measure", "objective"], ["--design", "003"])),
    ]
    (folder / "asked").write_text("\n".join(words))


def read(folder: Path) -> None:
    """Compare its methods."""
    form, *words = (folder / "asked").read_text().splitlines()
    said = results_folder.call(stats.command, folder, "--mixed-load", "--format", form, *words)
    if form == "csv":
        results_folder.no_formulas(said)
    if form == "html":
        results_folder.no_markup(said)
