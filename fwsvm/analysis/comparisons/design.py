"""Designs of statistical tests: methods, measures and hypotheses; the papers' are in `fwsvm.analysis.papers`."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Alternative = Literal["less", "greater", "two-sided"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """H0: ``first`` and ``second`` perform alike in ``measure``; H1: first is less, greater, or different."""

    measure: str
    first: str
    second: str
    alternative: Alternative

    def sentence(self, names: dict[str, str]) -> str:
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


def two_hypotheses(
    first: str, second: str, time: Alternative, accuracy: Alternative
) -> tuple[Hypothesis, Hypothesis]:
    """Return the hypotheses about two methods in time and in accuracy."""
    return Hypothesis("time", first, second, time), Hypothesis("accuracy", first, second, accuracy)


def all_pairs(methods: Sequence[str], measures: Sequence[str]) -> Design:
    """Return every pair of methods, two-sided, in every measure: no expectation at all."""
    hypotheses = tuple(
        Hypothesis(measure, first, second, "two-sided")
        for measure in measures
        for first, second in itertools.combinations(methods, 2)
    )
    return Design("all pairs, two-sided", tuple(methods), tuple(measures), hypotheses)
