"""What a page shows of the code, by a name in it, is there; otherwise a renaming breaks `make docs` alone."""

import ast
import importlib
import re

from tests.docs.pages import DOCS

SHOWN = re.compile(r"^```\{literalinclude\} (\S+)\n:(pyobject|start-at): (.+)$", re.MULTILINE)
DESCRIBED = re.compile(
    r"^\.\. auto(?:module|class|function):: ([\w.]+)\n(?:   :members: (.*)$)?", re.MULTILINE
)


def has(source: str, path: list[str]) -> bool:
    """Return whether a module defines a function or class of that name, or in a class of that name."""
    body = ast.parse(source).body
    for name in path:
        found = [
            node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        ]
        if not found:
            return False
        body = found[0].body
    return True


def test_code_that_a_page_shows_is_there():
    count = 0
    for page in DOCS.rglob("*.md"):
        for file, kind, name in SHOWN.findall(page.read_text("utf-8")):
            source = (page.parent / file).read_text("utf-8")
            found = has(source, name.split(".")) if kind == "pyobject" else name.strip('"') in source
            assert found, f"{page}: {file} has no {name}"
            count += 1
    assert count > 15


def test_names_that_the_python_reference_describes_are_there():
    described = DESCRIBED.findall((DOCS / "reference" / "python.md").read_text("utf-8"))
    assert len(described) > 8
    for path, members in described:
        module, _, name = path.rpartition(".")
        try:
            found = importlib.import_module(path)
        except ModuleNotFoundError:
            found = getattr(importlib.import_module(module), name)
        assert all(hasattr(found, member) for member in members.split(", ") if member), path
