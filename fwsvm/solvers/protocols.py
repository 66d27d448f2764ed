"""Protocols: how simplex methods start, sample and stop, each as a set of settings.

``paper`` is what 003 and 000 print, ``libcvm`` what LIBCVM 2.2 does, and ``fw-svms`` what the program of 003's authors
was run with: what no text names was found by running it (docs/methods/protocols.md).
"""

from typing import NamedTuple

from fwsvm.parameters import labelled
from fwsvm.settings import BALANCED, CHEAPER, UNIFORM

PAPER_TOLERANCE = 1e-6  # of 003, under its MEB rule
OPTIONS = ("retries", "first_level", "candidates", "gradient")  # settings that a user may change alone


class SimplexProtocol(NamedTuple):
    """How simplex methods start, sample and stop.

    Attributes
    ----------
    name : str
    published : bool
        Whether runs look for the ascent vertex by sampling and stop by the MEB rule at 1e-6 where nothing else is
        said, and end where samples hold no violator, though the gap over all rows has not been looked at.
    balanced_start : bool
        Whether the rows of the starting point are drawn class by class in turn.
    retries : int
        Samples without a violator after which a sampled run stops.
    first_level : float or None
        First tolerance of the schedule, which is halved down to that of the run; None, or at most that: no schedule.
    candidates : {"uniform", "outside", "balanced"}
        What CVM draws its samples from: all rows, the rows outside the core set, or these class by class in turn.
    gradient : {"cheaper", "computed", "kept"}
        Where sampled search has q of its candidates from: it computes each anew, it keeps q over all rows, or it begins
        with the one and goes on with the other once that is cheaper. The points are the same but for rounding.
    inner_share : float or None
        CVM's inner tolerance by the tolerance of the run; None: LIBCVM's.
    width_rule : str
        Rule of the kernel's default width.
    """

    name: str
    published: bool = True
    balanced_start: bool = False
    retries: int = 7
    first_level: float | None = None
    candidates: str = UNIFORM
    gradient: str = CHEAPER
    inner_share: float | None = None
    width_rule: str = "paper"

    @property
    def label(self) -> str:
        """The name, with those of its settings that a user changed."""
        return labelled(self.name, self._asdict(), PROTOCOLS[self.name]._asdict())


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        SimplexProtocol("default", published=False),
        SimplexProtocol("paper"),
        SimplexProtocol("libcvm", balanced_start=True, first_level=0.1, width_rule="libcvm"),
        SimplexProtocol(
            "fw-svms",
            balanced_start=True,
            retries=1,
            first_level=0.005,
            candidates=BALANCED,
            inner_share=0.1,
            width_rule="libcvm",
        ),
    )
}
