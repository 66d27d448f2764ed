"""The user's own ``datasets.lock`` in the cache folder: data sets that were added, and digests that were recorded.

``datasets`` are the user's entries, ``pins`` facts of single files by ``DATASET/SOURCE/FILE``. A change that makes the
lock invalid is not written. Every change holds one lock between processes.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import yaml

from fwsvm.data import lockfile
from fwsvm.data.lockfile import DataSource, LockText, RawFile
from fwsvm.errors import DataError, UsageError
from fwsvm.files.atomic import make_folder, replacing
from fwsvm.files.lock import exclusive


class Removed(NamedTuple):
    """What was removed from the overlay: whether an entry, and the pins of how many files."""

    entry: bool
    pins: int


def _address(source: DataSource, file: RawFile) -> str:
    """Return the address of a file among the pins."""
    return f"{source.owner}/{source.name}/{file.file}"


def pinned(source: DataSource, file: RawFile) -> RawFile:
    """Return a file with what the overlay has of it now, which another process may just have recorded."""
    path = lockfile.overlay_path()
    facts = lockfile.load(path).pins.get(_address(source, file)) if path.is_file() else None
    return msgspec.convert({**msgspec.to_builtins(file), **facts}, RawFile) if facts else file


def pin(source: DataSource, file: RawFile, facts: Mapping[str, Any]) -> None:
    """Record facts of a file in the overlay."""
    with _changed() as overlay:
        overlay["pins"].setdefault(_address(source, file), {}).update(facts)


def add_entry(name: str, entry: Mapping[str, Any]) -> None:
    """Add a data set to the overlay; a name that is there already is a `DataError`."""
    with _changed() as overlay:
        if name in overlay["datasets"]:
            said = f"{name} is in {lockfile.overlay_path()} already"
            raise DataError(f"{said}; `fwsvm data remove {name}` takes it out")
        overlay["datasets"][name] = dict(entry)


def remove(name: str) -> Removed:
    """Remove a user's data set, and the pins of its files, from the overlay.

    `UsageError` if there is nothing to remove; `DataError` if other entries depend on it.
    """
    with _changed() as overlay:
        pins = [pin for pin in overlay["pins"] if pin.split("/")[0] == name]
        removed = Removed(overlay["datasets"].pop(name, None) is not None, len(pins))
        if not any(removed):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        for pin in pins:
            del overlay["pins"][pin]
    return removed


@contextmanager
def _changed() -> Iterator[dict[str, Any]]:
    """Give the overlay's sections to change, and write them if the lock is valid with them."""
    path, package = lockfile.overlay_path(), lockfile.lock_path()
    make_folder(path.parent)
    with exclusive(path):
        before = lockfile.load(path) if path.is_file() else LockText()
        sections = {"version": lockfile.VERSION, "datasets": {}, "pins": {}, **msgspec.to_builtins(before)}
        yield sections
        lockfile.assemble({package: lockfile.load(package), path: lockfile.sections_of(sections, path)})
        with replacing(path) as file:
            yaml.safe_dump(sections, file, sort_keys=False, allow_unicode=True)


def move_into_checkout(source: DataSource) -> bool:
    """Move the facts of a source's files from the overlay to the checkout's own lock, a line each at its end.

    Return whether there were any.
    """
    if not lockfile.in_checkout():
        raise UsageError("--into-checkout: this fwsvm does not run from a checkout")
    path, start = lockfile.lock_path(), f"{source.owner}/{source.name}/"
    with _changed() as overlay:
        pins = {name: overlay["pins"].pop(name) for name in [*overlay["pins"]] if name.startswith(start)}
        old = tuple(f"  {name}: " for name in pins)
        lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith(old)]
        lines += ["", "pins:"] if pins and "pins:" not in lines else []
        for name, facts in pins.items():
            lines.append(f"  {name}: {json.dumps({**facts, 'evidence': lockfile.LOCKED})}")  # JSON is YAML
        with replacing(path) as file:
            file.write("\n".join([*lines, ""]))
    return bool(pins)
