"""Types of options and arguments: finite numbers, words of a few, files and folders."""

from pathlib import Path
from typing import Any

import click

from fwsvm.errors import nearest

# None of these asks whether a file may be read: its reader says so, with the exit code for data.
ANY = click.Path(path_type=Path, readable=False)
FILE = click.Path(path_type=Path, readable=False, dir_okay=False)
FOLDER = click.Path(path_type=Path, readable=False, file_okay=False)


LARGEST = 1e300  # so that the difference of two numbers is finite, too


class FiniteFloat(click.FloatRange):
    """A finite number within bounds; `click.FloatRange` lets NaN pass every comparison."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; `click.BadParameter` where it is NaN, infinite or out of bounds."""
        number = float(super().convert(value, param, ctx))
        if not abs(number) <= LARGEST:
            self.fail(f"{value!r} is not a finite number up to {LARGEST:g}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class NearestChoice(click.Choice[Any]):
    """`click.Choice` whose error names the nearest word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the choice; `click.BadParameter` with what there is, and what may have been meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = nearest(value, map(str, self.choices))
            if not hint:
                raise
            raise click.BadParameter(f"{error.message.rstrip('.')}; {hint}", ctx, param) from None
