"""``datasets.lock`` and the user's overlay, with values of wrong types anywhere, and as mutated text."""

import random
from pathlib import Path

import yaml

from fwsvm import bounded_yaml
from fwsvm.data.lock import lockfile, parsing
from tests.fuzz.mutate import hostile, mutated, restructured

RAW = bounded_yaml.plain(lockfile.load(lockfile.lock_path()).node)
OVERLAY = {
    "version": 1,
    "datasets": {
        "mine": RAW["datasets"]["a1a"] | {"sources": {"local": RAW["datasets"]["w8a"]["sources"]["libsvm"]}}
    },
    "pins": {"w8a/libsvm/w8a.t": {"bytes": 5, "sha256": "0" * 64, "evidence": "locked", "rows": 3}},
}


def generate(rng: random.Random, folder: Path) -> None:
    """Write a lock of a few entries and an overlay, one of which is changed."""
    names = [*rng.sample(list(RAW["datasets"]), 3), "w8a", "a9a"]
    raw = {**RAW, "datasets": {name: RAW["datasets"][name] for name in names}}
    files = {"package": raw, "overlay": OVERLAY}
    which = rng.choice(list(files))
    how = rng.random()
    if how < 0.6:
        files[which] = restructured(rng, files[which], rng.choice((0.01, 0.03, 0.15)))
    elif how < 0.8:
        _one_changed(rng, files, which)
    for name, value in files.items():
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True).encode("utf-8", "surrogatepass")
        (folder / name).write_bytes(mutated(rng, text) if how >= 0.8 and name == which else text)


def _one_changed(rng: random.Random, files: dict[str, object], which: str) -> None:
    """Put a hostile value in one place, so that no other is seen before it."""
    node = root = {"": yaml.safe_load(yaml.safe_dump(files[which]))}
    key: object = ""
    while True:
        inner = node[key]
        keys = (
            list(inner)
            if isinstance(inner, dict)
            else list(range(len(inner)))
            if isinstance(inner, list)
            else []
        )
        if not keys or rng.random() < 0.1:
            break
        node, key = inner, rng.choice(keys)
    node[key] = hostile(rng)
    files[which] = root[""]


def read(folder: Path) -> None:
    """Read the lock with the overlay over it."""
    parsing.parse_lock(lockfile.load(folder / "package"), lockfile.load(folder / "overlay"))
