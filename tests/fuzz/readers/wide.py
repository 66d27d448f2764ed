"""Files of extreme shapes through every command that reads rows: indices near 2^31, many classes, rows or names.

What does not fit is refused before it is taken: that memory runs out, said in a sentence or not, is a find.
"""

import json
import random
import re
from pathlib import Path

from click.testing import CliRunner

from fwsvm import exit_codes
from fwsvm.cli import main

SECONDS, MEMORY_MIB, SHORT = 120.0, 1024, 20

LARGEST = 2**31 - 2
#: Numbers that scale may write where zeros do not stay, and a linear machine too: more takes minutes, rightly.
MOST_WRITTEN = 10_000_000
METHODS = ("swap", "newton", "chunking", "decomposition", "liblinear", "scs", "pegasos", "wolfe")
LINEAR = ("liblinear",)
FEW_STEPS = ("--time-limit", "0.5", "--max-iterations", "20", "--threads", "2")


def warm_up(folder: Path) -> None:
    """Compile what the commands need."""
    (folder / "rows").write_text("1 1:1 3:2\n-1 2:1\n1 1:2\n-1 2:3 3:1\n")
    for method in METHODS:
        for kernel in _kernels(method):
            _run(
                folder,
                ["train", "--method", method, "--kernel", kernel, *FEW_STEPS, "--model", "model", "rows"],
            )
            _run(folder, ["predict", "model", "rows", "labels"])


def _kernels(method: str) -> tuple[str, ...]:
    """Return the kernels tried with a method: all forms are compiled before the first input."""
    return ("linear",) if method in LINEAR else ("rbf", "laplacian") if method == "swap" else ("rbf",)


def generate(rng: random.Random, folder: Path) -> None:
    """Write rows, other rows, and the commands that read them."""
    for name in ("rows", "others"):
        (folder / name).write_text("".join(_rows(rng)), "utf-8")
    (folder / "commands").write_text(json.dumps([*_commands(rng)]))


def _commands(rng: random.Random):
    method = rng.choice(METHODS)
    kernel = rng.choice(_kernels(method))
    cache = [] if method in LINEAR else ["--cache-mb", rng.choice(("1", "64", "4096"))]
    training = ["--method", method, "--kernel", kernel, *FEW_STEPS, *cache]
    yield ["train", *training, "--model", "model", *rng.choice(([], ["--test", "others"])), "rows"]
    yield rng.choice(
        (
            ["predict", "model", rng.choice(("rows", "others")), "labels", "--decision"],
            ["cv", "--folds", "2", *training, "rows"],
            ["summary", "rows"],
            ["scale", "-l", rng.choice(("0", "-1")), "-s", "ranges", "-o", "scaled", "rows"],
            ["subset", "rows", str(rng.choice((1, 2, 5, 100, 10**6))), "drawn"],
            ["check", "rows"],
        )
    )
    yield ["scale", "-r", "ranges", "-o", "scaled", "others"]


def _rows(rng: random.Random):
    m = rng.choice((2, 4, 4, 4, 20, 20, 300, 3000, 30000))
    classes = min(m, rng.choice((1, 2, 2, 2, 2, 2, 3, 10, max(2, m // 2), max(2, m // 10), m)))
    width = rng.choice((1, 3, 100, 70_000, LARGEST, LARGEST))
    stored = min(width, rng.choice((0, 1, 2, 5, 50_000 if m < 21 else 3)))
    name = rng.choice(("", "", "", "", "c", "n" * min(rng.choice((10, 1000, 100_000)), 3_000_000 // m)))
    first = rng.choice((1, 1, max(1, width - 60_000)))
    wrong = rng.random() < 0.05
    for t in range(m):
        indices = sorted({rng.randint(first, width) for _ in range(stored)})
        if rng.random() < 1 / 20:
            indices = sorted(
                {*indices, rng.choice((1, LARGEST, *((LARGEST + 1, 2**31, 2**32) if wrong else ())))}
            )
        entries = " ".join(
            f"{i}:{rng.choice((1, 2, -0.5, 0, 1e-3, round(rng.random(), 3)))}" for i in indices
        )
        yield f"{name}{t % classes} {entries}\n"


def read(folder: Path) -> None:
    """Run the commands."""
    for command in json.loads((folder / "commands").read_text()):
        _run(folder, command)


def _run(folder: Path, command: list[str]) -> None:
    files = {"rows", "others", "model", "labels", "ranges", "scaled", "drawn"}
    if any(word in {"model", "ranges"} and not (folder / word).exists() for word in command[1:3]):
        return
    if command[0] == "scale" and _numbers(folder, command) > MOST_WRITTEN:
        return
    if {*LINEAR} & {*command} and "--model" in command and _widest(folder / "rows") > MOST_WRITTEN:
        at = command.index("--model")
        command = command[:at] + command[at + 2 :]
    result = CliRunner().invoke(main, [str(folder / word) if word in files else word for word in command])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    said = [line for line in result.stderr.splitlines() if line.startswith("fwsvm: ")]
    if result.exit_code == exit_codes.FAILED or (result.exit_code and not said and command[0] != "check"):
        raise AssertionError(f"{command}: exit code {result.exit_code}, {result.output[-1000:]}")


def _widest(rows: Path) -> int:
    """Return the largest index of a file, 0 where there is none."""
    return max(map(int, re.findall(rb" (\d+):", rows.read_bytes())), default=0)


def _numbers(folder: Path, command: list[str]) -> int:
    """Return how many numbers scale may write: each row has each feature."""
    rows = (folder / command[-1]).read_bytes()
    features = (
        (folder / "ranges").read_bytes().count(b"\n")
        if "-r" in command
        else len(set(re.findall(rb"(\d+):", rows)))
    )
    return rows.count(b"\n") * features
