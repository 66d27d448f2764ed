"""The files of a data set, verified: of the first source that has all of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fwsvm.data.fetching.file_search import FileSearch
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.data.lock.entry import DataSource, Entry
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder


class Obtained(NamedTuple):
    """A source and its verified files: path and sha256 by file name, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found.
    """

    source: DataSource
    files: dict[str, tuple[Path, str]]
    notices: tuple[str, ...]
    lacking: str = ""


def obtain(
    entry: Entry, source_name: str | None, options: FetchOptions, *, without_test: bool = False
) -> Obtained:
    """Return the verified files of an entry: of the named source, or of the first source that is complete.

    Sources whose files need no network come first. With ``without_test``, training files alone are returned if no
    source is complete. `UnobtainableError` names every place that was tried and says how to add the files by hand.
    """
    sources = (entry.source(source_name),) if source_name else entry.sources
    search = FileSearch(options)
    try:
        for network in (False,) if options.offline else (False, True):
            for source in sources:
                files = search.find_all(source.files, source, network=network)
                if files is not None:
                    return Obtained(source, files, tuple(search.notices))
        remedy = _remedy(entry, sources, search, options)
        for source in sources if without_test else ():  # what the network gave is in the cache by now
            files = search.find_all(source.train, source, network=False)
            if files is not None:
                lacking = f"the test rows of {entry.name} are not available{remedy}"
                return Obtained(source, files, tuple(search.notices), lacking)
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}"
        ) from None
    raise UnobtainableError(f"{entry.name} is not available{remedy}")


def _remedy(entry: Entry, sources: Sequence[DataSource], search: FileSearch, options: FetchOptions) -> str:
    """Return the end of a sentence: what was tried in vain, and what the user can do."""
    files = [file for source in sources for file in source.files]
    unasked = options.offline and any(file.urls for file in files)
    untried = "no server was asked" if unasked else "no address is known"
    tried = "; ".join(dict.fromkeys(search.tried)) or untried
    fetch_it = f"`fwsvm data fetch {entry.name}`, " if unasked else ""
    unpinned = [file.file for file in files if not file.pinned and file.derivation is None]
    lock_it = f", `fwsvm data lock {entry.name}` to record the digest of {unpinned[0]}" if unpinned else ""
    offline = " (offline)" if options.offline else ""
    return (
        f"{offline}: {tried}. To get it: {fetch_it}`fwsvm data add {entry.name} FILE` "
        f"with a file you downloaded{lock_it}, or set FWSVM_MIRROR to a folder that has the files"
    )
