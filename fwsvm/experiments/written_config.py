"""experiment.yaml of a results folder: the experiment as it was run, with profile, inheritance and ranges resolved."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fwsvm import __version__
from fwsvm.errors import ResultsError, WriteError
from fwsvm.files.atomic import replacing
from fwsvm.files.yaml_files import read_yaml
from fwsvm.results.files import present

#: In the first line of configurations that are written here; those of users have none.
WRITTEN_BY, LONGEST_COMMENT = ", by fwsvm ", 1 << 16


def write(folder: Path, resolved: Mapping[str, Any], comment: str) -> None:
    """Write the experiment; other experiments of the folder, and files of users, keep theirs.

    The first is ``experiment.yaml``, further ones ``experiment-2.yaml`` and so on.
    """
    with replacing(_path(folder, str(resolved["name"])), WriteError) as stream:
        # a file's name, which the comment has, may have line breaks or no UTF-8
        stream.write(f"# {ascii(comment)[1:-1]}{WRITTEN_BY}{__version__}\n")
        yaml.safe_dump(dict(resolved), stream, sort_keys=False, allow_unicode=True)


def _path(folder: Path, experiment: str) -> Path:
    """Return the file of this experiment that an earlier run wrote, or the first name that no file has."""
    numbered = (folder / f"experiment-{number}.yaml" for number in itertools.count(2))
    paths = itertools.chain([folder / "experiment.yaml"], numbered)
    return next(path for path in paths if not present(path) or _is_of(path, experiment))


def _is_of(path: Path, experiment: str) -> bool:
    """Return whether a configuration was written by `write` for this experiment, not by a user."""
    try:
        name = read_yaml(path, ResultsError)["name"]
        with path.open(encoding="utf-8", errors="replace") as stream:
            return str(name) == experiment and WRITTEN_BY in stream.readline(LONGEST_COMMENT)
    except (OSError, ResultsError, LookupError, TypeError):
        return False
