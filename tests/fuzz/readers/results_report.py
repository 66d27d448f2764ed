"""A results folder, as `fwsvm report` reads it."""

import random
from pathlib import Path

from fwsvm.cli import report
from tests.fuzz import results_folder

SHORT = 2
SECONDS, MEMORY_MIB = 240.0, 1500


def warm_up(folder: Path) -> None:
    """Import what is needed."""
    results_folder.warm_up(folder, report.command, "--out", folder / "page.html")


def generate(rng: random.Random, folder: Path) -> None:
    """Write a folder."""
    results_folder.generate(rng, folder)


def read(folder: Path) -> None:
    """Write its page."""
    page = folder / "page.html"
    results_folder.call(report.command, folder, "--mixed-load", "--out", page)
    results_folder.no_markup(page.read_text("utf-8"), page=True)
