"""The keys of an experiment file, and how files, profiles and entries override one another.

A setting may stand in an extended file, the file, a profile, an entry of ``datasets`` and an entry of ``methods``; the
later one wins.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from fwsvm.errors import UsageError, nearest
from fwsvm.files.yaml_files import line_of, read_yaml

MAX_DEPTH = 20  # files that extend one another
MAX_VALUES = 1000  # of one setting, repetitions, folds: more is a typing mistake
#: Keys that exclude each other: one given in a later place removes the others of its group.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))

Positive = Annotated[float, Meta(gt=0)]
Fraction = Annotated[float, Meta(gt=0, lt=1)]
Count = Annotated[int, Meta(ge=1, le=MAX_VALUES)]
Keys = dict[str, Any]


class Range(Struct, forbid_unknown_fields=True):
    """Values from one to another, each the one before times ``step``."""

    from_: Positive = field(name="from")
    to: Positive
    step: Annotated[float, Meta(gt=1)] | Literal["log2", "log10"]


Values = Positive | Annotated[list[Positive], Meta(min_length=1, max_length=MAX_VALUES)] | Range


class Limits(Struct, forbid_unknown_fields=True):
    """Limits of a run."""

    time_seconds: Positive | None = None
    iterations: Annotated[int, Meta(ge=1)] | None = None


class SolverKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """How a method runs."""

    C: Values | None = None
    lambda_: Values | None = field(default=None, name="lambda")
    class_weight: str | dict[Any, Positive] | None = None
    stop: str | None = None
    tolerance: Values | None = None
    search: str | None = None
    protocol: str | None = None
    retries: Annotated[int, Meta(ge=1)] | None = None
    first_level: Positive | None = None
    candidates: str | None = None
    gradient: str | None = None
    limits: Limits | None = None


class TunerEntry(SolverKeys, kw_only=True):
    """The method that selects parameters."""

    name: str
    parameters: dict[str, str | float | bool] | None = None


class SelectKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """How parameters are selected before the reported runs."""

    holdout: Fraction | None = None
    folds: Annotated[int, Meta(ge=2, le=MAX_VALUES)] | None = None
    method: str | TunerEntry | None = None
    C: Values | None = None
    sigma2: Values | None = None
    gamma: Values | None = None


class SettingKeys(SolverKeys, kw_only=True):
    """All settings of a method's runs on a data set."""

    kernel: str | None = None
    kernel_parameters: dict[str, Any] | None = None
    degree: Annotated[int, Meta(ge=1)] | None = None
    coef0: float | None = None
    sigma2: Values | None = None
    gamma: Values | None = None
    width_rule: str | None = None
    repetitions: Count | None = None
    select: SelectKeys | None = None
    warm_start: bool | None = None


KERNEL_KEYS = ("kernel", "kernel_parameters", "degree", "coef0", "sigma2", "gamma", "width_rule")


class MethodEntry(SettingKeys, kw_only=True):
    """An entry of ``methods``."""

    name: str
    parameters: dict[str, str | float | bool] | None = None


class DataKeys(SettingKeys, kw_only=True):
    """Settings, and which rows of a data set are taken, and how."""

    rows: Positive | None = None
    test_rows: Positive | None = None
    test_fraction: Fraction | None = None
    zero_based: bool | None = None
    scale: Literal["none", "[0,1]", "[-1,1]"] | None = None


class DataEntry(DataKeys, kw_only=True):
    """An entry of ``datasets``."""

    name: str
    source: str | None = None
    methods: str | list[str] | None = None


class FileKeys(DataKeys, kw_only=True):
    """The keys of a file, and of a profile."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.+-]*$", max_length=100)] | None = None
    extends: str | list[str] | None = None
    datasets: str | list[str | DataEntry] | None = None
    methods: str | list[str | MethodEntry] | None = None
    seed: Annotated[int, Meta(ge=0)] | None = None
    workers: Count | None = None
    profiles: dict[str, Keys | None] | None = None


def names_of(kind: type[Struct]) -> list[str]:
    """Return the keys of a kind of mapping, as they are written."""
    return [each.encode_name for each in msgspec.structs.fields(kind)]


@dataclass(frozen=True)
class ConfigFile:
    """A YAML file: its own keys, those of its profiles, and the files that it extends."""

    path: Path
    keys: Keys
    profiles: dict[str, Keys]
    extended: tuple["ConfigFile", ...]

    @property
    def profile_names(self) -> list[str]:
        """The profiles of the file and of those it extends."""
        inherited = (name for base in self.extended for name in base.profile_names)
        return list(dict.fromkeys([*self.profiles, *inherited]))

    def at(self, profile: str | None) -> Keys:
        """Return the keys at a profile, extended files included."""
        own = override(self.keys, self.profiles.get(profile or "", {}))
        layers = [base.at(profile) for base in self.extended]
        return override(layers[0] if len(layers) == 1 else _joined(layers, own), own)


def read_config_file(path: Path, above: tuple[Path, ...] = ()) -> ConfigFile:
    """Return a YAML file with all files that it extends.

    Raises
    ------
    UsageError
        An unknown key or a value of the wrong kind, named with file and line; an extended file that does not exist.
    """
    keys = read_yaml(path)
    if keys is None:
        raise UsageError(f"{path}:1: the file is empty")
    checked(path, keys, FileKeys)
    profiles = {str(name): own or {} for name, own in (keys.pop("profiles", None) or {}).items()}
    for name, own in profiles.items():
        checked(path, own, FileKeys, ("profiles", name))
    for own in (keys, *profiles.values()):
        for group in EXCLUSIVE:
            if len(both := [key for key in group if own.get(key) is not None]) > 1:
                raise UsageError(f"{path}: give {both[0]} or {both[1]}, not both")
    extended = []
    for name in listed_values(keys.pop("extends", [])):
        other = path.parent / name
        if not other.is_file():
            raise UsageError(f"{path}: there is no file {other} to extend")
        if other.resolve() in [file.resolve() for file in (*above, path)] or len(above) == MAX_DEPTH:
            raise UsageError(f"{path}: it extends itself, by {name}")
        extended.append(read_config_file(other, (*above, path)))
    return ConfigFile(path, keys, profiles, tuple(extended))


def checked(path: Path, keys: Keys, kind: Any, place: tuple[str | int, ...] = ()) -> Any:
    """Return keys of a file as a struct of a kind.

    Raises
    ------
    UsageError
        A key is not known, of the nearest of which the message tells, or a value is of another kind.
    """
    try:
        return msgspec.convert(keys, kind)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        steps: list[str | int] = [int(place) if place else key for key, place in _STEP.findall(where)]
        where = ".".join(map(str, (*place, *steps)))
        if unknown := _UNKNOWN.search(said):
            key = unknown[1]
            known = {name for struct in _STRUCTS for name in names_of(struct) if key not in names_of(struct)}
            said, steps = f"unknown key {key!r}", [*steps, key]
            every = f"the keys are {', '.join(sorted(names_of(kind)))}"
            said += f"; {nearest(key, sorted(known), every)}"
        try:
            line = f":{line_of(path, (*place, *steps))}"
        except (OSError, LookupError):
            line = ""
        raise UsageError(f"{path}{line}: {f'{where}: ' if where else ''}{said}") from None


def override(under: Keys, over: Keys) -> Keys:
    """Return the keys of both; those of ``over`` win, and remove the keys that they exclude."""
    given = {key: value for key, value in over.items() if value is not None}
    excluded = {key for group in EXCLUSIVE for key in group if not given.keys().isdisjoint(group)}
    return {key: value for key, value in under.items() if key not in excluded} | given


def only_named(kind: type[Struct], keys: Keys) -> Keys:
    """Return those of the keys that a kind of mapping has."""
    return {key: keys[key] for key in names_of(kind) if key in keys}


def entry_of(value: Any) -> Keys:
    """Return an entry of data sets or methods, which may be the name alone."""
    return value if isinstance(value, dict) else {"name": value}


def listed_values(value: Any) -> list[Any]:
    """Return a list, or one value as a list of it."""
    return value if isinstance(value, list) else [value]


def _joined(layers: list[Keys], own: Keys) -> Keys:
    """Return the keys of several extended files, the later ones winning.

    Their data sets follow one another, each with the settings of its file that ``own`` does not override.
    """
    joined: Keys = {}
    entries: list[Keys] = []
    for layer in layers:
        joined |= layer
        carried = {key: v for key, v in only_named(DataKeys, override(layer, own)).items() if key not in own}
        for value in listed_values(layer.get("datasets", [])):
            entry = override(carried, entry_of(value))
            if entry not in entries:
                entries.append(entry)
    if not entries or "datasets" in own:
        return joined
    settings = names_of(DataKeys)  # which each entry carries
    return {key: value for key, value in joined.items() if key not in settings} | {"datasets": entries}


_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_UNKNOWN = re.compile("unknown field `(.*)`")
_STRUCTS = (FileKeys, DataEntry, MethodEntry, SelectKeys, TunerEntry, Limits, Range)
