"""experiment.yaml of a results folder, and those of further experiments: their texts, and settings to compare."""

from pathlib import Path
from typing import Any

from fwsvm import bounded_yaml
from fwsvm.errors import ResultsError, shown
from fwsvm.results.files import text_of

MOST_FILES = 50  # of one folder


def files(folder: Path) -> list[Path]:
    """Return the configurations of a results folder, that of the first experiment first; further ones are left out."""
    return sorted(folder.glob("experiment*.yaml"), key=lambda path: (len(path.name), path.name))[:MOST_FILES]


def configuration_text(path: Path) -> str:
    """Return the text of a configuration; ResultsError if it is not UTF-8 or is too large."""
    return text_of(path, path.parent, bounded_yaml.MOST_BYTES)


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of a configuration; none if there is no such file, or nothing in it.

    Raises
    ------
    ResultsError
        The file is not YAML within the bounds of `fwsvm.bounded_yaml`, or no mapping.
    """
    try:
        content = configuration_text(path)
    except FileNotFoundError:
        return {}
    if not content.strip():
        return {}
    node = bounded_yaml.parse(content, str(path), ResultsError)
    if not isinstance(node.value, dict):
        found = shown(node.value)
        raise ResultsError(f"{path}:{node.line}: a mapping of settings belongs here, not {found}")
    settings: dict[str, Any] = bounded_yaml.plain(node)
    return settings
