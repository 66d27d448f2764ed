"""Which of several rows of one run counts."""

from collections.abc import Mapping
from typing import TypeVar

from fwsvm.status import Status

RowT = TypeVar("RowT", bound=Mapping[str, str])


def keep_latest(rows: dict[str, RowT], row: RowT) -> None:
    """Add a row to those of other runs, by run id; one that did not finish does not replace one that did."""
    known = rows.get(row["run_id"])
    if known is None or Status(row["status"]).done or not Status(known["status"]).done:
        rows[row["run_id"]] = row
