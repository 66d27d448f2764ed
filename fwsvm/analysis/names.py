"""Short names of data sets, for tables and pictures that have no room for paths and the numbers of synthetic sets."""

from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl

from fwsvm.analysis import published
from fwsvm.errors import shortened

MOST = 40  # characters
_SYNTHETIC = "synthetic:"


def short_name(dataset: str) -> str:
    """Return the papers' name of a data set, a synthetic one's kind and rows, a long path's last part."""
    title = published.title(dataset)
    if title.startswith(_SYNTHETIC):
        kind, numbers = _synthetic(title)
        return shortened(f"{kind} {numbers.get('rows', '')}".strip(), MOST)
    if len(title) > MOST:
        title = title.replace("\\", "/").rstrip("/").rpartition("/")[2] or title
    return shortened(title, MOST)


def short_names(datasets: Iterable[str]) -> dict[str, str]:
    """Return a short name of each data set, no two alike: what tells two apart is added, or else a number."""
    every = list(dict.fromkeys(datasets))
    short = {dataset: short_name(dataset) for dataset in every}
    alike = {name for name, times in Counter(short.values()).items() if times > 1}
    for name in alike:
        among = [dataset for dataset in every if short[dataset] == name]
        short |= {dataset: shortened(f"{name}{_difference(dataset, among)}", MOST) for dataset in among}
    taken: set[str] = set()
    for dataset in every:
        name, number = short[dataset], 2
        while short[dataset] in taken:
            short[dataset] = f"{shortened(name, MOST - 6)} ({number})"
            number += 1
        taken.add(short[dataset])
    return short


def _synthetic(dataset: str) -> tuple[str, dict[str, str]]:
    """Return the kind of a synthetic set, and its numbers by name."""
    kind, _, numbers = dataset.removeprefix(_SYNTHETIC).partition("?")
    return kind, dict(parse_qsl(numbers))


def _difference(dataset: str, among: list[str]) -> str:
    """Return the numbers of a synthetic set that others of the same short name have otherwise."""
    if not dataset.startswith(_SYNTHETIC):
        return ""
    mine = _synthetic(dataset)[1]
    others = [_synthetic(other)[1] for other in among]
    return "".join(
        f", {key} {value}" for key, value in mine.items() if any(other.get(key) != value for other in others)
    )
