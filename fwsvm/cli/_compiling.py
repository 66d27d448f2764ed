"""The display of a command that trains, which compiles first: in two processes, and it is known how much."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fwsvm.cli._display import Compiled, Display

if TYPE_CHECKING:
    from fwsvm.solvers import Settings

#: Functions that the first run of a method on the simplex compiles, reading of a file included: alone, and beside a
#: second process, which compiles the others.
ALONE, TOGETHER = 154, 80
OTHERS = 85  # functions that the first run of another method compiles


@contextmanager
def training_display(settings: "Settings") -> Iterator[Display]:
    """Show progress within the block, in which a second process helps to compile."""
    from fwsvm.solvers.second_compiler import second_compiler

    with Display(compiled=Compiled(functions_expected(settings))) as display, second_compiler(settings):
        yield display


def functions_expected(settings: "Settings") -> int | None:
    """Return how many functions this process will compile; None where some are there already: any may be missing."""
    from fwsvm.numerics.compiled_cache import is_cache_empty
    from fwsvm.solvers import FAMILIES, METHODS
    from fwsvm.solvers.second_compiler import can_help

    known = METHODS.get(settings.method)
    if known is None or not is_cache_empty():
        return None
    family = FAMILIES[known.family]
    if not (family.searches and family.keeps_values):
        return OTHERS
    return TOGETHER if can_help(settings) else ALONE
