"""``python -m tests.fuzz [READER ...]``: try hostile inputs, print what was tried and found, keep reproducers."""

import sys
import time
from pathlib import Path

import click

from tests.fuzz.run import inputs, names


@click.command()
@click.argument("readers", nargs=-1)
@click.option("--inputs", "count", default=10_000, show_default=True, help="Inputs a reader.")
@click.option("--seed", default=None, type=int, help="Draws the inputs; the default is today's, and printed.")
@click.option("--first", default=0, help="Number of the first input.")
@click.option("--keep", is_flag=True, help="Keep every input, not only those with a find.")
@click.option("--out", type=click.Path(path_type=Path), default=Path(".cache/fuzz"), show_default=True)
def main(
    readers: tuple[str, ...], count: int, seed: int | None, first: int, out: Path, *, keep: bool
) -> None:
    """Try hostile inputs on the READERS (all without names). Exit code 1 if anything was found."""
    seed = int(time.time()) if seed is None else seed
    if unknown := set(readers) - set(names()):
        raise click.UsageError(f"no reader {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    out.mkdir(parents=True, exist_ok=True)
    total = 0
    for reader in readers or names():
        begun, finds = time.perf_counter(), 0
        for find in inputs(reader, seed, first, count, out if keep else None):
            finds += 1
            name = f"{reader}-{seed}-{find.number}"
            for _ in inputs(reader, seed, find.number, 1, out):  # once more, to keep what was read
                pass
            (out / f"{name}.txt").write_text(f"{find.command}\n\n{find.what}\n", "utf-8")
            click.echo(
                f"{reader}: input {find.number} (seed {seed}): {find.what.strip().splitlines()[-1][:160]}"
            )
            click.echo(f"  {out / name}; again: {find.command}")
        seconds = time.perf_counter() - begun
        click.echo(f"{reader:20} seed {seed}  {count:7,} inputs  {finds:4} finds  {seconds:7.1f} s")
        total += finds
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
