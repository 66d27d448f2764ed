"""Experiment files: keys, those that come with fwsvm, and how files, profiles and entries override one another.

A setting may stand in an extended file, the file, a profile, an entry of ``datasets`` and an entry of ``methods``; the
later one wins.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from fwsvm.errors import UsageError, nearest
from fwsvm.files.yaml_files import read_yaml
from fwsvm.scaling import SCALINGS
from fwsvm.settings import Settings

MAX_VALUES = 1000  # of one setting, repetitions, folds: more is a typing mistake
SUFFIX = ".yaml"
#: Keys that exclude each other: one given in a later place removes the others of its group.
EXCLUSIVE = (("sigma2", "gamma", "width_rule"), ("C", "lambda"))
#: Settings that may hold one value, a list of values, or a range: the runs are all combinations. Key to field.
SWEPT = {"sigma2": "sigma2", "gamma": "gamma", "lambda": "lambda_", "C": "C", "tolerance": "tolerance"}
#: Options of grid, which are no keys.
OF_COMMAND = ("threads", "cache_mb", "scheduler", "out", "offline", "force")
#: Patterns of msgspec's messages, and the words instead.
PHRASES = {
    "Expected": "expected",
    "Invalid enum value": "there is no",
    "Object missing required field step": "it lacks the key step; write {from: 1, to: 64, step: 4} or a list",
    "Object missing required field": "it lacks the key",
    "text matching regex.*": "letters, digits and any of . + - _",
}
#: Kinds of values in messages.
WORDS = {
    "object": "keys with values",
    "array": "a list",
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "null": "nothing",
}
KERNEL_KEYS = ("kernel", "kernel_parameters", "degree", "coef0", "sigma2", "gamma", "width_rule")

Keys = dict[str, Any]
T = TypeVar("T")


def _kind(name: str, required: Keys, keys: Keys) -> type[Struct]:
    """Return the kind of a mapping that has these keys and no others; each has a type, and may be null."""
    known: list[Any] = [*required.items(), *((key, kind | None, None) for key, kind in keys.items())]
    return msgspec.defstruct(name, known, kw_only=True, forbid_unknown_fields=True)


_Positive = Annotated[float, Meta(gt=0)]
_Fraction = Annotated[float, Meta(gt=0, lt=1)]
_Count = Annotated[int, Meta(ge=1, le=MAX_VALUES)]
_Folds = Annotated[int, Meta(ge=2, le=MAX_VALUES)]
_Seed = Annotated[int, Meta(ge=0)]
_Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.+-]*$", max_length=100)]
_Step = Annotated[float, Meta(gt=1)] | Literal["log2", "log10"]
_Range = _kind("a range", {"from": _Positive, "to": _Positive, "step": _Step}, {})
_Values: Any = _Positive | Annotated[list[_Positive], Meta(min_length=1, max_length=MAX_VALUES)] | _Range
_Limits = _kind("limits", {}, {"time_seconds": _Positive, "iterations": Annotated[int, Meta(ge=1)]})

_TYPES = get_type_hints(Settings)
#: Fields of `Settings` that are no keys, or that other keys set.
_NO_KEYS = {
    "method",
    "parameters",
    "seed",
    "threads",
    "cache_mib",
    "time_limit",
    "max_iterations",
    "final_gap",
}
_SETTINGS: Keys = {
    each.name.rstrip("_"): _Values if each.name in SWEPT.values() else _TYPES[each.name]
    for each in fields(Settings)
    if each.name not in _NO_KEYS
} | {"class_weight": dict[Any, Annotated[float, Meta(gt=0)]] | Literal["balanced"], "limits": _Limits}
_OF_SOLVER = {key: kind for key, kind in _SETTINGS.items() if key not in KERNEL_KEYS}
_Tuner = _kind("a method", {"name": str}, {"parameters": Keys, **_OF_SOLVER})
_Select = _kind(
    "select",
    {},
    {
        "holdout": _Fraction,
        "folds": _Folds,
        "method": str | _Tuner,
        "tolerance": _Positive,
        **dict.fromkeys(("C", "sigma2", "gamma"), _Values),
    },
)
_OF_METHOD: Keys = {**_SETTINGS, "repetitions": _Count, "select": _Select}
_Method = _kind("a method", {"name": str}, {"parameters": Keys, **_OF_METHOD})
_OF_DATA: Keys = {
    **_OF_METHOD,
    "rows": _Positive,
    "test_rows": _Positive,
    "test_fraction": _Fraction,
    "zero_based": bool,
    "scale": Literal[SCALINGS],
}
_OF_ENTRY = {**dict.fromkeys(("name", "train", "test", "source"), str), "label": str | int}
_Data = _kind("a data set", {}, {**_OF_ENTRY, "methods": str | list[str], **_OF_DATA})
_OF_FILE: Keys = {
    "name": _Name,
    "extends": str | list[str],
    "datasets": str | list[str | _Data],  # type: ignore[valid-type]
    "methods": str | list[str | _Method],  # type: ignore[valid-type]
    "seed": _Seed,
    "workers": _Count,
    "profiles": dict[str, Keys | None],
    **_OF_DATA,
}
_File = _kind("a file", {}, _OF_FILE)
#: Kinds of mappings by the place where they stand.
PLACES = {
    "the file": _File,
    "an entry of datasets": _Data,
    "an entry of methods": _Method,
    "select": _Select,
    "select.method": _Tuner,
    "limits": _Limits,
}


def keys_of(place: str) -> list[str]:
    """Return the keys that may stand in a place."""
    return [each.encode_name for each in msgspec.structs.fields(PLACES[place])]


OF_TUNER = keys_of("select.method")


@dataclass(frozen=True)
class ConfigFile:
    """A YAML file: its own keys, those of its profiles, and the files that it extends."""

    path: Path
    keys: Keys
    profiles: dict[str, Keys]
    extended: tuple["ConfigFile", ...] = ()

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
        """Return an error with the file, and the line where a key has a value, else of the value or the key."""
        word = rf"(?<![\w.-]){re.escape(str(value))}(?![\w.-])"
        name = rf"(?<![\w.-]){re.escape(key)}['\"]? *:"
        for file in self.files() if key else ():
            text = file.path.read_text("utf-8-sig")
            for pattern in (f"{name}[^#\n]*{word}", word, name):
                if found := re.search(rf"^[^#\n]*?{pattern}", text, re.MULTILINE):
                    line = text.count("\n", 0, found.start()) + 1
                    return UsageError(f"{file.path}:{line}: {said}")
        return UsageError(f"{self.path}: {said}")


def read_config_file(path: Path) -> ConfigFile:
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
    extended = [read_config_file(path.parent / name) for name in listed_values(keys.pop("extends", []))]
    return ConfigFile(path, keys, profiles, tuple(extended))


def _check(path: Path, keys: Any) -> None:
    """Raise `UsageError`, with the line, for a key that is not known or a value of the wrong kind."""
    try:
        msgspec.convert(keys, _File)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$.")
        key, value, held = "", keys, keys  # the innermost key, what it has, and what of that is wrong
        for name, place in re.findall(r"(\w+)|\[(\d+)\]", where.replace("[...]", "")):
            held = held[int(place)] if place else held[name]
            key, value = (key, value) if place else (name, held)
        if unknown := re.search("unknown field `(.*)`", said):
            key = unknown[1]
            value, said = held[key], f"unknown key {key!r}; {_hint(key, is_top=not where)}".rstrip("; ")
        else:
            said = re.sub("`([a-z_| ]+)`", _in_words, said)
            for phrase, words in PHRASES.items():
                said = re.sub(phrase, words, said)
            said = f"{where.rstrip('`')}: {said.replace('`', '')}".removeprefix(": ")
        raise ConfigFile(path, keys, {}).error(said, key, value) from None


def _in_words(kinds: "re.Match[str]") -> str:
    return " or ".join(WORDS.get(kind, kind) for kind in kinds[1].split(" | "))


def _hint(key: str, *, is_top: bool) -> str:
    """Return where an unknown key belongs, or the nearest key; ``is_top`` says that no other key holds it."""
    if key in OF_COMMAND:
        return f"write --{key.replace('_', '-')} on the command line"
    known = {each for place in PLACES for each in keys_of(place)}
    hint = "it belongs elsewhere in an experiment" if key in known else nearest(key, known)
    return nearest(key, keys_of("the file"), hint) if is_top else hint


def override(under: Keys, over: Keys) -> Keys:
    """Return the keys of both; those of ``over`` win, and remove the keys that they exclude."""
    given = {key: value for key, value in over.items() if value is not None}
    excluded = {key for group in EXCLUSIVE for key in group if not given.keys().isdisjoint(group)}
    return {key: value for key, value in under.items() if key not in excluded} | given


def picked(keys: Mapping[str, T], names: Iterable[str]) -> dict[str, T]:
    """Return those of some keys that are there."""
    return {key: keys[key] for key in names if key in keys}


def entry_of(value: Any) -> Keys:
    """Return an entry of data sets or methods, which may be the name alone."""
    return value if isinstance(value, dict) else {"name": value}


def listed_values(value: Any) -> list[Any]:
    """Return a list, or one value as a list of it."""
    return value if isinstance(value, list) else [value]


def shipped_files() -> dict[str, Path]:
    """Return the files of the experiments that come with fwsvm by name: in ``configs`` of the package or a checkout."""
    here = Path(__file__)
    installed = here.with_name("configs")
    folder = installed if installed.is_dir() else here.parents[2] / installed.name
    return {file.stem: file for file in sorted(folder.glob(f"*{SUFFIX}"), key=lambda file: file.stem)}


def config_file(word: Path) -> Path:
    """Return the file that is meant: ``word`` if it exists or has a folder, else the shipped experiment of that name.

    Raises
    ------
    UsageError
        Neither a file nor a shipped experiment.
    """
    if os.path.exists(word) or word.parent != Path():  # noqa: PTH110  (Path.exists raises for a name that is too long)
        return word
    name = word.name.removesuffix(SUFFIX)
    files = shipped_files()
    if name not in files:
        hint = nearest(name, files, "`fwsvm grid --list` shows all")
        raise UsageError(f"{word}: neither a file nor an experiment that comes with fwsvm; {hint}")
    return files[name]


def first_sentence(file: Path) -> str:
    """Return the first sentence of the comment that a file begins with."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text("utf-8").splitlines())
    text = " ".join(line.strip("# ") for line in lines)
    return re.split(r"(?<=[^.][.])\s(?=[A-Z])", text, maxsplit=1)[0]
