"""How large the package is and how it hangs together, at commits side by side.

    python benchmarks/structure.py [COMMIT ...]

Without commits: HEAD. Blank lines, comments and docstrings are lines, too, but no lines of code. A circle is a set of
modules that import each other, imports inside functions included. Constants are capital names with plain numbers in
modules of the solvers. A class that inherits from none of the package has depth 1.
"""

import ast
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter

import numpy as np
from scipy.sparse.csgraph import connected_components

CONSTANT = re.compile("[A-Z][A-Z0-9_]*")
PLAIN = ast.Constant | ast.BinOp | ast.UnaryOp | ast.Tuple | ast.operator | ast.unaryop | ast.expr_context


def sources(commit: str) -> dict[str, str]:
    """Return the package's sources at a commit, by module."""
    packed = subprocess.run(["git", "archive", commit, "fwsvm"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {
            each.name[:-3].replace("/", ".").removesuffix(".__init__"): archive.extractfile(each)
            .read()
            .decode()  # type: ignore[union-attr]
            for each in archive
            if each.name.endswith(".py")
        }


def code_lines(source: str, tree: ast.Module) -> int:
    """Return how many lines are neither blank, nor comments, nor docstrings."""
    words: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            words.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(
        bool(line.strip()) and line.strip()[0] != "#" and number not in words for number, line in lines
    )


def circles(trees: dict[str, ast.Module]) -> list[int]:
    """Return the sizes of the circles."""
    names = sorted(trees)
    edges = np.zeros((len(names), len(names)), dtype=bool)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                found = [each if each in trees else node.module for each in inside]
            else:
                continue
            for other in {*found} & {*trees} - {name}:
                edges[names.index(name), names.index(other)] = True
    _, circle = connected_components(edges, connection="strong")
    return [count for count in Counter(circle.tolist()).values() if count > 1]


def constants(tree: ast.Module) -> int:
    """Return how many names of constants with plain numbers a module has."""
    found = 0
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and all(isinstance(each, PLAIN) for each in ast.walk(value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[union-attr]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            found += sum(bool(CONSTANT.fullmatch(name)) for name in names)
    return found


def depths(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Return how many classes of the package each of the solvers' classes is made of, one above the other."""
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for name, tree in trees.items()
        if ".solvers" in name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases and base != name), default=0)

    return {name: depth(name) for name in bases}


def main() -> None:
    """Print a line a figure, a column a commit."""
    table: dict[str, list[object]] = {}
    for commit in sys.argv[1:] or ["HEAD"]:
        found = sources(commit)
        trees = {name: ast.parse(source) for name, source in found.items()}
        lines = {name: source.count("\n") for name, source in found.items()}
        solvers = {name: constants(tree) for name, tree in trees.items() if ".solvers" in name}
        deep = depths(trees)
        for what, value in {
            "files": len(found),
            "lines": sum(lines.values()),
            "lines of code": sum(code_lines(source, trees[name]) for name, source in found.items()),
            "longest file": max(lines.values()),
            "files over 300 lines": sum(each > 300 for each in lines.values()),
            "sizes of import circles": circles(trees) or "none",
            "constants in the solvers": sum(solvers.values()),
            "of these in one record": solvers.get("fwsvm.solvers.tuning", 0),
            "deepest inheritance in the solvers": max(deep.values()),
        }.items():
            table.setdefault(what, []).append(value)
    for what, values in table.items():
        print(f"{what:36}", *(f"{value!s:>12}" for value in values))


if __name__ == "__main__":
    main()
