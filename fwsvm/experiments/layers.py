"""The keys of an experiment from the places they may stand in: files it extends, the file itself, a profile.

A file that ``extends`` others starts from their keys as these are at the same profile; its own keys win, then
those of its own profile. Of several files the lists of data sets follow one another, and whatever else they
say must be the same, or be said again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm.errors import UsageError
from fwsvm.experiments.spot import Spot, read

#: Of each of these only one may be given; one given in a later place replaces another given earlier.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))

Layer = dict[str, Spot]


@dataclass(frozen=True)
class Source:
    """An experiment's file, read: its own keys, its profiles, and the files it extends."""

    document: Spot
    keys: Layer
    profiles: Layer
    extended: tuple["Source", ...]

    @property
    def profile_names(self) -> list[str]:
        """The profiles of the file and of those it extends."""
        names = [*self.profiles, *(name for source in self.extended for name in source.profile_names)]
        return list(dict.fromkeys(names))

    def at(self, profile: str | None, may_override: Iterable[str]) -> Layer:
        """Return the keys that hold at a profile."""
        keys = _joined([source.at(profile, may_override) for source in self.extended], self)
        keys = merged(keys, self.keys)
        if profile in self.profiles:
            keys = merged(keys, self.profiles[profile].mapping(may_override, f"profile {profile}"))
        return keys


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
    extended = []
    for spot in keys.pop("extends").items() if "extends" in keys else []:
        other = path.parent / spot.text("extends")
        if other.resolve() in [file.resolve() for file in (*above, path)]:
            raise spot.wrong(f"{spot.value} extends itself")
        if not other.is_file():
            raise spot.wrong(f"there is no file {other}")
        extended.append(source(other, known, (*above, path)))
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


def _joined(layers: list[Layer], child: Source) -> Layer:
    """Return the keys of the files that a file extends; each has a name of its own."""
    joined: Layer = {}
    for layer in layers:
        for key, spot in layer.items():
            if key == "datasets":
                joined[key] = _chained(joined[key], spot) if key in joined else spot
            elif key in joined and key not in child.keys and _bare(joined[key]) != _bare(spot):
                raise _disagreement(key, joined[key], spot)
            elif key != "name":
                joined[key] = spot
    return joined


def _chained(first: Spot, second: Spot) -> Spot:
    """Return one list of both lists' members, a repeated one once."""
    members = first.items()
    known = [_bare(member) for member in members]
    return Spot([*members, *(m for m in second.items() if _bare(m) not in known)], first.file, first.line)


def _disagreement(key: str, first: Spot, second: Spot) -> UsageError:
    return second.wrong(
        f"{key} is not what {first.file}:{first.line} says; say it in the file that extends both"
    )


def _bare(spot: Spot) -> Any:
    """Return a value without its places."""
    if isinstance(spot.value, dict):
        return {key: _bare(member) for key, member in spot.value.items()}
    return [_bare(member) for member in spot.value] if isinstance(spot.value, list) else str(spot.value)
