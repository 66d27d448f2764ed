"""The user's own ``datasets.lock`` in the cache folder: data sets that were added, and digests that were recorded.

``datasets`` are the user's entries, ``pins`` facts of single files by ``DATASET/SOURCE/FILE``. A change that makes the
lock invalid is not written. Every change holds one lock between processes.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from fwsvm.data import lockfile
from fwsvm.data.lockfile import DataSource, LockText, RawFile
from fwsvm.errors import DataError, UsageError
from fwsvm.files.atomic import make_folder, replacing
from fwsvm.files.lock import exclusive

Pins = Mapping[str, Mapping[str, Any]]


class Removed(NamedTuple):
    """What was removed from the overlay: whether an entry, and the pins of how many files."""

    entry: bool
    pins: int


def address(source: DataSource, file: RawFile) -> str:
    """Return the address of a file among the pins."""
    return f"{source.owner}/{source.name}/{file.file}"


def pinned(source: DataSource, file: RawFile) -> RawFile:
    """Return a file with what the overlay has of it now, which another process may just have recorded."""
    path = lockfile.overlay_path()
    pin = (lockfile.load(path).pins or {}).get(address(source, file)) if path.is_file() else None
    return msgspec.convert({**msgspec.to_builtins(file), **pin}, RawFile) if pin else file


def record(pins: Pins) -> Path:
    """Set facts of files in the overlay, and return its path."""

    def pin(overlay: dict[str, Any]) -> None:
        for name, facts in pins.items():
            overlay["pins"][name] = {**overlay["pins"].get(name, {}), **facts}

    return _change(pin)


def add_entry(name: str, entry: Mapping[str, Any]) -> Path:
    """Add a data set to the overlay, and return its path; a name that is there already is a `DataError`."""

    def add(overlay: dict[str, Any]) -> None:
        if name in overlay["datasets"]:
            said = f"{name} is in {lockfile.overlay_path()} already"
            raise DataError(f"{said}; `fwsvm data remove {name}` takes it out")
        overlay["datasets"][name] = dict(entry)

    return _change(add)


def remove(name: str) -> Removed:
    """Remove a user's data set, and the pins of its files, from the overlay.

    `UsageError` if there is nothing to remove; `DataError` if other entries depend on it.
    """
    removed = Removed(False, 0)

    def take(overlay: dict[str, Any]) -> None:
        nonlocal removed
        pins = [pin for pin in overlay["pins"] if pin.split("/")[0] == name]
        removed = Removed(overlay["datasets"].pop(name, None) is not None, len(pins))
        if not any(removed):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        for pin in pins:
            del overlay["pins"][pin]

    _change(take)
    return removed


def _change(change: Callable[[dict[str, Any]], None]) -> Path:
    """Change the overlay, and write it if the lock is valid with it, or was not before."""
    path = lockfile.overlay_path()
    make_folder(path.parent)
    with exclusive(path):
        before = lockfile.load(path) if path.is_file() else LockText()
        raw = {"version": lockfile.VERSION, "datasets": {}, "pins": {}}
        raw |= {key: value for key, value in msgspec.to_builtins(before).items() if value}
        change(raw)
        text = yaml.safe_dump({k: v for k, v in raw.items() if v}, sort_keys=False, allow_unicode=True)
        package = lockfile.lock_path()
        texts = {package: lockfile.load(package)}
        try:
            lockfile.assemble({**texts, path: lockfile.parse(text, path)})
        except DataError:
            if _is_valid({**texts, path: before}):
                raise
        with replacing(path) as file:
            file.write(text)
    return path


def _is_valid(texts: Mapping[Path, LockText]) -> bool:
    try:
        lockfile.assemble(texts)
    except DataError:
        return False
    return True


def record_in_checkout(pins: Pins) -> Path:
    """Set facts of files in the checkout's own lock, in place, and drop them from the overlay; return its path."""
    if not lockfile.in_checkout():
        raise UsageError("--into-checkout: this fwsvm does not run from a checkout")
    path = lockfile.lock_path()
    with exclusive(lockfile.overlay_path()):
        text = path.read_text("utf-8")
        for name, facts in pins.items():
            text = _edited(text, name, facts)
        lockfile.assemble({path: lockfile.parse(text, path)})
        with replacing(path) as file:
            file.write(text)
    if lockfile.overlay_path().is_file():

        def drop(overlay: dict[str, Any]) -> None:
            overlay["pins"] = {name: pin for name, pin in overlay["pins"].items() if name not in pins}

        _change(drop)
    return path


def _edited(text: str, address: str, facts: Mapping[str, Any]) -> str:
    """Return a lock's text with facts of a file set: replaced where it has them, else inserted below its name."""
    name = address.split("/")[2]
    block = re.search(rf"^( *)- file: {re.escape(name)}\n(?:\1  .*\n)*", text, re.MULTILINE)
    if block is None:
        raise DataError(f"{lockfile.lock_path()}: no lines of its own begin with `- file: {name}`")
    first, *lines = block[0].splitlines()
    indent = f"{block[1]}  "
    for key, value in facts.items():
        spelled = yaml.safe_dump(value).removesuffix("...\n").strip()
        at = [number for number, line in enumerate(lines) if line.startswith(f"{indent}{key}:")]
        lines[at[0] if at else 0 : at[0] + 1 if at else 0] = [f"{indent}{key}: {spelled}"]
    return text[: block.start()] + "\n".join([first, *lines, ""]) + text[block.end() :]
