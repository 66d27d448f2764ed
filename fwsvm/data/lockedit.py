"""Writing to the lock: single values in place, so that its comments and order stay, and whole new entries.

In a checkout the top-level ``datasets.lock`` is edited; elsewhere the overlay in the cache, whose ``pins``
hold the changed values of single files. What would not be a valid lock is not written.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fwsvm.atomic import replacing
from fwsvm.data import lockfile
from fwsvm.data.exclusive import exclusive
from fwsvm.errors import DataError

Address = tuple[str, str, str]


def record(pins: Mapping[Address, Mapping[str, Any]]) -> Path:
    """Set values of files, each addressed by (dataset, source, file name), and return the lock written to."""
    if lockfile.in_checkout():
        path = lockfile.lock_path()
        with exclusive(lockfile.overlay_path()):
            text = path.read_text("utf-8")
            for address, values in pins.items():
                text = edited(text, address, values)
            return _write(path, text)
    addition = {"pins": {"/".join(address): dict(values) for address, values in pins.items()}}
    return _overlay(addition)


def add_entry(name: str, entry: Mapping[str, Any]) -> Path:
    """Add a data set and return the lock written to."""
    if not lockfile.in_checkout():
        return _overlay({"datasets": {name: dict(entry)}})
    path = lockfile.lock_path()
    with exclusive(lockfile.overlay_path()):
        lines = yaml.safe_dump(
            {name: dict(entry)}, sort_keys=False, allow_unicode=True, width=100
        ).splitlines()
        text = path.read_text("utf-8").rstrip("\n") + "\n\n" + "".join(f"  {line}\n" for line in lines)
        return _write(path, text)


def edited(text: str, address: Address, values: Mapping[str, Any]) -> str:
    """Return a lock's text with values of a file set: replaced where they stand, else put below its name."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    dataset, source, name = address
    edits: list[tuple[int, int, str]] = []
    for role in ("train", "test"):
        files = _descend(root, "datasets", dataset, "sources", source, role)
        for file in files.value if files is not None else ():
            if _descend(file, "file").value != name:
                continue
            for key, value in values.items():
                spelled = yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()
                edits.append(_edit(file, key, spelled))
    if not edits:
        raise DataError(f"datasets.lock has no file {'/'.join(address)}")
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edit(file: Any, key: str, spelled: str) -> tuple[int, int, str]:
    for key_node, value_node in file.value:
        if key_node.value == key:
            return value_node.start_mark.index, value_node.end_mark.index, spelled
    name_key, name = file.value[0]
    end = name.end_mark.index
    return end, end, f"\n{' ' * name_key.start_mark.column}{key}: {spelled}"


def _descend(node: Any, *keys: str) -> Any:
    for key in keys:
        found = [value for name, value in node.value if name.value == key]
        if not found:
            return None
        node = found[0]
    return node


def _overlay(addition: Mapping[str, Any]) -> Path:
    path = lockfile.overlay_path()
    with exclusive(path):
        raw: dict[str, Any] = lockfile.load_yaml(path) if path.is_file() else {"version": 1}
        for section, values in addition.items():
            known = raw.setdefault(section, {})
            for name, value in values.items():
                known[name] = {**known.get(name, {}), **value}
        whole = lockfile.load_yaml(lockfile.lock_path())
        lockfile.lay_over(whole, raw)
        lockfile.parse(whole, str(path))
        with replacing(path) as file:
            yaml.safe_dump(raw, file, sort_keys=False, allow_unicode=True)
    return path


def _write(path: Path, text: str) -> Path:
    lockfile.parse(yaml.safe_load(text), str(path))
    with replacing(path) as file:
        file.write(text)
    return path
