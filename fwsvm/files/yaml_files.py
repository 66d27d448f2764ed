"""Read YAML files of users: plain values alone, up to a size, no key twice in a mapping; 1e-6 and 2^-5 are numbers."""

import re
from pathlib import Path
from typing import Any

import yaml

from fwsvm.errors import FwsvmError, UsageError

MAX_BYTES = 1 << 20
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):  # type: ignore[misc]  # PyYAML's loader in C has no types
    """The safe loader, which takes a date for text and refuses a key that stands twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        # a mapping with << also has the keys of others, which stand before it
        own = [key for key, _ in node.value if key.start_mark.index >= node.start_mark.index]
        for key in reversed(own):
            if [each.value for each in own].count(key.value) > 1:
                said = f"the key {key.value!r} stands there twice"
                raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
# YAML 1.1 takes 1e-6, which has no point, for text
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]{1,17}[eE][-+]?[0-9]{1,3}$"), list("-+0123456789")
)
_Loader.add_implicit_resolver("!power", re.compile(r"[0-9]{1,17}\^[-+]?[0-9]{1,5}$"), list("0123456789"))
_Loader.add_constructor("!power", lambda _, node: _power(node.value))


def _power(text: str) -> float | str:
    """Return the number that 2^-5 is; the text where that is no number of double precision."""
    base, exponent = text.split("^")
    try:
        return float(float(base) ** int(exponent))
    except (ValueError, ArithmeticError):
        return text


def read_yaml(path: Path, error: type[FwsvmError] = UsageError) -> Any:
    """Return the document of a YAML file; None of an empty one.

    Raises
    ------
    error
        The file cannot be read, is no YAML, or has more than `MAX_BYTES`; file, line and reason are named.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as wrong:
        raise error(f"{path}: cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from wrong
    if len(content) > MAX_BYTES:
        raise error(f"{path}: cannot be read: more than {MAX_BYTES >> 20} MiB")
    return parse_yaml(content, str(path), error)


def parse_yaml(content: bytes, name: str, error: type[FwsvmError] = UsageError) -> Any:
    """Return the document of a text in UTF-8; ``name`` is that of the file in messages. Else like `read_yaml`."""
    try:
        return yaml.load(content.decode("utf-8-sig"), Loader=_Loader)  # noqa: S506 - it is the safe loader
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise error(f"{name}:{line}: not text in UTF-8") from None
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None) or getattr(wrong, "context_mark", None)
        said = " ".join(str(getattr(wrong, "problem", None) or wrong).split())
        raise error(f"{name}{f':{mark.line + 1}' if mark else ''}: not YAML: {said}") from None
    except (RecursionError, ValueError) as wrong:  # nested too deeply, or a scalar that is not of its type
        raise error(f"{name}: not YAML: {wrong}") from None


def line_of_value(path: Path, key: str, value: Any) -> int | None:
    """Return the line where a key has a value, or where a list has it as an item; None where there is none."""
    loader = _Loader(path.read_text("utf-8-sig"))
    pending = [loader.get_single_node()]
    for node in pending:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        items = node.value if isinstance(node, yaml.SequenceNode) else []
        marked = [(name, held) for name, held in pairs if name.value == str(key)]
        marked += [(item, item) for item in items if isinstance(value, str | dict)]
        for start, held in marked:
            if loader.construct_object(held, deep=True) == value:
                return int(start.start_mark.line) + 1
        pending += [held for _, held in pairs] + items
    return None
