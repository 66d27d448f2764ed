"""Delimited text, read by the options of a loader in ``datasets.lock``."""

import random
from pathlib import Path

from fwsvm.data import formats
from fwsvm.data.fetching.digests import file_sha256
from tests.fuzz.mutate import TOKENS, mutated

VALID = (
    (b"1,2.5,yes\n-3,4e1,no\n,0x,yes\n", {}),
    (b'a;b;"class"\n1;"2";x\n3;4;"y ""z"""\n', {"delimiter": ";", "header": True, "label": "class"}),
    (b"  1 2\t+ \n-3.5   4e1 -\n", {"delimiter": "whitespace", "drop": [0]}),
    (b"# words\nA,1,M\nB,2,F\n", {"comment": "#", "label": -1, "categorical": {0: ["A", "B"]}}),
    (b"u,1,M\nv,2,F\nu,3,M\n", {"label": 2, "categorical": [0], "drop": [1]}),
)
OPTIONS = {
    "delimiter": (",", ";", " ", "\t", "whitespace", None, "#", "|"),
    "header": (True, False),
    "label": (0, -1, 1, 2, -7, "class", "\u0663"),
    "drop": ([], [0], [-1], ["a"], [0, 0], [9]),
    "categorical": ([], [0], [1], {1: ["1", "2"]}, {"a": []}, [0, 1, 2]),
    "comment": ("", "#", "|"),
    "features": (None, 1, 2, 3),
}


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    for content, options in VALID[1:]:
        (folder / "rows").write_bytes(content)
        formats.read(folder / "rows", file_sha256(folder / "rows"), {"format": "csv", **options})


def generate(rng: random.Random, folder: Path) -> None:
    """Write a changed table, lines of tokens, or one line of very many fields, and options that may not fit."""
    content, options = rng.choice(VALID)
    shape = rng.random()
    if shape < 0.6:
        content = mutated(rng, content)
    elif shape < 0.9:
        sign = rng.choice((b",", b";", b" ", b"\t"))
        content = b"\n".join(
            sign.join(
                rng.choice((b"1", b"-2.5", b'"q"', b"", rng.choice(TOKENS))) for _ in range(rng.randrange(6))
            )
            for _ in range(rng.randrange(6))
        )
    else:
        sign = rng.choice((b",", b"\n", b'"', b" ", b",1", b"\r\n"))
        content = content + sign * rng.choice((10, 5000, 300_000)) + rng.choice((b"", content))
    given = dict(options)
    for name, values in OPTIONS.items():
        if rng.random() < 0.1:
            given[name] = rng.choice(values)
    (folder / "rows").write_bytes(content)
    (folder / "options").write_text(repr(given), "utf-8")


def read(folder: Path) -> None:
    """Read the rows as an entry of the lock would."""
    options = eval((folder / "options").read_text("utf-8"), {})  # noqa: S307 - written by `generate`
    path = folder / "rows"
    formats.read(path, file_sha256(path), {"format": "csv", **options})
