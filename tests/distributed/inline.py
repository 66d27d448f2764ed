"""A cluster that is this process: a future is the result itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fwsvm.data import partitions
from fwsvm.distributed.table import RemoteTable


class Inline:
    """What `fwsvm.distributed.cluster.Cluster` is to a table."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        count = len(arguments[0])
        columns = [some if isinstance(some, list) else [some] * count for some in arguments]
        return [function(*some) for some in zip(*columns, strict=True)]

    def send(self, value: Any) -> Any:
        return value

    def gather(self, futures: list[Any]) -> list[Any]:
        return futures


def table_of(path: Path) -> RemoteTable:
    """Return the rows of a file, cut into partitions, in this process."""
    return RemoteTable(Inline(), partitions.cut(path))
