"""A file in LIBSVM's format, as `fwsvm train FILE` reads it."""

import random
from pathlib import Path

from fwsvm import data
from tests.fuzz.mutate import TOKENS, mutated

VALID = b"1 1:0.5 3:-2\n-1 2:1e3 # words\n+1 qid:3 1:1\n-1\n1 5:0.25 7:1e-8\n"


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    (folder / "rows").write_bytes(VALID)
    data.load(folder / "rows")


def generate(rng: random.Random, folder: Path) -> None:
    """Write a changed valid file, or lines of tokens."""
    if rng.random() < 0.7:
        content = mutated(rng, VALID)
    else:
        content = b"\n".join(
            b" ".join(
                rng.choice(
                    (b"%d:%s" % (rng.choice((1, 2, 9, 2**31 - 2)), rng.choice(TOKENS)), rng.choice(TOKENS))
                )
                for _ in range(rng.randrange(5))
            )
            for _ in range(rng.randrange(6))
        )
    (folder / "rows").write_bytes(content)


def read(folder: Path) -> None:
    """Read the rows."""
    data.load(folder / "rows")
