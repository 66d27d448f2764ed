"""experiment.yaml of a results folder, and those of further experiments: their texts, and settings to compare."""

from pathlib import Path
from typing import Any

from fwsvm.errors import ResultsError, shown
from fwsvm.files.yaml_files import parse_yaml
from fwsvm.results.files import bytes_of, present

MOST_FILES = 50  # of one folder


def files(folder: Path) -> list[Path]:
    """Return the configurations of a results folder, that of the first experiment first; further ones are left out."""
    return sorted(folder.glob("experiment*.yaml"), key=lambda path: (len(path.name), path.name))[:MOST_FILES]


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of a configuration; none if there is no such file, or nothing in it.

    Raises
    ------
    ResultsError
        The file is not YAML, or no mapping.
    """
    if not present(path):
        return {}
    content = parse_yaml(bytes_of(path), str(path), ResultsError)
    if not isinstance(content, dict | None):
        raise ResultsError(f"{path}: a mapping of settings belongs here, not {shown(content)}")
    return content or {}
