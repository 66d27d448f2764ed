"""The fenced blocks of a page, and what a page that shows output holds it against.

A block of the language ``console`` has commands after ``$ `` and, below each, what it prints, if the page shows it.
``python`` runs, all blocks of a page in one namespace; ``text`` straight below it is what it prints. ``yaml`` whose
first line is ``# NAME.yaml`` is that file. ``sh`` is for what no test can run: its lines are read by the program's
own parser of options, and by make. ``shell`` is the cluster of `test_cluster_page`. All other blocks only show
something.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = DOCS / "adding"  # run by tests/extending
NEAR = 0.1  # of a number that rounding or another processor changes in its last steps
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?(?![\w.]*\w)")
#: Parts of a line that depend on the machine and its load.
TIMES = re.compile(r"\b\d[\d.e-]* (?:s|min|MiB)\b|^(?:seconds|memory) .*$|\(commit \w+\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, its line, and whether nothing but space parts it from the last one."""

    language: str
    text: str
    line: int
    follows: bool


def pages() -> list[Path]:
    """Return the pages whose blocks run here, the README among them."""
    return [ROOT / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if page.parent != ELSEWHERE)]


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    content = page.read_text("utf-8")
    found: list[Block] = []
    end = 0
    for match in re.finditer(r"^```([^\n`]*)\n(.*?)^```$", content, re.MULTILINE | re.DOTALL):
        follows = bool(found) and not content[end : match.start()].strip()
        found.append(Block(match[1], match[2], content.count("\n", 0, match.start()) + 2, follows))
        end = match.end()
    return found


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Return each command of a console block with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def said(shown: list[str], printed: list[str]) -> bool:
    """Return whether shown lines are those printed; a line ``...`` stands for any number of them."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(said(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and same(shown[0], printed[0]) and said(shown[1:], printed[1:])


def same(shown: str, printed: str) -> bool:
    """Return whether two lines are alike: words exactly, numbers nearly, times and memory not at all."""
    ours, theirs = (TIMES.sub("TIME", " ".join(line.split())) for line in (shown, printed))
    if NUMBER.sub("0", ours) != NUMBER.sub("0", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(
        math.isclose(float(a.replace(",", "")), float(b.replace(",", "")), rel_tol=NEAR) for a, b in pairs
    )
