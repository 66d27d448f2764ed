"""Rows that must have seen the same data and did not: one name stood for other bytes, splits or ranges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fwsvm.errors import shortened

#: Rows alike in these must have seen the same data.
SAME_DATA = ("experiment", "profile", "role", "dataset", "seed", "fold", "repetition")


def different_data(
    rows: Iterable[tuple[Mapping[Any, Any], str]], alike: Sequence[str] = SAME_DATA, *, within: bool = False
) -> Iterator[str]:
    """Yield what to say for each data set that differs between two places, in rows that are ``alike``.

    Or ``within`` one place, too.

    ``rows`` are pairs of a row and the place that it is from. Rows that ran on no data have no digest.
    """
    seen: dict[tuple[str, ...], tuple[str, str]] = {}
    named: set[str] = set()
    for row, where in rows:
        digest, dataset = str(row["data_sha256"]), str(row["dataset"])
        if not digest:
            continue
        first, before = seen.setdefault(tuple(str(row[name]) for name in alike), (digest, where))
        if first != digest and (within or where != before) and dataset not in named:
            named.add(dataset)
            name, one, other = shortened(dataset), first[:12], digest[:12]
            if where == before:
                yield f"different data under the name {name} in {where}: {one}, then {other}"
            else:
                yield f"different data under the name {name}: {one} in {before}, {other} in {where}"


def different_in_folders(frame: pd.DataFrame) -> list[str]:
    """Return what to say of the data of rows that were read from result folders (`fwsvm.analysis.results.read`).

    Of runs that are alike in all else the later counts (`fwsvm.analysis.reported.final_rows`).
    """
    rows = frame[[*SAME_DATA, "data_sha256", "folder"]].drop_duplicates().to_dict("records")
    one_folder = frame["folder"].nunique() == 1
    meant = "of runs of one setting the later count" if one_folder else "they are counted as one data set"
    others = "" if one_folder else ", or give each folder by itself"
    return [
        f"{said}; {meant}: choose with --where data_sha256=...{others}"
        for said in different_data(((row, str(row["folder"])) for row in rows), within=True)
    ]
