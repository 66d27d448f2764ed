"""The command line, run in this process, and the rows that it writes."""

import csv
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from fwsvm.cli import main

#: Columns of time, place, versions, memory and company, in which two runs alike to the last bit differ.
VOLATILE = frozenset(
    """
    message cache_hit_rate flags load_seconds compile_seconds train_seconds predict_seconds peak_memory_mib threads
    cache_mib parallel_cells shared machine cpu blas python numpy numba fwsvm commit started_utc schema
    """.split()  # noqa: SIM905
)


def run(*words: object, **environment: str) -> Result:
    """Run a command line, which ends by an exit code and never by an exception that nobody caught."""
    result = CliRunner().invoke(main, [str(word) for word in words], env=environment, catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def done(*words: object, code: int = 0, **environment: str) -> Result:
    """Run a command line, which ends by this exit code."""
    result = run(*words, **environment)
    assert result.exit_code == code, result.output
    return result


def rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the results in a folder."""
    with (folder / "runs.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def differing(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    """Return the columns, none of them volatile, that two rows of one run do not have alike."""
    return [name for name in a if name not in VOLATILE and a[name] != b[name]]
