"""Options of the commands on a tiny file: any value of any option gives a result or a sentence."""

import contextlib
import random
from pathlib import Path

import click

from fwsvm.cli import main
from tests.fuzz.commands import answer

ROWS = b"".join(
    b"%d 1:%g 2:%g\n" % (1 if k % 3 else -1, (k * 7 % 11) / 10, (k * 5 % 13) / 10) for k in range(24)
)
CONFIG = b"name: trial\ndatasets: [wdbc]\nmethods: [fw]\nrows: 20\nlimits: {iterations: 5}\n"
MODEL = b"""\
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.5
label 1 -1
nr_sv 1 1
SV
1 1:0.25 2:-1
-1 2:1e-3
"""
#: Commands that end soon, with what they are given first and last, so that options are what decides.
COMMANDS = {
    "train": (("{rows}",), ("--max-iterations", "5", "--time-limit", "1")),
    "cv": (("{rows}", "--folds", "3"), ("--max-iterations", "5", "--time-limit", "1")),
    "predict": (("{model}", "{rows}"), ()),
    "grid": (("{config}", "--dry-run"), ("--offline", "--out", "{results}")),
    "scale": (("{rows}",), ()),
    "check": (("{rows}",), ()),
    "summary": (("{rows}",), ()),
    "subset": (("{rows}", "5"), ()),
    "methods": ((), ()),
    "table": (("{results}",), ()),
    "stats": (("{results}",), ()),
    "claims": (("{results}",), ()),
    "report": (("{results}",), ()),
    "merge": (("{results}", "--out", "{merged}"), ()),
}
SECONDS = 60.0  # what a method needs is compiled in them
NUMBERS = (
    "0", "1", "-1", "2", "3", "0.5", "1e-300", "1e300", "nan", "inf", "-inf", "1e400", "9" * 30, "9" * 5000, "0x10",
    "1_0", "\u0663", "2147483648", "9223372036854775808", "1e-8", "1000",
)  # fmt: skip
WORDS = (
    "", " ", "x", "x" * 5000, "a\nb", "{rows}", "{folder}", "{folder}/none", "synthetic:", "[]", "wdbc", "-", "--",
    "synthetic:gaussians?rows=30", "synthetic:gaussians?rows=1e99", "synthetic:gaussians?rows=1000000000000",
    "comp=1", "comp=", "=", "c=nan", "p_max=1e308", "growth=x", "loss=hinge", "bias=-1", "[0,1]", "\x1b[31m",
    "/dev/null", "/dev/full", "swap", "newton", "chunking", "wolfe", "scs", "pegasos", "avsf", "linear", "poly",
    "laplacian", "quadratic", "rbf", "meb", "eps", "gap", "relative", "sampled", "full", "paper", "libcvm", "readme",
)  # fmt: skip


def _choices(option: click.Option, rng: random.Random) -> list[str]:
    if isinstance(option.type, click.Choice) and rng.random() < 0.7:
        return [str(choice) for choice in option.type.choices]
    return list(rng.choice((NUMBERS, NUMBERS, WORDS)))


def warm_up(folder: Path) -> None:
    """Compile what most need."""
    (folder / "rows").write_bytes(ROWS)
    answer("train", str(folder / "rows"))
    answer("cv", str(folder / "rows"), "--folds", "3")


def generate(rng: random.Random, folder: Path) -> None:
    """Write a command, an argument a line."""
    name = rng.choice(list(COMMANDS))
    command = main.get_command(click.Context(main), name)
    assert command is not None
    options = [each for each in command.params if isinstance(each, click.Option)]
    first, last = COMMANDS[name]
    words = [rng.choice(WORDS + NUMBERS) if rng.random() < 0.05 else word for word in first]
    for option in rng.sample(options, min(len(options), rng.randint(1, 4))):
        words.append(rng.choice(option.opts))
        if not option.is_flag:
            words.append(rng.choice(_choices(option, rng)))
    (folder / "command").write_text("\0".join((name, *words, *last)).replace("\0\0", "\0 \0"), "utf-8")
    (folder / "rows").write_bytes(ROWS)
    (folder / "config").write_bytes(CONFIG)
    (folder / "model").write_bytes(MODEL)


def read(folder: Path) -> None:
    """Run the command in the folder."""
    places = {name: str(folder / name) for name in ("rows", "model", "config", "results", "merged")}
    given = (folder / "command").read_text("utf-8").split("\0")
    for name, place in (*places.items(), ("folder", str(folder))):
        given = [word.replace(f"{{{name}}}", place) for word in given]
    with contextlib.chdir(folder):  # what a name given for output is relative to
        answer(*given)
