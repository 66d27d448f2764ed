"""Locks of plain values."""

from typing import Any

from fwsvm.bounded_yaml import Node
from fwsvm.data.lock.entry import Lock
from fwsvm.data.lock.parsing import parse_lock
from fwsvm.data.lock.values import LockValue


def parse(raw: dict[str, Any]) -> Lock:
    """Return the lock of a parsed YAML document."""
    return parse_lock(LockValue(as_node(raw), "datasets.lock"))


def as_node(raw: Any, line: int = 0) -> Node:
    """Return plain values as YAML nodes without line numbers."""
    if isinstance(raw, dict):
        return Node({key: as_node(member) for key, member in raw.items()}, line)
    return Node([as_node(member) for member in raw], line) if isinstance(raw, list) else Node(raw, line)
