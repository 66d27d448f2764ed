"""``python -m tests.fuzz [READER ...]``: try hostile inputs, print what was found."""

import sys
import time
from pathlib import Path

import click

from tests.fuzz.inputs import READERS
from tests.fuzz.run import finds


@click.command()
@click.argument("readers", nargs=-1, type=click.Choice(list(READERS)))
@click.option("--inputs", "count", default=2_000, show_default=True, help="Number of inputs for each reader.")
@click.option("--seed", type=int, help="Seed of the inputs [default: the time, which is printed].")
def main(readers: tuple[str, ...], count: int, seed: int | None) -> None:
    """Try hostile inputs on the READERS, by default on all. Exit code 1 if anything was found."""
    seed = int(time.time()) if seed is None else seed
    total = 0
    for reader in readers or READERS:
        for line in finds(reader, seed, count, Path(".cache/fuzz")):
            click.echo(line)
            total += 1
        click.echo(f"{reader}: seed {seed}, {count} inputs, {total} finds so far")
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
