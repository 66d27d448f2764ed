"""The keys of an experiment from the places they may stand in: files it extends, the file itself, a profile.

A file that ``extends`` others starts from their keys as these are at the same profile; its own keys win, then
those of its own profile. Of several files the lists of data sets follow one another, each with the settings
of its file.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm.experiments.source_location import Spot, read

#: Of each of these only one may be given; one given in a later place replaces another given earlier.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))

#: Files that an experiment extends: one below another, in one list, and altogether.
DEEPEST, MOST_AT_ONCE, MOST_FILES = 20, 100, 200
MOST_ENTRIES = 1000  # data sets, and methods, of an experiment

Layer = dict[str, Spot]


@dataclass(frozen=True)
class Source:
    """An experiment's file, read: its own keys, its profiles, and the files it extends."""

    document: Spot
    keys: Layer
    profiles: Layer
    extended: tuple["Source", ...]

    @property
    def files(self) -> int:
        """How many files it was put together from."""
        return 1 + sum(source.files for source in self.extended)

    @property
    def profile_names(self) -> list[str]:
        """The profiles of the file and of those it extends."""
        names = [*self.profiles, *(name for source in self.extended for name in source.profile_names)]
        return list(dict.fromkeys(names))

    def at(self, profile: str | None, of_profile: Iterable[str], of_data: Iterable[str]) -> Layer:
        """Return the keys that hold at a profile; ``of_profile`` may stand in one, ``of_data`` with a data set."""
        own = self.keys
        if profile in self.profiles:
            own = merged(own, self.profiles[profile].mapping(of_profile, f"profile {profile}"))
        return merged(
            _joined([other.at(profile, of_profile, of_data) for other in self.extended], own, of_data), own
        )


def source(path: Path, known: Iterable[str], above: tuple[Path, ...] = ()) -> Source:
    """Return an experiment's file and all that it extends, the keys being those known.

    Raises
    ------
    UsageError
        Naming file and line of what is not a file, extends itself, or is no key.
    """
    document = read(path)
    keys = merged({}, document.mapping(known, "an experiment"))
    profiles = keys.pop("profiles").mapping(None, "profiles") if "profiles" in keys else {}
    extended: list[Source] = []
    for spot in keys.pop("extends").items(MOST_AT_ONCE) if "extends" in keys else []:
        other = path.parent / spot.text("extends")
        if not os.path.isfile(other):  # noqa: PTH113  (Path.is_file raises for a name that is too long)
            raise spot.wrong(f"there is no file {other}")
        if other.resolve() in [file.resolve() for file in (*above, path)]:
            raise spot.wrong(f"{spot.value} extends itself")
        if len(above) >= DEEPEST:
            raise spot.wrong(f"more than {DEEPEST} files extend one another")
        extended.append(source(other, known, (*above, path)))
        if sum(one.files for one in extended) > MOST_FILES:
            raise spot.wrong(f"more than {MOST_FILES} files are extended")
    return Source(document, keys, profiles, tuple(extended))


def merged(under: Layer, over: Layer) -> Layer:
    """Return the keys of both places; those of ``over`` win, and replace what excludes them."""
    kept = dict(under)
    for group in EXCLUSIVE:
        here = [key for key in group if key in over]
        if len(here) > 1:
            raise over[here[1]].wrong(f"give {here[0]} or {here[1]}, not both")
        if here:
            kept = {key: spot for key, spot in kept.items() if key not in group}
    return kept | over


def _joined(layers: list[Layer], own: Layer, of_data: Iterable[str]) -> Layer:
    """Return the keys of the files that a file extends, but for their names.

    What they do not all say alike goes with the data sets of the file that says it, unless ``own`` says it.
    """
    every = dict.fromkeys(key for layer in layers for key in layer if key not in {"name", "datasets"})
    alike = [key for key in every if all(_same(layer.get(key), layers[0].get(key)) for layer in layers)]
    apart = [key for key in every if key not in alike and key not in own]
    for key in apart:
        if key not in of_data:
            first, second = [layer[key] for layer in layers if key in layer][:2]
            where = f"{first.file}:{first.line}"
            raise second.wrong(f"{key} is not what {where} says; say it in the file that extends both")
    joined = {key: layers[0][key] for key in alike}
    chained: list[Spot] = []
    known: list[Any] = []
    for layer in layers:
        carried = {key: layer[key] for key in apart if key in layer}
        for plain_entry in layer["datasets"].items(MOST_ENTRIES) if "datasets" in layer else []:
            entry = _with(carried, plain_entry)
            if _bare(entry) in known:
                continue
            chained.append(entry)
            known.append(_bare(entry))
            if len(chained) > MOST_ENTRIES:
                raise entry.wrong(f"more than {MOST_ENTRIES:,} data sets are put together here")
    return joined | ({"datasets": Spot(chained, chained[0].file, chained[0].line)} if chained else {})


def _with(carried: Layer, entry: Spot) -> Spot:
    """Return an entry of data sets with settings that it does not make itself."""
    if not carried:
        return entry
    own = entry.value if isinstance(entry.value, dict) else {"name": entry}
    return Spot(merged(carried, own), entry.file, entry.line)


def _same(a: Spot | None, b: Spot | None) -> bool:
    return a is not None and b is not None and bool(_bare(a) == _bare(b))


def _bare(spot: Spot) -> Any:
    """Return a value without its places."""
    if isinstance(spot.value, dict):
        return {key: _bare(member) for key, member in spot.value.items()}
    return [_bare(member) for member in spot.value] if isinstance(spot.value, list) else str(spot.value)
