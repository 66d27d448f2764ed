"""Which methods are compared on what, and what each paper expected: its hypotheses as data."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fwsvm.errors import UsageError

Alternative = Literal["less", "greater", "two-sided"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """H0: ``first`` and ``second`` perform alike in ``measure``; H1: first is less, greater, or different."""

    measure: str
    first: str
    second: str
    alternative: Alternative

    def said(self, names: dict[str, str]) -> str:
        """Return H1 as a sentence."""
        a, b = names.get(self.first, self.first), names.get(self.second, self.second)
        words = _WORDS.get(self.measure, ("below", "above", "different"))
        if self.alternative == "two-sided":
            return f"{a} and {b} are {words[2]}"
        return f"{a} is {words[0] if self.alternative == 'less' else words[1]} than {b}"

    def equality(self, names: dict[str, str]) -> str:
        """Return H0 as a sentence."""
        a, b = names.get(self.first, self.first), names.get(self.second, self.second)
        adjective = {"time": "fast", "accuracy": "accurate", "size": "large"}.get(self.measure, "good")
        return f"{a} and {b} are equally {adjective}"


_WORDS = {
    "time": ("faster", "slower", "not equally fast"),
    "accuracy": ("less accurate", "more accurate", "not equally accurate"),
    "size": ("smaller", "larger", "not of one size"),
}


@dataclass(frozen=True, slots=True)
class Design:
    """A set of hypotheses about some methods; ``place`` says where it comes from."""

    place: str
    methods: tuple[str, ...]
    measures: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]


def _pair(first: str, second: str, time: Alternative, accuracy: Alternative) -> tuple[Hypothesis, Hypothesis]:
    return Hypothesis("time", first, second, time), Hypothesis("accuracy", first, second, accuracy)


DESIGNS = {
    "003": Design(
        "003, section 5.6 and Table 4",
        ("cvm", "fw", "mfw"),
        ("time", "accuracy"),
        (
            *_pair("fw", "cvm", "less", "less"),
            *_pair("mfw", "cvm", "less", "less"),
            *_pair("fw", "mfw", "two-sided", "less"),
        ),
    ),
    # Table 2 lost its symbols in the text at hand; the directions follow the prose of section 6.4.
    "000": Design(
        "000, section 6.4 and Table 2",
        ("cvm", "fw", "mfw", "swap", "swap-2o"),
        ("time", "accuracy"),
        (
            *_pair("swap", "fw", "less", "two-sided"),
            *_pair("swap", "mfw", "less", "two-sided"),
            *_pair("swap", "cvm", "less", "less"),
            *_pair("fw", "mfw", "two-sided", "less"),
            *_pair("swap-2o", "fw", "two-sided", "greater"),
            *_pair("swap-2o", "mfw", "less", "greater"),
            *_pair("swap-2o", "cvm", "less", "less"),
            *_pair("swap-2o", "swap", "two-sided", "greater"),
        ),
    ),
}


def all_pairs(methods: Sequence[str], measures: Sequence[str]) -> Design:
    """Return every pair of methods, two-sided, in every measure: no expectation at all."""
    hypotheses = tuple(
        Hypothesis(measure, first, second, "two-sided")
        for measure in measures
        for first, second in itertools.combinations(methods, 2)
    )
    return Design("all pairs, two-sided", tuple(methods), tuple(measures), hypotheses)


def design(name: str) -> Design:
    """Return a paper's design; UsageError names the known ones."""
    if name not in DESIGNS:
        raise UsageError(f"there is no design {name}; known are {', '.join(DESIGNS)} and pairs")
    return DESIGNS[name]
