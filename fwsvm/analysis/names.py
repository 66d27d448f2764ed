"""Short names of data sets and methods, for tables and pictures that have no room for paths and parameters."""

from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl

from fwsvm.analysis import published

MOST = 40  # characters


def short_name(dataset: str) -> str:
    """Return the papers' name of a data set, a synthetic one's kind and rows, a path's last part.

    >>> short_name("synthetic:blobs?rows=300&seed=1"), short_name("a1a")
    ('blobs 300', 'a1a')
    """
    title = published.title(dataset)
    if title.startswith("synthetic:"):
        kind, _, numbers = title.removeprefix("synthetic:").partition("?")
        title = f"{kind} {dict(parse_qsl(numbers)).get('rows', '')}".strip()
    return middle_cut(title.replace("\\", "/").rpartition("/")[2] or title)


def middle_cut(name: str, most: int = MOST) -> str:
    """Return a name with its middle left out where it is too long.

    >>> middle_cut("abcdefghij", 7)
    'abc…hij'
    """
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[len(name) - (most - 1) // 2 :]}"


def short_names(datasets: Iterable[str]) -> dict[str, str]:
    """Return a short name of each data set, no two alike."""
    short = {dataset: short_name(dataset) for dataset in datasets}
    counts = Counter(short.values())
    paths = {d for d, name in short.items() if counts[name] > 1 and not d.startswith("synthetic:")}
    names = distinct(middle_cut(d) if d in paths else name for d, name in short.items())
    return dict(zip(short, names, strict=True))


def method_names(methods: Iterable[str]) -> dict[str, str]:
    """Return what tables and pictures call each method, no two alike."""
    known = list(dict.fromkeys(methods))
    return dict(zip(known, distinct(middle_cut(m, 36) for m in known), strict=True))


def distinct(names: Iterable[str], form: str = "{} ({})") -> list[str]:
    """Return the names, with a number behind those that occurred before, be it in other case."""
    found: dict[str, str] = {}
    for name in names:
        unlike = name
        number = 2
        while unlike.lower() in found:
            unlike = form.format(name, number)
            number += 1
        found[unlike.lower()] = unlike
    return list(found.values())
