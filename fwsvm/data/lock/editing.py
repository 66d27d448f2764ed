"""Writing to the lock: to the user's overlay in the cache, or to a checkout's file, keeping its comments and order.

The overlay's ``datasets`` are the user's entries, its ``pins`` changed facts of single files. Text that is not a valid
lock is never written. Every change holds one inter-process lock.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fwsvm import bounded_yaml
from fwsvm.data.lock import lockfile, parsing
from fwsvm.data.lock.values import LockValue
from fwsvm.errors import DataError, UsageError, shown
from fwsvm.files.atomic import make_folder, replacing
from fwsvm.files.lock import exclusive

Address = tuple[str, str, str]


class Removed(NamedTuple):
    """What was removed from a lock: whether an entry, the pins of how many files, and from which file."""

    entry: bool
    pins: int
    path: Path


def record(pins: Mapping[Address, Mapping[str, Any]], *, into_checkout: bool = False) -> Path:
    """Set facts of files, each addressed by (dataset, source, file name), and return the lock written to."""
    named = {"/".join(address): dict(values) for address, values in pins.items()}

    def pin(raw: dict[str, Any]) -> None:
        known = _section(raw, "pins")
        for address, values in named.items():
            known[address] = {**known.get(address, {}), **values}

    if not into_checkout:
        return _change_overlay(pin)

    def edit(text: str) -> str:
        for address, values in pins.items():
            text = edited(text, address, values)
        return text

    return _change_checkout(edit)


def add_entry(name: str, entry: Mapping[str, Any], *, into_checkout: bool = False) -> Path:
    """Add a data set and return the lock written to; a name that is there already is a `DataError`."""

    def add(raw: dict[str, Any]) -> None:
        known = _section(raw, "datasets")
        if name in known:
            raise DataError(
                f"{name} is in {lockfile.overlay_path()} already; `fwsvm data remove {name}` takes it out"
            )
        known[name] = dict(entry)

    def append(text: str) -> str:
        spelled = yaml.safe_dump({name: dict(entry)}, sort_keys=False, allow_unicode=True, width=100)
        lines = "".join(f"  {line}\n" for line in spelled.splitlines())
        return text.rstrip("\n") + "\n\n" + lines

    return _change_checkout(append) if into_checkout else _change_overlay(add)


def remove(name: str, *, into_checkout: bool = False) -> Removed:
    """Remove a user's data set, and the pins of its files, from the overlay.

    With ``into_checkout``, remove the entry from the checkout's lock. `UsageError` if there is nothing to remove;
    `DataError` if other entries depend on it.
    """
    if into_checkout:
        return Removed(True, 0, _change_checkout(lambda text: _without(text, name)))
    gone: list[bool] = []

    def take(raw: dict[str, Any]) -> None:
        known, pins = _section(raw, "datasets"), _section(raw, "pins")
        gone[:] = [name in known, *(True for address in pins if address.split("/")[0] == name)]
        if not any(gone):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        known.pop(name, None)
        raw["pins"] = {address: pin for address, pin in pins.items() if address.split("/")[0] != name}

    path = _change_overlay(take)
    return Removed(gone[0], len(gone) - 1, path)


def _section(raw: dict[str, Any], key: str) -> dict[str, Any]:
    found = raw[key] = raw.get(key) or {}
    if not isinstance(found, dict):
        raise DataError(
            f"{lockfile.overlay_path()}: {key}: must be a mapping of keys to values, not {shown(found)}"
        )
    return found


def _change_overlay(change: Callable[[dict[str, Any]], None]) -> Path:
    """Change the overlay, and write it if the lock is valid with it (or was invalid before)."""
    path = lockfile.overlay_path()
    with _locked(path):
        raw = bounded_yaml.plain(lockfile.load(path).node) if path.is_file() else {"version": parsing.VERSION}
        if not isinstance(raw, dict):
            raise DataError(f"{path}: not a lock: the top level must be a mapping")
        change(raw)
        text = yaml.safe_dump(
            {key: part for key, part in raw.items() if part != {}}, sort_keys=False, allow_unicode=True
        )
        package = lockfile.load(lockfile.lock_path())
        try:
            parsing.parse_lock(package, _read(text, path))
        except DataError:
            if _valid(package, path):
                raise
        _write(path, text)
    return path


def _valid(package: LockValue, overlay: Path) -> bool:
    """Return whether the current lock is valid."""
    try:
        parsing.parse_lock(package, *([lockfile.load(overlay)] if overlay.is_file() else []))
    except DataError:
        return False
    return True


def _change_checkout(change: Callable[[str], str]) -> Path:
    """Change the text of the checkout's lock."""
    if not lockfile.in_checkout():
        raise UsageError("--into-checkout: this fwsvm does not run from a checkout")
    path = lockfile.lock_path()
    with _locked(lockfile.overlay_path()):
        text = change(path.read_text("utf-8"))
        parsing.parse_lock(_read(text, path))
        _write(path, text)
    return path


def _locked(path: Path) -> Any:
    make_folder(path.parent)
    return exclusive(path)


def _read(text: str, path: Path) -> LockValue:
    return LockValue(bounded_yaml.parse(text, str(path), DataError, typed_keys=True), str(path))


def _write(path: Path, text: str) -> None:
    if len(text.encode()) > bounded_yaml.MOST_BYTES:
        raise DataError(f"{path} would have more than {bounded_yaml.MOST_BYTES >> 20} MiB, which is not read")
    with replacing(path) as file:
        file.write(text)


def _without(text: str, name: str) -> str:
    """Return a lock's text without an entry; comments before and after it stay."""
    datasets = _descend(yaml.compose(text, Loader=yaml.SafeLoader), "datasets")
    for key, value in datasets.value if datasets is not None else ():
        if key.value == name:
            lines = text.splitlines(keepends=True)
            first, last = key.start_mark.line, value.end_mark.line
            while not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#"):
                last -= 1
            return "".join(lines[:first] + lines[last:])
    raise UsageError(f"{lockfile.lock_path()} has no entry {name}")


def edited(text: str, address: Address, values: Mapping[str, Any]) -> str:
    """Return a lock's text with values of a file set: replaced if it has them, else inserted below its name."""
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
