"""A model file, as `fwsvm predict` reads it and applies it to three rows."""

import json
import random
from pathlib import Path

from tests.fuzz.commands import answer
from tests.fuzz.mutate import TOKENS, hostile, mutated, restructured

ROWS = b"1 1:0.5 3:-2\n-1 2:1e3\n1 1:1 2147483646:1\n"
KERNEL = b"""\
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.5 -1 0.25
label 1 -1 3
nr_sv 2 1 1
SV
1 0.5 1:0.25 3:-1
-0.5 1 2:1e-3
0.25 -1 1:1 2:1 3:1
-1 0.125 
"""  # noqa: W291  (as LIBSVM writes a vector of zeros)
POLY = KERNEL.replace(b"rbf", b"polynomial").replace(b"gamma 0.5", b"degree 3\ngamma 0.5\ncoef0 1")
GIVEN = b"""\
svm_type c_svc
kernel_type precomputed
nr_class 2
total_sv 2
rho 0.5
label 1 -1
nr_sv 1 1
SV
0.5 0:1 
-0.5 0:3 
"""  # noqa: W291  (as LIBSVM writes)
LINEAR = b"solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n0.5 \n-1e3 \n0.25 \n1 \n"
NEEDED = {"features": 3, "classes": ["1", "-1", "3"], "kernel": "rbf", "svm_predict": True}
FACTS = {"facts": {"method": "swap", "objective": 1.5, "loss": "hinge", "scaling": {"lower": -1, "upper": 1}}}
NUMBERS = (
    b"2147483646",
    b"2147483647",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"0",
    b"-1",
    b"1000",
    b"1001",
    b"99999999",
    b"nan",
)


def warm_up(folder: Path) -> None:
    """Compile the kernels."""
    for content in (KERNEL, POLY, GIVEN, LINEAR):
        (folder / "model").write_bytes(content)
        (folder / "rows").write_bytes(ROWS)
        read(folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a model with changed bytes, numbers or facts, and rows that fit the one it was."""
    content = rng.choice((KERNEL, POLY, GIVEN, LINEAR))
    for _ in range(rng.randrange(3)):
        words = content.split(b" ")
        words[rng.randrange(len(words))] = rng.choice(NUMBERS + tuple(TOKENS))
        content = b" ".join(words)
    if rng.random() < 0.6:
        for record in (NEEDED, FACTS):
            text = json.dumps(restructured(rng, record, rng.choice((0.0, 0.1, 0.4))))
            if rng.random() < 0.1:
                text = rng.choice(
                    ("[" * 100_000, '{"a":' * 5000, "9" * 5000, '{"features": ' + "9" * 4000 + "}")
                )
            content += b"#fwsvm %s\n" % text.encode("utf-8", "replace")
        if rng.random() < 0.1:
            content += b"#fwsvm %s\n" % json.dumps({"facts": hostile(rng)}).encode("utf-8", "replace")
    if rng.random() < 0.5:
        content = mutated(rng, content, 3)
    (folder / "model").write_bytes(content)
    (folder / "rows").write_bytes(ROWS)


def read(folder: Path) -> None:
    """Predict the rows."""
    answer("predict", str(folder / "model"), str(folder / "rows"), "--decision", "--json", "--threads", "1")
