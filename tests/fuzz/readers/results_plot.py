"""A results folder, as `fwsvm plot` reads it."""

import random
from pathlib import Path

from fwsvm.cli import plot
from tests.fuzz import results_folder

SHORT = 4
SECONDS, MEMORY_MIB = 120.0, 1500


def warm_up(folder: Path) -> None:
    """Import what is needed."""
    results_folder.warm_up(folder, plot.command, "--out", folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a folder and what is asked of it."""
    results_folder.generate(rng, folder)
    words = ["--figure", rng.choice(("series", "datasets", "sweep", "convergence", "selection", "ranks"))]
    words += (
        rng.choice(([], ["--window", "3"], ["--against", "iteration"])) if words[1] == "convergence" else []
    )
    (folder / "asked").write_text("\n".join([*words, "--format", rng.choice(("png", "svg", "pdf"))]))


def read(folder: Path) -> None:
    """Draw its pictures of one kind."""
    words = (folder / "asked").read_text().splitlines()
    out = folder / "pictures"
    results_folder.call(plot.command, folder, "--mixed-load", "--out", out, *words)
    assert all(path.parent == out for path in out.rglob("*"))
