"""Formats of data files by name: the module that reads one, and what a lock may say of it.

A reader is imported when the first file of its format is read: some need pandas.
"""

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fwsvm.errors import UsageError, not_one_of, shown

MAX_INDEX = 2**31 - 2  # what a reader's 32-bit indices hold
COMPRESSED = (".gz", ".bz2", ".xz", ".Z")  # as endings after a format's own


WHITESPACE_NAMES = (" ", "whitespace", None)  # the ways to say: any run of spaces and tabs
NOT_DELIMITERS = frozenset(
    string.ascii_letters + string.digits + "+-.\"'"
)  # would take numbers and quotes apart


def explain_bad_delimiters(delimiter: object, comment: object) -> str:
    """Return what is wrong with a delimiter or a comment character, or ''."""
    if delimiter not in WHITESPACE_NAMES and not (_sign(delimiter) and delimiter not in NOT_DELIMITERS):
        said = "one character that is no part of a number or a name, or whitespace"
        return f"delimiter: {said}, not {shown(delimiter)}"
    if comment != "" and not (_sign(comment) and comment != delimiter):
        return f"comment: one character, not the delimiter, or nothing, not {shown(comment)}"
    return ""


def _sign(value: object) -> bool:
    """Return whether a value is one ASCII character other than NUL and line ends."""
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\n\r"


@dataclass(frozen=True)
class Format:
    """A format of data files.

    Attributes
    ----------
    module, function : str
        The module of the reader, imported when it is needed, and the name of the function there.
    options : mapping of str to type
        The reader's options and the types of their values in a lock, as msgspec converts them.
    suffixes : tuple of str
        Endings of files that are read in this format where they are given by their path.
    """

    module: str
    function: str = "read"
    options: Mapping[str, Any] = field(default_factory=dict)
    suffixes: tuple[str, ...] = ()


FORMATS = {
    "svmlight": Format("svmlight", options={"zero_based": bool}),
    "csv": Format(
        "tables",
        suffixes=(".csv", ".tsv"),
        options={
            "delimiter": str | None,
            "header": bool,
            "label": int | str,
            "drop": list[int | str],
            "categorical": list[int | str] | dict[int | str, list[int | float | str]],
            "comment": str | None,
            "features": Annotated[int, msgspec.Meta(ge=1, le=MAX_INDEX)],
        },
    ),
    "npy": Format("npy", suffixes=(".npy",)),
    "kdd99": Format("tables", "read_kdd99"),
    "miniboone": Format("tables", "read_miniboone"),
}


def loader_of(
    path: Path,
    *,
    zero_based: bool | None = None,
    label: str | None = None,
    columns: tuple[str, ...] = (),
    unlabelled: bool = False,
) -> dict[str, Any]:
    """Return how a file that is given by its path is read: by its suffix, else as svmlight.

    Parameters
    ----------
    path : Path
    zero_based : bool, optional
        Of files in LIBSVM's format, whether indices start at 0; without it that is seen from the file.
    label : str, optional
        Of CSV files, the column of the labels (`fwsvm.data.formats.tables.layout_of`).
    columns : tuple of str
        Of CSV files with a header, the features in their order; all columns but the label if empty.
    unlabelled : bool
        Whether a CSV file may be without labels.
    """
    ending = path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix
    found = next((name for name, each in FORMATS.items() if ending in each.suffixes), "svmlight")
    if found == "svmlight":
        if label is not None:
            raise UsageError(
                f"{path}: a column of labels is for CSV files; call the file NAME.csv if it is one"
            )
        return {"format": found, "zero_based": zero_based}
    if zero_based:
        raise UsageError(f"{path}: zero-based indices are for files in LIBSVM's format, not in {found}")
    if found == "csv":
        from fwsvm.data.formats.tables import layout_of

        layout = layout_of(path, label, unlabelled=unlabelled)
        return {
            "format": found,
            **layout,
            **({"columns": list(columns)} if columns and layout["header"] else {}),
        }
    if label is not None:
        raise UsageError(f"{path}: a column of labels is for CSV files")
    return {"format": found}


def checked_loader(loader: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lock's loader with its options converted; ValueError where one is unknown or wrong."""
    name = loader.get("format")
    if name not in FORMATS:
        raise ValueError(f"loader: {not_one_of('format', FORMATS, name) if name else 'format is missing'}")
    known, options = FORMATS[name], {}
    for key, value in loader.items():
        if key == "format":
            continue
        if key not in known.options:
            words = ", ".join(known.options) or "none"
            raise ValueError(f"loader: unknown key {key!r} of the format {name}; known: {words}")
        try:
            options[key] = msgspec.convert(value, known.options[key])
        except msgspec.ValidationError as error:
            raise ValueError(f"loader.{key}: {error}") from None
    if name == "npy":
        raise ValueError(
            "loader: format npy takes the labels from a second file, which no digest of a lock covers; give the .npy "
            "file by its path, or write the rows in LIBSVM's format"
        )
    if wrong := explain_bad_delimiters(options.get("delimiter", ","), options.get("comment", "")):
        raise ValueError(f"loader: {wrong}")
    return {"format": name, **options}
