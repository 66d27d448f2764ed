"""What entries of a lock must be to each other: names are unique, and what is made of others can be made."""

from collections.abc import Iterator, Mapping

from fwsvm.data.lock.entry import Complement, DrawnLines, Entry


def objections(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Yield the names of entries that do not go with the others, and what is wrong with each."""
    yield from _taken_names(entries)
    for name, entry in entries.items():
        for rule in (file.derivation for source in entry.sources for file in source.files):
            for wrong in _underivable(rule, entries):
                yield name, wrong
        if entry.stands_for and not getattr(entries.get(entry.stands_for), "published", ()):
            yield name, f"stands_for: no paper has a data set {entry.stands_for!r}"


def _taken_names(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for name, entry in entries.items():
        for word in (name, *entry.also):
            if seen.setdefault(word, name) != name or (word != name and word in entries):
                yield name, f"the name {word!r} is taken by {seen[word]}"


def _underivable(rule: Complement | DrawnLines | None, entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield why a file cannot be derived: it is of files that do not exist, or are derived so themselves.

    A complement may be of what a drawn file lacks; a drawn file is of files that are had from elsewhere.
    """
    if rule is None:
        return
    kind = "complement" if isinstance(rule, Complement) else "draw"
    for word in rule.parents:
        if word not in entries:
            yield f"{kind}: there is no data set {word!r}"
            continue
        files = entries[word].sources[0].train
        if not files or (files[0].complement if kind == "complement" else files[0].derivation):
            yield f"{kind}: the training file of {word} is derived itself"
