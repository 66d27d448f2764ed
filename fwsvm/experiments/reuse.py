"""Runs that another results folder holds already: an experiment takes them over instead of making them again.

A run's identity is the hash of all that decides its outcome, so which experiment made it first is no matter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fwsvm.experiments.store import read_rows
from fwsvm.solvers import Status


@dataclass(frozen=True)
class Reusable:
    """A finished run of another folder: its row, and where its trace would be."""

    row: Mapping[str, str]
    folder: Path


def loans(folders: Iterable[Path], notices: list[str]) -> dict[str, Reusable]:
    """Return the finished runs of results folders by run id; a folder that is not there yet lends nothing.

    Raises
    ------
    ResultsError
        A folder holds rows of another version.
    """
    found: dict[str, Reusable] = {}
    for folder in folders:
        for run_id, row in read_rows(folder / "runs.csv", notices).items():
            if Status(row["status"]).done:
                found.setdefault(run_id, Reusable(row, folder))
    return found


def with_loans(
    rows: Mapping[str, Mapping[str, str]], lent: Mapping[str, Reusable]
) -> dict[str, Mapping[str, str]]:
    """Return a folder's rows by run id with those that will be taken over."""
    own = {run_id: row for run_id, row in rows.items() if run_id not in lent or Status(row["status"]).done}
    return {run_id: loan.row for run_id, loan in lent.items()} | own
