"""Results folders by somebody else: rows that a grid could have written, with hostile names, values, files."""

import contextlib
import csv
import html.parser
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from tests.analysis.folders import COLUMNS, row, write
from tests.fuzz.mutate import TOKENS, hostile, mutated

DATASETS = ("a1a", "a2a", "a3a", "web", "w1a", "own")
METHODS = ("cvm", "fw", "mfw", "swap", "liblinear", "wolfe", "pegasos", "scs")
STATUSES = [
    "converged",
    "sampled_stop",
    "max_iterations",
    "time_limit",
    "stalled",
    "interrupted",
    "missing",
    "error",
]
#: Names that a reader has to take, and that must not mean anything to what they are shown in.
NAMES = (
    "$\\frac{$", "$$", "$x_1$", "\\$", "_hidden", "<script>alert(1)</script>", "</td>", "&amp;", "=1+1", "@x", "-1",
    "+1", "a|b", "[a](b)", "`a`", "**a**", "a" * 300, "x" * 4000, "../../x", "/etc/passwd", "%s", "{0}", "{", "nan", "",
    " ",
    "é", "数", "\u200b", "synthetic:gaussians?rows=5&rows=7", "synthetic:?%%%", "scs(", "scs(a=1)", ")(", "a:b", "CON",
    "swap-2o", "[/b]", "[red]x", ":smile:", "url(#a", "folder", "nan(", "1e400",
    "\\begin{x}", "#", "'", '"', ",", "true",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "1e-320", "1e308", "-1e308", "1e309", "inf", "-inf", "nan", "", "0.5", "1e18", "1e-300", "0x10",
    "1_0", "True", "=1+1", "٣", "9" * 400, "1.", ".5", "-0", "1e12", "2.5", "1e5",
)  # fmt: skip
TRACE = ("seconds", "iteration", "objective", "gap", "support_vectors")


def rows(rng: random.Random) -> list[dict[str, Any]]:
    """Return the rows of a small experiment: data sets x methods x C x repetitions, some of a search."""
    datasets = rng.sample(DATASETS, rng.randint(1, 4))
    methods = rng.sample(METHODS, rng.randint(1, 4))
    penalties = rng.choice(((1,), (1, 4), (0.5, 1, 2, 4)))
    sweep = rng.random() < 0.3
    made = []
    for dataset in datasets:
        for method in methods:
            for repetition in range(rng.choice((1, 1, 2))):
                made += [
                    _measured(rng, dataset=dataset, method=method, repetition=repetition, C=C)
                    for C in (penalties if sweep else penalties[:1])
                ]
        if rng.random() < 0.4:
            made += [
                _measured(rng, dataset=dataset, method=methods[0], role="select", C=C, sigma2=s, width_rule="")
                for C in penalties for s in (1, 2)
            ]  # fmt: skip
    return made


def _measured(rng: random.Random, **more: Any) -> dict[str, Any]:
    status = rng.choice(STATUSES) if rng.random() < 0.2 else "converged"
    return row(
        status=status, test_accuracy=round(rng.random(), 4), train_seconds=rng.lognormvariate(0, 2),
        support_vectors=rng.randrange(1, 1000), rows=rng.choice((1000, 1605)), objective=rng.random(), **more,
    )  # fmt: skip


def _names(rng: random.Random, table: list[dict[str, Any]]) -> None:
    """Give data sets, methods and the like other names, the same one wherever they stand."""
    for column in rng.sample(
        ("dataset", "method", "experiment", "profile", "kernel", "machine", "search"), 3
    ):
        names: dict[str, str] = {}
        for one in table:
            one[column] = names.setdefault(one[column], rng.choice(NAMES))


def _values(rng: random.Random, table: list[dict[str, Any]]) -> None:
    """Change whole columns, or a few fields."""
    for _ in range(rng.randint(1, 4)):
        column = rng.choice(COLUMNS)
        pool: tuple[Any, ...] = rng.choice(
            (NUMBERS, NUMBERS, ("1e308", "1e-320", "0"), ("inf", "-inf", "nan"), NAMES)
        )
        whole = rng.random() < 0.5
        for one in table:
            if whole or rng.random() < 0.1:
                one[column] = rng.choice(pool)


def _anything(rng: random.Random, table: list[dict[str, Any]]) -> None:
    """Put what no reader expects into a few fields."""
    for _ in range(rng.randint(1, 3)):
        value = hostile(rng)
        value = rng.choice(TOKENS).decode("latin-1") if rng.random() < 0.5 else str(value)[:10_000]
        rng.choice(table)[rng.choice(COLUMNS)] = value * rng.choice((1, 1, 1, 200))


def _header(rng: random.Random, names: list[str]) -> list[str]:
    changed = list(names)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                del changed[place]
            case 1:
                changed[place] = rng.choice((*NAMES, "folder", "_finished", "gamma_set", "runs", "x\ny"))
            case 2:
                changed.append(rng.choice((*changed, "colour")))
            case _:
                rng.shuffle(changed)
    return changed


def generate(
    rng: random.Random, folder: Path, finish: Callable[[list[dict[str, Any]]], None] = lambda _: None
) -> None:
    """Write one results folder, hostile in one to three ways; ``finish`` may change the rows before that."""
    table = rows(rng)
    finish(table)
    names = list(COLUMNS)
    ways = rng.sample(
        ["names", "names2", "values", "values2", "anything", "header", "bytes", "files", "many"],
        rng.randint(1, 3),
    )
    for way in ways:
        if way.startswith("names"):
            _names(rng, table)
        elif way.startswith("values"):
            _values(rng, table)
        elif way == "anything":
            _anything(rng, table)
        elif way == "many":
            table = [
                one | {"run_id": f"{one['run_id']}{i}", "repetition": i} for i in range(30) for one in table
            ]
    if "header" in ways:
        names = _header(rng, names)
    elif rng.random() < 0.2:
        names = [name for name in names if rng.random() < 0.95 or name in COLUMNS[:8]]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([one.get(name, "") for name in names] for one in table)
    content = out.getvalue().encode("utf-8", "surrogatepass")
    (folder / "runs.csv").write_bytes(mutated(rng, content) if "bytes" in ways else content)
    _files(rng, folder, [str(one["run_id"]) for one in table], hostile_ones="files" in ways)


def warm_up(folder: Path, command: click.Command, *words: object) -> None:
    """Import what a command needs, by running it on a folder that is in order."""
    write(folder, [_measured(random.Random(0), dataset=d, method=m) for d in DATASETS for m in METHODS[:3]])
    call(command, folder, "--mixed-load", *words)


def _files(rng: random.Random, folder: Path, run_ids: list[str], *, hostile_ones: bool) -> None:
    """Write configuration, log and traces."""
    config = b"name: trial\nseed: 1\nselect: {C: [1, 2]}\n"
    log = b'{"event": "start"}\n{"event": "run", "cell": "x"}\n'
    (folder / "experiment.yaml").write_bytes(mutated(rng, config) if hostile_ones else config)
    (folder / "log.jsonl").write_bytes(mutated(rng, log) if hostile_ones else log)
    (folder / "traces").mkdir()
    for run_id in rng.sample(run_ids, min(4, len(run_ids))):
        lines = [",".join(TRACE)]
        for i in range(rng.choice((0, 1, 5))):
            fields = [0.1 * i, i, 1 / (i + 1), "" if i < 2 else 0.1, i]
            if rng.random() < 0.1 or (hostile_ones and rng.random() < 0.3):
                fields[rng.randrange(5)] = rng.choice(NUMBERS)
            lines.append(",".join(map(str, fields)))
        content = ("\n".join(lines) + "\n").encode()
        with contextlib.suppress(OSError, ValueError):  # a name that no file can have
            path = folder / "traces" / f"{run_id}.csv"
            if path.resolve().is_relative_to(folder.resolve()):
                path.write_bytes(mutated(rng, content) if hostile_ones and rng.random() < 0.5 else content)
    if hostile_ones and rng.random() < 0.3:
        target = rng.choice(("/etc/hostname", "/dev/zero", "runs.csv", "loop", ".."))
        name = rng.choice(("experiment.yaml", "log.jsonl", "runs.csv", "loop"))
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)


def call(command: click.Command, *words: object) -> str:
    """Run a command as the command line does, and return what it wrote to stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        command.main([str(word) for word in words], standalone_mode=False)
    return out.getvalue()


def no_formulas(text: str) -> None:
    """Check that a spreadsheet would compute nothing in a CSV file that we wrote."""
    for line in csv.reader(io.StringIO(text)):
        for field in line:
            if field[:1] in {"=", "+", "@", "-", "\t", "\r"}:
                float(field)


class _Elements(html.parser.HTMLParser):
    """What an HTML page or fragment has besides text: scripts, and attributes that run or fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: Counter[str] = Counter()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self.scripts[given.get("type") or ""] += 1
        fetching = {"src", "srcset", "action", "formaction", "data"} & set(given)
        if fetching or tag in {"iframe", "object", "embed", "base", "link"}:
            self.active.append(tag)
        self.active += [name for name in given if name.startswith("on")]


def no_markup(text: str, *, page: bool = False) -> None:
    """Check that names of the folder did not become elements of an HTML page, or of a fragment, which has no script."""
    found = _Elements()
    found.feed(text)
    assert found.active == []
    assert found.scripts[""] == page, "the page has one script of its own"
    assert set(found.scripts) <= {"", "application/json", "text/plain"}
    assert page or not sum(found.scripts.values())
    assert "</td></td>" not in text


def events(path: Path) -> list[Mapping[str, Any]]:
    """Return the events of a log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
