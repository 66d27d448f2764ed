"""What other installed packages add, found through entry points: one group a kind of thing.

An entry point names a module, which registers what it offers as it is imported (docs/adding):

    [project.entry-points."fwsvm.kernels"]
    cauchy = "cauchy"

A module that cannot be imported is named in a warning, and what it had registered is taken back.
"""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fwsvm.errors import PluginWarning, UsageError, kind_and_words, nearest, shown

Entry = TypeVar("Entry")


def add_to_registry(registry: dict[str, Any], what: str, name: str, entry: Any) -> None:
    """Add an entry to a registry of things called ``what``; ValueError where the name is taken."""
    if name in registry:
        raise ValueError(f"a {what} named {name!r} is registered already")
    registry[name] = entry


def entry_of(registry: Mapping[str, Entry], what: str, name: str) -> Entry:
    """Return the entry of a registry of that name; `UsageError` with the nearest name, or with all, sorted."""
    if not isinstance(name, str) or name not in registry:
        hint = nearest(name, registry, f"the {what}s are {', '.join(sorted(registry))}")
        raise UsageError(f"there is no {what} {shown(name)}; {hint}")
    return registry[name]


def load_plugins(
    group: str, what: str, *registries: dict[Any, Any], check: Callable[[], object] = lambda: None
) -> None:
    """Import the modules of an entry point group; warn of those that cannot be, and take their entries back.

    ``what`` names the kind of thing in warnings; ``check`` raises where the registries do not fit together.
    """
    for entry in sorted(_installed().select(group=group), key=lambda entry: entry.name):
        before = [dict(registry) for registry in registries]
        try:
            entry.load()
            check()
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a stranger's code may raise anything)
            for registry, entries in zip(registries, before, strict=True):
                registry.clear()
                registry.update(entries)
            called = f"the {what} plug-in {entry.name!r} of the package {entry.dist.name} ({entry.value})"
            said = f"{called} is left out, because it could not be loaded: {kind_and_words(error)}"
            warnings.warn(said, PluginWarning, stacklevel=2)


@functools.cache
def _installed() -> Any:
    from importlib.metadata import entry_points

    return entry_points()  # reads a file of every installed package: once a process
