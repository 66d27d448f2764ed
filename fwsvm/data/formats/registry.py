"""Formats of data files by name: the module that reads one, and what a lock may say of it.

A reader is imported when the first file of its format is read: some need pandas.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fwsvm.data.formats.delimiters import explain_bad_delimiters
from fwsvm.errors import UsageError, not_one_of
from fwsvm.plugins import add_to_registry, entry_of

MAX_INDEX = 2**31 - 2  # what a reader's 32-bit indices hold
COMPRESSED = (".gz", ".bz2", ".xz", ".Z")  # as endings after a format's own


@dataclass(frozen=True)
class Format:
    """A format of data files.

    Attributes
    ----------
    module : str
        The module with ``read(path, **options)``, which returns a `fwsvm.data.dataset.LabelledRows` and notices.
    function : str
        The name of that function, where it is another one.
    options : mapping of str to type
        The reader's options and the types of their values in a lock, as msgspec converts them.
    suffixes : tuple of str
        Endings of files, such as ".arff", that are read in this format where they are given by their path.
    objection : callable (options) -> str, or None
        Why options do not go together; empty where they do.
    """

    module: str
    options: Mapping[str, Any] = field(default_factory=dict)
    suffixes: tuple[str, ...] = ()
    objection: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    function: str = "read"


FORMATS: dict[str, Format] = {}


def register(name: str, module: str, **more: Any) -> None:
    """Add a format under a name; arguments are the attributes of `Format`.

    ValueError where the name or a suffix is taken.
    """
    made = Format(module, **more)
    for suffix in made.suffixes:
        if not suffix.startswith(".") or suffix in COMPRESSED:
            raise ValueError(f"{suffix!r} is no suffix of a format: a point and letters")
        if taken := next((other for other, each in FORMATS.items() if suffix in each.suffixes), None):
            raise ValueError(f"files {suffix} are of the format {taken!r} already")
    add_to_registry(FORMATS, "format", name, made)


def format_of(name: str) -> Format:
    """Return the format of that name; `UsageError` with the names there are."""
    return entry_of(FORMATS, "format", name)


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
    if wrong := known.objection(options):
        raise ValueError(f"loader: {wrong}")
    return {"format": name, **options}


_HERE = __name__.rpartition(".")[0]
_Columns = list[int | str]
register("svmlight", f"{_HERE}.svmlight", options={"zero_based": bool})
register(
    "csv",
    f"{_HERE}.tables",
    suffixes=(".csv", ".tsv"),
    options={
        "delimiter": str | None,
        "header": bool,
        "label": int | str,
        "drop": _Columns,
        "categorical": _Columns | dict[int | str, list[int | float | str]],
        "comment": str | None,
        "features": Annotated[int, msgspec.Meta(ge=1, le=MAX_INDEX)],
    },
    objection=lambda given: explain_bad_delimiters(given.get("delimiter", ","), given.get("comment", "")),
)
register(
    "npy",
    f"{_HERE}.npy",
    suffixes=(".npy",),
    objection=lambda _: (
        "format npy takes the labels from a second file, which no digest of a lock covers; give the "
        ".npy file by its path, or write the rows in LIBSVM's format"
    ),
)
register("kdd99", f"{_HERE}.tables", function="read_kdd99")
register("miniboone", f"{_HERE}.tables", function="read_miniboone")
