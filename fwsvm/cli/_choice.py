"""A word of a few: one that is none of them is answered with the nearest."""

from typing import Any

import click

from fwsvm.errors import nearest


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
