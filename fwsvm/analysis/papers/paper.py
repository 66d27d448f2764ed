"""A paper: its claims, the design of its statistical tests, and its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons.design import Design
from fwsvm.analysis.tables.layout import Layout
from fwsvm.analysis.tables.sizes import SizesTable


@dataclass(frozen=True)
class Paper:
    """All of a paper that results are compared with; ``sizes`` are its tables of data sets."""

    number: str
    claims: Sequence[Claim]
    layouts: Mapping[str, Layout]
    design: Design | None = None
    sizes: Mapping[str, SizesTable] = field(default_factory=dict)
