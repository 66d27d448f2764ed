"""Measures of a run: the column of the results, which end is better, and how values are printed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fwsvm.plugins import entry_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Measure:
    """One measured quantity; ``factor`` turns the stored value into the printed one (1 to 100 per cent)."""

    name: str  # what a user types
    column: str  # in runs.csv, or made by cells.against_cvm
    title: str  # on an axis or above a table, with its unit
    better: Literal["less", "more"]
    factor: float = 1.0
    decimals: int | None = None  # None: three significant digits, and a logarithmic axis
    timed: bool = False  # worth something only if all runs had the machine alike
    derived: bool = False  # a comparison with CVM
    bound: bool = False  # grows during a run: of one that was cut short it is a lower bound
    count: bool = False  # a number of things: a whole one has no decimals

    def printed(self, value: float) -> str:
        """Return the value (as stored) as tables print it."""
        shown = value * self.factor
        if self.count and abs(shown) < 100 and shown == round(shown):
            return f"{shown:.0f}"
        if self.decimals is None:
            return three_digits(shown)
        return f"{round(shown, self.decimals) + 0.0:.{self.decimals}f}"  # + 0.0 makes -0.0 plain

    def printed_deviation(self, value: float, deviation: float) -> str:
        """Return the standard deviation to the last decimal of the printed value, at least one digit."""
        mean = self.printed(value)
        sd = deviation * self.factor
        if "e" in mean:
            return f"{sd:.1e}"
        places = len(mean.partition(".")[2])
        text = f"{sd:.{places}f}"
        return text if float(text) or not sd else f"{sd:.1g}"


def three_digits(value: float) -> str:
    """Return at least three significant digits: 0.712, 6.26, 45.1, 2060, 1.59e+11."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-3:
        return f"{value:.2e}"
    power = int(f"{value:.2e}".partition("e")[2])
    return f"{value:.{max(0, 2 - power)}f}"


def plain(value: object) -> str:
    """Return a value as text, a number with six significant digits, and nothing for none."""
    return f"{value:g}".replace("nan", "") if isinstance(value, float) else str(value)


#: An empty value of a setting, which ``--where NAME=`` chooses.
EMPTY = "(empty)"


def named(value: object) -> str:
    """Return a setting's value where several are listed: an empty one is seen."""
    return plain(value) or EMPTY


_ALL = (
    Measure("accuracy", "test_accuracy", "test accuracy (%)", "more", factor=100, decimals=2),
    Measure("time", "train_seconds", "training time (s)", "less", timed=True, bound=True),
    Measure("size", "support_vectors", "support vectors", "less", count=True),
    Measure("steps", "steps", "update steps", "less", bound=True, count=True),
    Measure("iterations", "iterations", "iterations", "less", bound=True, count=True),
    Measure("kernel-evaluations", "kernel_evaluations", "kernel evaluations", "less", bound=True, count=True),
    Measure("objective", "objective", "objective", "less"),
    Measure("gap", "relative_gap", "relative duality gap", "less"),
    Measure("memory", "peak_memory_mib", "peak memory (MiB)", "less", bound=True),
    Measure("speedup", "speedup", "speed-up over cvm", "more", timed=True, derived=True, bound=True),
    Measure(
        "relative-accuracy",
        "relative_accuracy",
        "accuracy below that of cvm, relative (%)",
        "less",
        factor=100,
        decimals=2,
        derived=True,
    ),
)
MEASURES = {measure.name: measure for measure in _ALL}
#: Their columns in runs.csv.
MEASURED_COLUMNS = [measure.column for measure in _ALL if not measure.derived]
#: Those that count for a multi-class run that was cut short; it has no machine for the remaining pairs of classes.
BOUND_COLUMNS = {measure.column for measure in _ALL if measure.bound and not measure.derived}


def measured(cells: "pd.DataFrame", names: Iterable[str]) -> list[str]:
    """Return those of these measures that any of the cells has."""
    return [name for name in names if cells[measure(name).column].notna().any()]


def measure(name: str) -> Measure:
    """Return the measure of that name; UsageError names the known ones."""
    return entry_of(MEASURES, "measure", name)
