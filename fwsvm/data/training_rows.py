"""Input of `fwsvm scale`, `summary`, `check` and `subset`: a file, or the unscaled training rows of a data set."""

from pathlib import Path

from fwsvm import data
from fwsvm.data import formats, lockfile
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.fetching.download import FetchOptions
from fwsvm.data.fetching.obtaining import obtain
from fwsvm.data.formats.registry import loader_of
from fwsvm.data.subset import FileLines, FormattedLines, Lines
from fwsvm.errors import UsageError


def read(name_or_path: str | Path, *, zero_based: bool | None = None) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a file in LIBSVM's format, or those that training on a name uses, before it scales them.

    Of a data set of several files, or one that is split, the rows are those of `fwsvm.data.load`.

    Raises
    ------
    UsageError, DataError
        As of `fwsvm.data.load`.
    """
    path = Path(name_or_path)
    if path.exists():
        table, _, notices = formats.read_file(path, loader_of(path, zero_based=zero_based))
        return table, notices
    found = data.load(name_or_path, zero_based=zero_based, raw=True)
    return found.train, (
        f"{name_or_path}: the {found.train.rows:,} training rows of the data set, not scaled",
        *found.notices,
    )


def lines(name_or_path: str | Path) -> Lines:
    """Return rows as text: those of a file as they are written, those of a name written anew; see `read`."""
    path = Path(name_or_path)
    if path.exists():
        is_svmlight = loader_of(path)["format"] == "svmlight"
        return FileLines(path) if is_svmlight else FormattedLines(formats.read_path(path, loader_of(path))[0])
    return FormattedLines(data.load(name_or_path, raw=True).train)


def files(name_or_path: str | Path) -> tuple[Path, ...]:
    """Return the path, or the training files of a name, which must be in LIBSVM's format.

    Raises
    ------
    UsageError
        The data set has no such files, or there is no data set of that name.
    DataError
        The files are not available.
    """
    name = str(name_or_path)
    entry = None if Path(name).exists() or name.startswith("synthetic:") else lockfile.read().find(name)
    if entry is None:
        if name.startswith("synthetic:"):
            raise UsageError(f"{name}: synthetic rows are in no file that could be checked")
        if not Path(name).exists() and "/" not in name:
            raise UsageError(data.unknown_name(name))
        return (Path(name),)
    got = obtain(entry, None, FetchOptions.default())
    if got.source.generate:
        raise UsageError(f"{name}: generated rows are in no file that could be checked")
    if got.source.loader["format"] != "svmlight":
        raise UsageError(
            f"{name}: its files are not in LIBSVM's format but in that of the loader {got.source.loader['format']}; "
            f"`fwsvm subset {name} ROWS FILE` writes rows of it in LIBSVM's"
        )
    return tuple(dict.fromkeys(got.files[file.file][0] for file in got.source.train))
