"""Methods and families by name. A method is one file in its family's folder: a NamedTuple of its own parameters.

The fields' names, types and defaults are the method's parameters on the command line and in YAML files.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from fwsvm.parameters import types_of, values
from fwsvm.plugins import add_to_registry, entry_of

Names: TypeAlias = tuple[str, ...]


class Family(NamedTuple):
    """What the methods of one folder have in common.

    Attributes
    ----------
    name : {"simplex", "active-set", "chunking", "decomposition", "auto", "linear", "stochastic"}
        active-set is that of newton (folder `newton`), simplex that of `frank_wolfe`, linear that of
        `dual_coordinate`.
    problem : str, what is minimised, for people
    kernels : tuple of str or None
        Kernels it can use; None for any.
    default_kernel : str
    stops : tuple of str
        Stopping rules it knows, the default first.
    keeps_values : bool
        Whether it keeps kernel values, within ``cache_mib``.
    searches : tuple of str
        Ways of looking for a vertex that it knows, the default first; none where there is no such thing.
    multiclass : {"one-vs-one", "one-vs-rest"}
    start : callable (Binary, rule, Resolved, WarmStart or None, ColumnStore or None) -> `Solver`
    certify : callable (sequence of `Candidate`, exact: bool) -> list of `Certified`
        What iterates are worth, and their machines: from scratch where ``exact``, else by the numbers that the runs
        kept. Several candidates are on the same rows, and differ in penalties and stopping rule alone.
    solve_at_once : callable (Subproblems, sequence of Resolved, watch), or None
        Solves subproblems together for settings that differ in C; returns a list of Solved, empty where it cannot.
    chosen : callable (`Solver`) -> str
        The name of the method that a run came to be; empty where a family does not choose among methods.
    train : callable (`fwsvm.solvers.fit.Checked`, Settings, Resolved, watch) -> Result, or None
        Trains in a way of its own, on samples say; None: `fit` trains on all rows.
    divide : callable (Subproblems, Resolved) -> Subproblems, or None
        Divides the subproblems further.
    ridge : bool
        Whether 1 / C_i stands on the diagonal of the matrix that is minimised.
    goes_on : bool
        Whether a run can start where another on the same rows ended; if not, each starts cold.
    iteration_cap : int or None
        Iterations after which a run ends where the user sets no limit; None for methods that end by themselves.
    """

    name: str
    problem: str
    kernels: Names | None
    default_kernel: str
    stops: Names
    multiclass: str
    start: Callable
    certify: Callable
    iteration_cap: int | None = None
    searches: Names = ()
    keeps_values: bool = True
    ridge: bool = False
    goes_on: bool = True
    solve_at_once: Callable | None = None
    chosen: Callable[[Any], str] = lambda _: ""
    train: Callable | None = None
    divide: Callable | None = None


class Method(NamedTuple):
    """A registered method.

    Attributes
    ----------
    name : str, as typed
    family : str
    paper : str, paper and algorithm number
    tolerance : str, what its tolerance means, in a sentence
    rule : type, the NamedTuple of its parameters
    own_stops : tuple of str
        Stopping rules it knows, the default first, where these are not those of its family.
    """

    name: str
    family: str
    paper: str
    tolerance: str
    rule: type
    own_stops: Names = ()

    @property
    def stops(self) -> Names:
        """Stopping rules it knows, the default first."""
        return self.own_stops or FAMILIES[self.family].stops

    @property
    def summary(self) -> str:
        """First line of the rule's docstring."""
        return (self.rule.__doc__ or "").strip().splitlines()[0]

    def parameters(self) -> dict[str, Any]:
        """Return the method's parameters with their defaults."""
        return dict(getattr(self.rule, "_field_defaults", {}))

    def make(self, given: Any) -> Any:
        """Return the rule with the given parameters; `UsageError` names a wrong one and its nearest."""
        return self.rule(**values(f"method {self.name}", given, types_of(self.rule)))


METHODS: dict[str, Method] = {}
FAMILIES: dict[str, Family] = {}


def register(
    name: str, *, family: str, paper: str, tolerance: str, stops: Names = ()
) -> Callable[[type], type]:
    """Add a NamedTuple of parameters to `METHODS` under a name; ``stops`` where these are not its family's."""

    def add(rule: type) -> type:
        add_to_registry(METHODS, "method", name, Method(name, family, paper, tolerance, rule, stops))
        return rule

    return add


def method(name: str) -> Method:
    """Return the registered method of that name; `UsageError` with the names there are."""
    return entry_of(METHODS, "method", name)
