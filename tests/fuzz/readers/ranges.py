"""A range file of svm-scale, as `fwsvm scale -r RANGES ROWS` reads it and scales by it."""

import random
from pathlib import Path

from scipy.sparse import csr_array

from fwsvm.data import ranges
from fwsvm.data.formats import svmlight
from tests.fuzz.mutate import TOKENS, mutated

VALID = b"y\n0 10\n-1 1\nx\n-1 1\n1 0 1\n2 -1.5 1e3\n5 0.25 0.75\n2147483646 0 1\n"
ROWS = b"1 1:0.5 2:-2 3:1e300\n-1 2:1e3 4:7\n1 5:1e-8 2147483646:3\n-1\n"
INDICES = (b"0", b"1", b"2", b"5", b"1e3", b"2147483645", b"2147483646", b"2147483647", b"-1")


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    (folder / "ranges").write_bytes(VALID)
    read(folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a changed valid file, or ranges of tokens after a valid beginning."""
    if rng.random() < 0.6:
        content = mutated(rng, VALID)
    else:
        lines = [
            b"x",
            rng.choice((b"-1 1", b"0 1", b"1 0", b"%s %s" % (rng.choice(TOKENS), rng.choice(TOKENS)))),
        ]
        for _ in range(rng.randrange(6)):
            ends = [rng.choice((rng.choice(TOKENS), b"%r" % rng.uniform(-9, 9))) for _ in range(2)]
            lines.append(b" ".join([rng.choice(INDICES), *ends]))
        content = b"\n".join(lines) + rng.choice((b"\n", b""))
    (folder / "ranges").write_bytes(content)


def read(folder: Path) -> None:
    """Scale rows by the file."""
    (folder / "rows").write_bytes(ROWS)
    table, _ = svmlight.read(folder / "rows")
    X = csr_array(table.X)
    rule = ranges.restore_ranges(folder / "ranges", X)
    for _ in ranges.scaled_text(X, table.labels, rule, 6):
        pass
