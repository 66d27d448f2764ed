"""Data sets: fetched, verified, parsed, split and scaled; no kernel, problem or solver.

`load` takes a path, a name of ``datasets.lock`` or ``synthetic:...`` and returns a `Dataset`.

    catalogue       an entry or a path to a `Dataset`; `dataset`, `labels`, `splits` are what it is made of
    formats         readers of svmlight, csv, npy, KDD99 and MiniBooNE files; `parsed_copies` caches what they
                    return, and scaled rows larger than memory
    lockfile        datasets.lock, and the user's overlay
    fetching        the files of an entry, verified; what ``fwsvm data`` adds, locks and removes
    synthetic       generated data sets of any size
    inputs          rows as scale, summary and predict take them; `libsvm_tools` scales and samples them
    partitions      rows of a cluster
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwsvm.errors import DataError, UsageError, nearest, not_one_of
from fwsvm.files.folders import require_file

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset

__all__ = ["load"]


def load(
    name_or_path: str | Path,
    *,
    test: str | Path | None = None,
    zero_based: bool | None = None,
    label: str | None = None,
    source: str | None = None,
    offline: bool = False,
    seed: int = 0,
    scale: str | None = None,
    raw: bool = False,
) -> Dataset:
    """Return a data set, read, verified, split and scaled.

    Parameters
    ----------
    name_or_path : str or Path
        A path, if a file stands there; else a name in ``datasets.lock``; else ``synthetic:KIND?rows=...``.
    test : str or Path, optional
        A file of test rows, in place of any the data set has.
    zero_based : bool, optional
        Whether the files at the paths given count their features from 0. Without it they do where an index is 0; a
        notice tells, and ``zero_based`` of the rows.
    label : str, optional
        Of a CSV file, the column of the labels: its name in the header, or its number from 1; without it, one called
        label, labels, class, target or y.
    source : str, optional
        Which of an entry's alternative sources to use; the default is the first that is available.
    offline : bool
        Ask no server.
    seed : int
        Draws an entry's random split, and synthetic data whose spelling names no seed.
    scale : {"[0,1]", "[-1,1]", "none"}, optional
        How to scale, by the ranges of the training rows; the default is what the entry says, for files "none".
    raw : bool
        Leave the rows as they are in the files; ``scaling`` of what is returned still says how training scales them.
        It is such rows that a trained machine takes, which scales them itself (`fwsvm.predict`).

    Raises
    ------
    UsageError
        An option that the data does not have.
    DataError
        No such file or name (the sentence lists the nearest names), or a file that is not available, not readable, or
        not what the lock says.
    """
    import time
    from dataclasses import replace

    from fwsvm.data import catalogue, lockfile, synthetic
    from fwsvm.scaling import SCALINGS

    name = str(name_or_path)
    path = Path(name_or_path)
    held_out = Path(test) if test is not None else None
    is_file = path.is_file()
    is_synthetic = name.startswith("synthetic:")
    if scale is not None and scale not in SCALINGS:
        raise UsageError(not_one_of("scale", SCALINGS, scale))
    if held_out is not None:
        require_file(held_out)
    entry = None if is_file or is_synthetic else lockfile.read().find(name)
    if not (is_file or is_synthetic or entry):
        if path.exists() or "/" in name:
            require_file(path)
        raise DataError(unknown_name(name))
    if source and not entry:
        raise UsageError(f"{name}: only a data set of datasets.lock has sources to choose from")
    if (zero_based or label) and not is_file:
        raise UsageError(
            f"{name}: zero-based indices and a column of labels are for files given by their path"
        )
    if test and is_synthetic:
        raise UsageError(f"{name}: synthetic data has test rows of its own; `test=N` says how many")
    started = time.perf_counter()
    if entry:
        found = catalogue.load(entry, source=source, test=held_out, seed=seed, offline=offline, scale=scale)
    elif is_file:
        found = catalogue.load_path(path, test=held_out, zero_based=zero_based, scale=scale, label=label)
    else:
        found = synthetic.load(name, seed=seed, scale=scale)
    found = replace(found, load_seconds=time.perf_counter() - started)
    return found if raw else catalogue.scaled(found)


def unknown_name(name: str) -> str:
    """Return the sentence that a name is not in the lock, with a similar name."""
    from fwsvm.data import lockfile
    from fwsvm.data.synthetic import KINDS

    if name == "-":
        return "-: rows cannot be read from standard input; write the rows to a file first, and give its name"
    entries = lockfile.read().entries.values()
    words = [word for entry in entries for word in (entry.name, *entry.also)]
    hint = nearest(
        name, [*words, *(f"synthetic:{kind}" for kind in KINDS)], "`fwsvm data list` shows all names"
    )
    return f"{name}: neither a file nor a name in datasets.lock; {hint}"
