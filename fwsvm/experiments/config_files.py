"""The keys of an experiment file, and how files, profiles and entries override one another.

A setting may stand in an extended file, the file, a profile, an entry of ``datasets`` and an entry of ``methods``; the
later one wins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from fwsvm.errors import UsageError, nearest, shown
from fwsvm.files.yaml_files import line_of_value, read_yaml

MAX_VALUES = 1000  # of one setting, repetitions, folds: more is a typing mistake
#: Keys that exclude each other: one given in a later place removes the others of its group.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))

Keys = dict[str, Any]
Text = str | None
Texts = str | list[str] | None
Truth = bool | None
PositiveFloat = Annotated[float, Meta(gt=0)]
Positive = PositiveFloat | None
PositiveInt = Annotated[int, Meta(ge=1)] | None
Fraction = Annotated[float, Meta(gt=0, lt=1)] | None
Count = Annotated[int, Meta(ge=1, le=MAX_VALUES)] | None


class KnownKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A mapping without other keys."""


class Range(KnownKeys):
    """Values from one to another, each the one before times ``step``."""

    from_: PositiveFloat = field(name="from")
    to: PositiveFloat
    step: Annotated[float, Meta(gt=1)] | Annotated[str, Meta(pattern="^log2$|^log10$")]


Values = (
    PositiveFloat | Annotated[list[PositiveFloat], Meta(min_length=1, max_length=MAX_VALUES)] | Range | None
)


class Limits(KnownKeys):
    """Limits of a run."""

    time_seconds: Positive = None
    iterations: PositiveInt = None


class SolverKeys(KnownKeys):
    """How a method runs."""

    C: Values = None
    lambda_: Values = field(default=None, name="lambda")
    class_weight: Annotated[str, Meta(pattern="^balanced$")] | dict[Any, PositiveFloat] | None = None
    stop: Text = None
    tolerance: Values = None
    search: Text = None
    protocol: Text = None
    retries: PositiveInt = None
    first_level: Positive = None
    candidates: Text = None
    gradient: Text = None
    limits: Limits | None = None


class TunerEntry(SolverKeys, kw_only=True):
    """The method that selects parameters."""

    name: str
    parameters: Keys | None = None


class SelectKeys(KnownKeys):
    """How parameters are selected before the reported runs."""

    holdout: Fraction = None
    folds: Annotated[int, Meta(ge=2, le=MAX_VALUES)] | None = None
    method: str | TunerEntry | None = None
    tolerance: Positive = None
    C: Values = None
    sigma2: Values = None
    gamma: Values = None


class SettingKeys(SolverKeys):
    """All settings of a method's runs on a data set."""

    kernel: Text = None
    kernel_parameters: Keys | None = None
    degree: PositiveInt = None
    coef0: float | None = None
    sigma2: Values = None
    gamma: Values = None
    width_rule: Text = None
    repetitions: Count = None
    select: SelectKeys | None = None
    warm_start: Truth = None


KERNEL_KEYS = ("kernel", "kernel_parameters", "degree", "coef0", "sigma2", "gamma", "width_rule")


class MethodEntry(SettingKeys, kw_only=True):
    """An entry of ``methods``."""

    name: str
    parameters: Keys | None = None


class DataKeys(SettingKeys):
    """Settings, and which rows of a data set are taken, and how."""

    rows: Positive = None
    test_rows: Positive = None
    test_fraction: Fraction = None
    zero_based: Truth = None
    scale: Text = None


class DataEntry(DataKeys):
    """An entry of ``datasets``."""

    name: Text = None
    train: Text = None
    test: Text = None
    label: str | int | None = None
    source: Text = None
    methods: Texts = None


class FileKeys(DataKeys):
    """The keys of a file, and of a profile."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.+-]*$", max_length=100)] | None = None
    extends: Texts = None
    datasets: str | list[str | DataEntry] | None = None
    methods: str | list[str | MethodEntry] | None = None
    seed: Annotated[int, Meta(ge=0)] | None = None
    workers: Count = None
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

    def files(self) -> Iterator["ConfigFile"]:
        """Yield the file and those that it extends."""
        yield self
        for base in self.extended:
            yield from base.files()

    @property
    def profile_names(self) -> list[str]:
        """The profiles of the file and of those it extends."""
        return list(dict.fromkeys(name for file in self.files() for name in file.profiles))

    def at(self, profile: str | None) -> Keys:
        """Return the keys at a profile; data sets of several extended files follow one another."""
        keys: Keys = {}
        entries: list[Any] = []
        for base in self.extended:
            keys = override(keys, base.at(profile))
            entries += [entry for entry in listed_values(keys.get("datasets", [])) if entry not in entries]
        if self.extended:
            keys["datasets"] = entries
        return override(override(keys, self.keys), self.profiles.get(profile or "", {}))

    def error(self, said: str, key: str = "", value: Any = None) -> UsageError:
        """Return an error with the file, and the line where a key has a value."""
        for file in self.files() if key else ():
            if (line := line_of_value(file.path, key, value)) is not None:
                return UsageError(f"{file.path}:{line}: {said}")
        return UsageError(f"{self.path}: {said}")


def read_config_file(path: Path, above: tuple[Path, ...] = ()) -> ConfigFile:
    """Return a YAML file with all files that it extends.

    Raises
    ------
    UsageError
        An unknown key or a value of the wrong kind, named with file and line; an extended file that does not exist.
    """
    keys = read_yaml(path)
    _check(path, keys)
    profiles = {str(name): own or {} for name, own in (keys.pop("profiles", None) or {}).items()}
    for own in profiles.values():
        _check(path, own)
    if path.resolve() in above:
        raise UsageError(f"{path}: it extends itself")
    extended = [
        read_config_file(path.parent / name, (*above, path.resolve()))
        for name in listed_values(keys.pop("extends", []))
    ]
    return ConfigFile(path, keys, profiles, tuple(extended))


def override(under: Keys, over: Keys) -> Keys:
    """Return the keys of both; those of ``over`` win, and remove the keys that they exclude."""
    given = {key: value for key, value in over.items() if value is not None}
    excluded = {key for group in EXCLUSIVE for key in group if not given.keys().isdisjoint(group)}
    return {key: value for key, value in under.items() if key not in excluded} | given


def entry_of(value: Any) -> Keys:
    """Return an entry of data sets or methods, which may be the name alone."""
    return value if isinstance(value, dict) else {"name": value}


def listed_values(value: Any) -> list[Any]:
    """Return a list, or one value as a list of it."""
    return value if isinstance(value, list) else [value]


def _check(path: Path, keys: Any) -> None:
    """Raise `UsageError`, with the line, for a key that is not known or a value of the wrong kind."""
    try:
        msgspec.convert(keys, FileKeys)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        key, value, held = "", keys, keys  # the innermost key, what it has, and what of that is wrong
        for name, place in re.findall(r"\.(\w+)|\[(\d+)\]", where):
            held = held[int(place)] if place else held[name]
            key, value = (key, value) if place else (name, held)
        if unknown := re.search("unknown field `(.*)`", said):
            known = sorted({name for struct in _STRUCTS for name in names_of(struct)})
            hint = nearest(unknown[1], known, f"the keys are {', '.join(known)}")
            hint = "it belongs elsewhere in an experiment" if unknown[1] in known else hint
            said, key, value = f"unknown key {unknown[1]!r}; {hint}", unknown[1], held[unknown[1]]
        elif missing := re.search("required field `(.*)`", said):
            said = f"{where.strip('.`')} needs the key {missing[1]}"
        else:
            wanted = said.removeprefix("Expected ").partition(", got")[0]
            for word, plain in _WORDS.items():
                wanted = wanted.replace(word, plain)
            given = "" if "[...]" in where else f", not {shown(held)}"
            said = f"{where.strip('.`') or 'a file'} must be {wanted}{given}"
        raise ConfigFile(path, keys, {}, ()).error(said, key, value) from None


_STRUCTS = (FileKeys, DataEntry, MethodEntry, SelectKeys, TunerEntry, Limits, Range)
#: Words of msgspec's and what they are in YAML.
_WORDS = {
    "`": "",
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    " | null": "",
    " |": " or",
}
