"""Formats of data files by name: the module that reads one, and what a lock may say of it.

A reader is imported when the first file of its format is read: some need pandas.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwsvm.data.formats.delimiters import explain_bad_delimiters
from fwsvm.data.lock.values import LockValue
from fwsvm.errors import UsageError, shown
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
    options : mapping of str to callable (LockValue) -> value
        The reader's options, as a lock gives them.
    suffixes : tuple of str
        Endings of files, such as ".arff", that are read in this format where they are given by their path.
    objection : callable (options) -> str, or None
        Why options do not go together; empty where they do.
    """

    module: str
    options: Mapping[str, Callable[[LockValue], Any]] = field(default_factory=dict)
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


def _text_or_nothing(value: LockValue) -> str | None:
    """Return a text as it stands, blanks and all, or None."""
    if value.node.value is not None and not isinstance(value.node.value, str):
        raise value.error(f"a text, not {shown(value.node.value)}")
    return value.node.value


def _categorical(value: LockValue) -> Any:
    if isinstance(value.node.value, list):
        return [item.column() for item in value.items()]
    columns = {key: [item.label() for item in values.items()] for key, values in value.pairs()}
    if len({type(key) for key in columns}) > 1 or float in map(type, columns):
        raise value.error("columns are all places or all names")
    return columns


_HERE = __name__.rpartition(".")[0]
register("svmlight", f"{_HERE}.svmlight", options={"zero_based": LockValue.boolean})
register(
    "csv",
    f"{_HERE}.tables",
    suffixes=(".csv", ".tsv"),
    options={
        "delimiter": _text_or_nothing,
        "header": LockValue.boolean,
        "label": LockValue.column,
        "drop": lambda value: [item.column() for item in value.items()],
        "categorical": _categorical,
        "comment": _text_or_nothing,
        "features": lambda value: value.count(MAX_INDEX),
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
