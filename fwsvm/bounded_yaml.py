"""YAML files of anybody: what is too large, too deep, or no plain value is refused with file and line.

The limits hold after aliases are put in their places, so that a value may be walked, compared and written again
without a thought of what it costs. Of YAML's types there are null, true and false, numbers and text; a date is text.
"""

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import Reader

from fwsvm.errors import FwsvmError, UsageError, shown

#: YAML's safe reader, in C where it is there, which takes a tenth of the time.
SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_BYTES = 1 << 20
MOST_NODES = 50_000
DEEPEST = 40
TOO_DEEP = f"nested too deeply: at most {DEEPEST} levels are allowed"
LONGEST_NUMBER = 100  # characters: no double needs more, and no whole number that means anything

#: What to do about errors of PyYAML's that have these words.
REMEDIES = {
    "start any token": "put the value in quotes",
    "expected ',' or": "is a bracket before this not closed?",
    "node content": "is a bracket before this not closed?",
    "unexpected end of stream": "is a quote before this not closed?",
    "expected key": "keys of a mapping begin in one column; is this one indented otherwise?",
    "mapping values are not allowed": "keys begin in one column, and a value with a colon stands in quotes",
}

_TAG = "tag:yaml.org,2002:"
_TEXT = {f"{_TAG}{name}" for name in ("str", "timestamp", "value", "merge")}
_SCALARS = {f"{_TAG}{name}" for name in ("null", "bool", "int", "float")} | _TEXT
_MERGE = "<<"


class Node(NamedTuple):
    """A value and the line it stands in (in a mapping: that of its key).

    ``value`` is None, a bool, int, float or str, a list of nodes, or a dict of keys to nodes. ``source`` is a scalar as
    it stands in the file.
    """

    value: Any
    line: int
    source: str = ""


def read(path: Path, error: type[FwsvmError] = UsageError, *, typed_keys: bool = False) -> Node:
    """Return the one document of a YAML file.

    Parameters
    ----------
    path : Path
    error : type
        The class of what is raised.
    typed_keys : bool
        A key such as ``1`` is a number, as YAML has it, and not text.

    Raises
    ------
    FwsvmError
        The file cannot be read, is not YAML, or exceeds a limit; file, line and reason are named.
    """
    return parse(_text(path, error), str(path), error, typed_keys=typed_keys)


def parse(text: str, name: str, error: type[FwsvmError] = UsageError, *, typed_keys: bool = False) -> Node:
    """Return the one document of a text; ``name`` is that of the file in messages. Else like `read`."""
    if odd := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise error(f"{name}:{line}: not YAML: unacceptable character {odd.group()!r}")
    loader = SAFE(text)
    try:
        return _Composer(loader, name, error, typed_keys=typed_keys).document()
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        said = " ".join(str(wrong.problem or wrong.context).split())
        if "nesting depth" in said:  # PyYAML 6.0.4 has a limit of its own
            said = TOO_DEEP
        line, column = (mark.line, mark.column) if mark else (0, 0)
        remedy = _remedy(said, "".join(text.split("\n")[line : line + 1])[: column + 1])
        raise error(f"{name}:{line + 1}: {shown(said)[1:-1]}{remedy}") from wrong
    finally:
        loader.dispose()


def plain(node: Node) -> Any:
    """Return the value without its places: dicts, lists and scalars."""
    if isinstance(node.value, dict):
        return {key: plain(member) for key, member in node.value.items()}
    return [plain(member) for member in node.value] if isinstance(node.value, list) else node.value


def _remedy(said: str, before: str) -> str:
    """Return what to do about an error of PyYAML's, by the line up to its place; nothing where that is unknown."""
    if "tab character" in said or ("start any token" in said and "\t" in before):
        return "; indent with spaces, not tabs"
    return next((f"; {remedy}" for words, remedy in REMEDIES.items() if words in said), "")


def _text(path: Path, error: type[FwsvmError]) -> str:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  (Path.stat has no answer to a NUL)
            raise error(f"{path}: cannot be read: not a regular file")
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as wrong:
        raise error(f"{path}: cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from wrong
    if len(content) > MOST_BYTES:
        raise error(f"{path}: cannot be read: more than {MOST_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise error(f"{path}:{line}: cannot be read: not text in UTF-8") from wrong


class _Composer:
    """Makes nodes of a loader's events; each comes with its size, the number of nodes in it."""

    def __init__(self, loader: Any, name: str, error: type[FwsvmError], *, typed_keys: bool) -> None:
        self.loader, self.name, self.error, self.typed_keys = loader, name, error, typed_keys
        self.anchors: dict[str, tuple[Node, int] | None] = {}

    def wrong(self, event: Any, said: str) -> FwsvmError:
        return self.error(f"{self.name}:{event.start_mark.line + 1}: {said}")

    def document(self) -> Node:
        self.loader.get_event()  # the stream's start
        event = self.loader.get_event()
        if isinstance(event, yaml.StreamEndEvent):
            raise self.error(f"{self.name}:1: the file is empty")
        made, _ = self.made(self.loader.get_event(), 0)
        self.loader.get_event()  # the document's end
        event = self.loader.get_event()
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.wrong(event, "a second document begins here; only one is allowed")
        return made

    def made(self, event: Any, depth: int) -> tuple[Node, int]:
        """Return the node that an event begins, and its size."""
        if depth > DEEPEST:
            raise self.wrong(event, TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            return self.named(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # being made
        if isinstance(event, yaml.ScalarEvent):
            value, size = self.scalar(event), 1
        elif isinstance(event, yaml.SequenceStartEvent):
            value, size = self.sequence(event, depth)
        else:
            value, size = self.mapping(event, depth)
        source = event.value if isinstance(event, yaml.ScalarEvent) else ""
        node = Node(value, event.start_mark.line + 1, source)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, size
        return node, size

    def named(self, event: Any) -> tuple[Node, int]:
        if event.anchor not in self.anchors:
            raise self.wrong(event, f"nothing is named &{shown(event.anchor)[1:-1]} before this")
        found = self.anchors[event.anchor]
        if found is None:
            raise self.wrong(event, "this value contains itself")
        node, size = found
        return Node(node.value, event.start_mark.line + 1, node.source), size

    def grown(self, event: Any, size: int) -> int:
        """Return a size that is within the limit."""
        if size > MOST_NODES:
            raise self.wrong(event, f"more than {MOST_NODES:,} values, aliases counted each time")
        return size

    def sequence(self, event: Any, depth: int) -> tuple[list[Node], int]:
        self.kind(event, "seq")
        members, size = [], 1
        while not isinstance(begun := self.loader.get_event(), yaml.SequenceEndEvent):
            member, more = self.made(begun, depth + 1)
            members.append(member)
            size = self.grown(begun, size + more)
        return members, size

    def mapping(self, event: Any, depth: int) -> tuple[dict[Any, Node], int]:
        self.kind(event, "map")
        own: dict[Any, Node] = {}
        merged: dict[Any, Node] = {}
        size = 1
        while not isinstance(begun := self.loader.get_event(), yaml.MappingEndEvent):
            key = self.key(begun)
            if key in own:
                raise self.wrong(begun, f"the key {shown(key)} stands here a second time")
            member, more = self.made(self.loader.get_event(), depth + 1)
            size = self.grown(begun, size + 1 + more)
            if key == _MERGE and isinstance(begun, yaml.ScalarEvent) and begun.implicit[0]:  # not in quotes
                merged = self.merged(begun, member) | merged
            else:
                own[key] = Node(member.value, begun.start_mark.line + 1, member.source)
        return merged | own, size

    def merged(self, event: Any, node: Node) -> dict[Any, Node]:
        """Return the keys of the mappings under YAML's merge key; of two alike the first holds."""
        keys: dict[Any, Node] = {}
        for part in node.value if isinstance(node.value, list) else [node]:
            if not isinstance(part.value, dict):
                raise self.wrong(event, f"<< takes a mapping or a list of mappings, not {shown(part.value)}")
            keys = part.value | keys
        return keys

    def key(self, event: Any) -> Any:
        """Return a key: the text that stands there, or with ``typed_keys`` the scalar."""
        if not isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            raise self.wrong(event, "a key must be a name")
        key = self.made(event, 0)[0].value
        if not self.typed_keys and isinstance(event, yaml.ScalarEvent):
            key = event.value
        if isinstance(key, (dict, list)) or not str(key).isprintable():
            raise self.wrong(event, "a key must be a name")
        return key if self.typed_keys else str(key)

    def kind(self, event: Any, kind: str) -> None:
        if event.tag not in {None, "!", f"{_TAG}{kind}"}:
            raise self.wrong(event, f"{shown(event.tag)} is a type that is not supported here")

    def scalar(self, event: Any) -> Any:
        text, tag = event.value, event.tag
        if tag in {None, "!"}:
            tag = self.loader.resolve(yaml.ScalarNode, text, event.implicit)
        if tag not in _SCALARS:
            raise self.wrong(event, f"{shown(tag)} is a type that is not supported here")
        if tag in _TEXT:
            try:
                text.encode()
            except UnicodeEncodeError:
                raise self.wrong(event, "half of a surrogate pair is not valid text") from None
            return text
        kind = tag.removeprefix(_TAG)
        if len(text) > LONGEST_NUMBER:
            raise self.wrong(
                event, f"a number of {len(text):,} characters; at most {LONGEST_NUMBER} are allowed"
            )
        node = yaml.ScalarNode(tag, text, event.start_mark, event.end_mark)
        try:
            return getattr(self.loader, f"construct_yaml_{kind}")(node)
        except (ValueError, LookupError, ArithmeticError):
            raise self.wrong(event, f"{shown(text)} is not of YAML's type {kind}") from None
