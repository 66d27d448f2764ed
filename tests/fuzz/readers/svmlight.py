"""A file in LIBSVM's format, as `fwsvm train FILE`, `check` and `predict` read it."""

import contextlib
import random
from itertools import islice
from pathlib import Path

from fwsvm import data
from fwsvm.data.formats import svmlight
from fwsvm.errors import FwsvmError
from tests.fuzz.mutate import TOKENS, mutated

VALID = b"1 1:0.5 3:-2\n-1 2:1e3 # words\n+1 qid:3 1:1\n-1\n1 5:0.25 7:1e-8\n"
LABELS = (b"1", b"-1", b"+1", b"2.5", b"0x1", b"yes", b"\xc3\xa9", b"1,2", b"nan", b"1e400", b"", b"0" * 900)
VALUES = (
    b"0",
    b"1",
    b"-0.5",
    b"1e-320",
    b"1" * 400,
    b"0." + b"3" * 800,
    b"1e308",
    b".5",
    b"5.",
    b"+2",
    b"--1",
    b"1_0",
    b"",
)
ENDS = (b"\n", b"\r\n", b"\n\n", b" \t\n", b" # 1:1\n", b"\r", b"\0\n", b"\x0b\n")


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    for content in (VALID, b"yes 1:1\nno 2:1e-320\n", b"1:1\n2:1\n", b"yes 1:1\nx:y\n\n"):
        (folder / "rows").write_bytes(content)
        with contextlib.suppress(FwsvmError):
            _all(folder / "rows")


def generate(rng: random.Random, folder: Path) -> None:
    """Write a changed valid file, lines of tokens, rows that are nearly right, or much of one thing."""
    shape = rng.random()
    if shape < 0.4:
        content = mutated(rng, VALID)
    elif shape < 0.6:
        content = b"\n".join(
            b" ".join(
                rng.choice(
                    (b"%d:%s" % (rng.choice((1, 2, 9, 2**31 - 2)), rng.choice(TOKENS)), rng.choice(TOKENS))
                )
                for _ in range(rng.randrange(5))
            )
            for _ in range(rng.randrange(6))
        )
    elif shape < 0.95:
        content = b"".join(_row(rng) for _ in range(rng.randrange(8)))
    else:
        piece = rng.choice(
            (b"\n", b" ", b":", b"1:1 ", b"1\n", b"0", b"#", b"1 1:1\n", b"1:", b"\xff", *TOKENS)
        )
        content = VALID * rng.randrange(2) + piece * rng.choice((100, 10_000, 400_000 // len(piece)))
    if rng.random() < 0.05:
        content = (
            rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"PK\3\4", b"\x1f\x8b", b"<html>", b"\n")) + content
        )
    (folder / "rows").write_bytes(content)


def _row(rng: random.Random) -> bytes:
    """Return a row with increasing indices, most of the time."""
    index, entries = rng.choice((0, 1, 1, 1)), []
    for _ in range(rng.choice((0, 1, 3, 30))):
        entries.append(b"%d:%s" % (index, rng.choice(VALUES[:4] if rng.random() < 0.95 else VALUES)))
        index += rng.choice((1, 1, 2, 1000)) if rng.random() < 0.97 else rng.choice((0, -1, 2**31, 2**64))
    label = rng.choice(LABELS[:3] if rng.random() < 0.9 else LABELS)
    return rng.choice((b" ", b" ", b"\t", b"  ")).join([label, *entries]) + rng.choice(ENDS[:1] * 9 + ENDS)


def read(folder: Path) -> None:
    """Read the rows; `check` reads the same bytes in its own way."""
    _all(folder / "rows")


def _all(path: Path) -> None:
    answers: list[Exception | None] = []
    for act in (
        lambda: data.load(path),
        lambda: svmlight.read(path, unlabelled=True),
        lambda: data.load(path, zero_based=True),
        lambda: [*islice(svmlight.problems(path), 999), *islice(svmlight.problems(path, strict=False), 999)],
    ):
        try:
            act()
            answers.append(None)
        except FwsvmError as error:
            answers.append(error)
    if answers[0] is not None:
        raise answers[0]
