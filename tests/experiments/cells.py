"""Cells and chains as plans have them, without an experiment around them."""

from collections.abc import Iterable
from typing import Any

from fwsvm.experiments import plan, samples
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.plan import FINAL, SELECT, Cell
from fwsvm.solvers import Settings

WDBC = DataSpec("wdbc")


def cell(settings: Settings, data: DataSpec = WDBC, role: str = FINAL, **more: Any) -> Cell:
    """Return a cell with its run id."""
    fingerprint = samples.load(data).fingerprint
    identity = plan.run_id("", fingerprint, "", settings, predecessors=more.get("predecessors"))
    return Cell(identity, "trial", "", role, data, fingerprint, settings, **more)


def chain(settings: Iterable[Settings], data: DataSpec = WDBC) -> list[Cell]:
    """Return the cells of settings in ascending C, each of which starts where the one before ended."""
    every = list(settings)
    penalties = [each.C or 0.0 for each in every]
    return [
        cell(each, data, SELECT, predecessors=tuple(penalties[:number])) for number, each in enumerate(every)
    ]
