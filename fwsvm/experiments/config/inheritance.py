"""Inheritance of settings: from extended files, the file itself, and a profile.

A file that ``extends`` others inherits their keys, at the same profile; its own keys override these, and the keys of
its own profile override all. The data sets of several extended files are concatenated, each with the settings of its
file.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm.experiments.config.located_value import LocatedValue, read_yaml

#: Keys that exclude each other: one given in a later place removes the others of its group.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))

#: Files that an experiment extends: one below another, in one list, and altogether.
MAX_DEPTH, MAX_EXTENDED, MAX_FILES = 20, 100, 200
MAX_ENTRIES = 1000  # data sets, and methods, of an experiment

Keys = dict[str, LocatedValue]


@dataclass(frozen=True)
class ConfigFile:
    """A parsed YAML file: its own keys, its profiles, and the files it extends."""

    document: LocatedValue
    keys: Keys
    profiles: Keys
    extended: tuple["ConfigFile", ...]

    @property
    def files(self) -> int:
        """The number of files, itself included."""
        return 1 + sum(base.files for base in self.extended)

    @property
    def profile_names(self) -> list[str]:
        """The profiles of the file and of those it extends."""
        names = [
            *self.profiles,
            *(name for base in self.extended for name in base.profile_names),
        ]
        return list(dict.fromkeys(names))

    def at(self, profile: str | None, of_profile: Iterable[str], of_data: Iterable[str]) -> Keys:
        """Return the keys at a profile, after inheritance.

        ``of_profile`` are the keys that a profile may have, ``of_data`` those that an entry of ``datasets`` may have.
        """
        own = self.keys
        if profile in self.profiles:
            own = merge_keys(own, self.profiles[profile].mapping(of_profile, f"profile {profile}"))
        return merge_keys(
            _merge_extended(
                [other.at(profile, of_profile, of_data) for other in self.extended], own, of_data
            ),
            own,
        )


def read_config_file(path: Path, known: Iterable[str], above: tuple[Path, ...] = ()) -> ConfigFile:
    """Return a YAML file with all files that it extends.

    Raises
    ------
    UsageError
        An unknown key, an extended file that does not exist or extends itself; file and line are named.
    """
    document = read_yaml(path)
    keys = merge_keys({}, document.mapping(known, "an experiment"))
    profiles = keys.pop("profiles").mapping(None, "profiles") if "profiles" in keys else {}
    extended: list[ConfigFile] = []
    for located in keys.pop("extends").items(MAX_EXTENDED) if "extends" in keys else []:
        other = path.parent / located.text("extends")
        if not os.path.isfile(other):  # noqa: PTH113  (Path.is_file raises for a name that is too long)
            raise located.error(f"there is no file {other}")
        if other.resolve() in [file.resolve() for file in (*above, path)]:
            raise located.error(f"{located.value} extends itself")
        if len(above) >= MAX_DEPTH:
            raise located.error(f"more than {MAX_DEPTH} files extend one another")
        extended.append(read_config_file(other, known, (*above, path)))
        if sum(one.files for one in extended) > MAX_FILES:
            raise located.error(f"more than {MAX_FILES} files are extended")
    return ConfigFile(document, keys, profiles, tuple(extended))


def merge_keys(under: Keys, over: Keys) -> Keys:
    """Return the keys of both; those of ``over`` win, and remove the keys that they exclude."""
    kept = dict(under)
    for group in EXCLUSIVE:
        here = [key for key in group if key in over]
        if len(here) > 1:
            raise over[here[1]].error(f"give {here[0]} or {here[1]}, not both")
        if here:
            kept = {key: located for key, located in kept.items() if key not in group}
    return kept | over


def _merge_extended(layers: list[Keys], own: Keys, of_data: Iterable[str]) -> Keys:
    """Return the keys inherited from several files, without their names.

    A key in which they differ moves into the data set entries of its file, unless the extending file (``own``) has it.
    """
    every = dict.fromkeys(key for layer in layers for key in layer if key not in {"name", "datasets"})
    alike = [key for key in every if all(_equal(layer.get(key), layers[0].get(key)) for layer in layers)]
    apart = [key for key in every if key not in alike and key not in own]
    for key in apart:
        if key not in of_data:
            first, *others = [layer[key] for layer in layers if key in layer]
            second = next((other for other in others if not _equal(other, first)), None)
            if second is None:
                raise first.error(
                    f"{key} is set in only some of the extended files; set it in the file that extends them"
                )
            where = f"{first.file}:{first.line}"
            raise second.error(f"{key} differs from {where}; set it in the file that extends both")
    joined = {key: layers[0][key] for key in alike}
    chained: list[LocatedValue] = []
    known: list[Any] = []
    for layer in layers:
        carried = {key: layer[key] for key in apart if key in layer}
        for plain_entry in layer["datasets"].items(MAX_ENTRIES) if "datasets" in layer else []:
            entry = _with_settings(carried, plain_entry)
            if _plain_value(entry) in known:
                continue
            chained.append(entry)
            known.append(_plain_value(entry))
            if len(chained) > MAX_ENTRIES:
                raise entry.error(f"more than {MAX_ENTRIES:,} data sets are put together here")
    return joined | ({"datasets": LocatedValue(chained, chained[0].file, chained[0].line)} if chained else {})


def _with_settings(carried: Keys, entry: LocatedValue) -> LocatedValue:
    """Return an entry of data sets with inherited settings, which its own override."""
    if not carried:
        return entry
    own = entry.value if isinstance(entry.value, dict) else {"name": entry}
    return LocatedValue(merge_keys(carried, own), entry.file, entry.line)


def _equal(a: LocatedValue | None, b: LocatedValue | None) -> bool:
    return a is not None and b is not None and bool(_plain_value(a) == _plain_value(b))


def _plain_value(located: LocatedValue) -> Any:
    """Return a value without file and line."""
    if isinstance(located.value, dict):
        return {key: _plain_value(member) for key, member in located.value.items()}
    return (
        [_plain_value(member) for member in located.value]
        if isinstance(located.value, list)
        else str(located.value)
    )


def entry_of(located: LocatedValue, known: tuple[str, ...], what: str) -> Keys:
    """Return an entry that names a data set or a method, which may be the name alone."""
    if not isinstance(located.value, dict):
        return {"name": located}
    entry = located.mapping(known, what)
    if "name" not in entry:
        raise located.error(f"{what} needs a name")
    return entry
