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
        keys: list[Any] = []
        for key, _ in node.value:
            if key.value in keys:
                said = f"the key {key.value!r} stands there twice"
                raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
            keys.append(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
# YAML 1.1 takes 1e-6, which has no point, for text
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]{1,17}[eE][-+]?[0-9]{1,3}$"), list("-+0123456789")
)
_Loader.add_implicit_resolver("!power", re.compile(r"[0-9]{1,17}\^[-+]?[0-9]{1,5}$"), list("0123456789"))


def _power(_loader: Any, node: Any) -> float | str:
    """Return the number that 2^-5 is; the text where that is no number of double precision."""
    text: str = node.value
    base, exponent = text.split("^")
    try:
        return float(float(base) ** int(exponent))
    except ArithmeticError:
        return text


_Loader.add_constructor("!power", _power)


def read_yaml(path: Path, error: type[FwsvmError] = UsageError) -> Any:
    """Return the document of a YAML file; None of an empty one.

    Raises
    ------
    error
        The file cannot be read, is no YAML, or has more than `MAX_BYTES`; file, line and reason are named.
    """
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise error(f"{path}: cannot be read: more than {MAX_BYTES >> 20} MiB")
        return yaml.load(content.decode("utf-8-sig"), Loader=_Loader)  # noqa: S506 - it is the safe loader
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise error(f"{path}:{line}: not text in UTF-8") from None
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        said = " ".join(str(getattr(wrong, "problem", None) or wrong).split())
        if mark and b"\t" in b"".join(content.splitlines()[mark.line : mark.line + 1]):
            said += "; indent with spaces, not with tabs"
        raise error(f"{path}{f':{mark.line + 1}' if mark else ''}: not YAML: {said}") from None
    except OSError as wrong:
        raise error(f"{path}: cannot be read: {wrong.strerror or wrong}") from wrong
