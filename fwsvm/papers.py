"""The papers that fwsvm reproduces, by their first author."""

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper: its number, in names of files, how it is cited, and its title."""

    number: str
    cited: str
    title: str


PAPERS = {
    "nanculef": Paper(
        "000",
        "Nanculef et al. (2014)",
        "A novel Frank-Wolfe algorithm. Analysis and applications to large-scale SVM training",
    ),
    "glasmachers": Paper(
        "002",
        "Glasmachers and Dogan (2013)",
        "Accelerated linear SVM training with adaptive variable selection frequencies",
    ),
    "frandi": Paper(
        "003",
        "Frandi et al. (2013)",
        "Training support vector machines using Frank-Wolfe optimization methods",
    ),
    "zhang": Paper(
        "004",
        "Zhang and Sen (2024)",
        "The stochastic conjugate subgradient algorithm for kernel support vector machines",
    ),
}


def by_author(name: str) -> str:
    """Return the name of a paper, claim or table with the paper's first author in place of its number.

    >>> by_author("003-2"), by_author("frandi"), by_author("time")
    ('frandi-2', 'frandi', 'time')
    """
    number, dash, rest = name.partition("-")
    return next((f"{key}{dash}{rest}" for key, paper in PAPERS.items() if paper.number == number), name)
