"""Cells and chains as plans have them, without an experiment around them."""

from collections.abc import Iterable
from typing import Any

from fwsvm.experiments import samples
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.plan import FINAL, SELECT, Cell
from fwsvm.solvers import Settings

WDBC = DataSpec("wdbc")


def cell(settings: Settings, data: DataSpec = WDBC, role: str = FINAL, **more: Any) -> Cell:
    """Return a cell."""
    return Cell("trial", "", role, data, samples.load(data).fingerprint, settings, **more)


def chain(settings: Iterable[Settings], data: DataSpec = WDBC) -> list[Cell]:
    """Return the cells of settings in ascending C, each of which starts where the one before ended."""
    every = list(settings)
    penalties = [each.C or 0.0 for each in every]
    return [
        cell(each, data, SELECT, predecessors=tuple(penalties[:number])) for number, each in enumerate(every)
    ]
