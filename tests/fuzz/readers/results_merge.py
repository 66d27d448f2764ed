"""Two results folders, as `fwsvm merge` reads them."""

import random
from pathlib import Path

from fwsvm.analysis import results
from fwsvm.cli import merge
from tests.fuzz import results_folder

SHORT = 60
SECONDS = 60.0


def generate(rng: random.Random, folder: Path) -> None:
    """Write two folders, at times of the same runs, and what is asked for."""
    same = rng.random()
    for name in ("one", "two"):
        (folder / name).mkdir()
        results_folder.generate(random.Random(same) if rng.random() < 0.5 else rng, folder / name)
    (folder / "asked").write_text(rng.choice(("", "--allow-mixed", "--allow-mixed")))


def read(folder: Path) -> None:
    """Join them; what was joined is read as each of them was."""
    out = folder / "out"
    words = (folder / "asked").read_text().split()
    results_folder.call(merge.command, folder / "one", folder / "two", "--out", out, *words)
    joined = results.read([out]).frame
    apart = results.read([folder / "one", folder / "two"]).frame
    assert set(joined["run_id"]) == set(apart["run_id"])
    if (out / "log.jsonl").exists():
        assert all(isinstance(event, dict) for event in results_folder.events(out / "log.jsonl"))
    inside = {path.resolve() for path in out.rglob("*")}
    assert all(path.is_relative_to(out.resolve()) for path in inside)
