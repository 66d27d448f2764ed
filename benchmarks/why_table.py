"""Tables of the runs of `fwsvm grid why`: what each setting of the authors' program does, changed by itself.

    python benchmarks/why_table.py results/reference/why > results/reference/why/tables.md

A table a data set, a line a value of a setting, the first line as run. Figures are medians over the repetitions, ratios
of times are taken within each, which has one seed. A method whose program knows no such setting stands as run. `>` and
`<` stand where a run was cut off, `-` where runs of both methods were. Accuracies and gaps are of cvm, fw, mfw, swap,
gaps over all rows at the end of a run.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from fwsvm.analysis import published, variants
from fwsvm.status import Status

METHODS = ("cvm", "fw", "mfw", "swap")
HEAD = """| setting | value | CVM, s | CVM/FW | CVM/MFW | CVM/SWAP | accuracy, % | relative gap |
|---|---|---|---|---|---|---|---|"""


def two_digits(x: float) -> str:
    """Return a number with two significant digits, or as a whole number; "-" where there is none."""
    if pd.isna(x):
        return "-"
    return f"{x:#.2g}".rstrip(".") if abs(x) < 99.5 else f"{x:.0f}"


def _hundredths(x: float) -> str:
    return "-" if pd.isna(x) else f"{x:.2f}"


def cut_off(runs: pd.DataFrame, suffix: str = "") -> bool:
    """Return whether a time limit ended one of the runs."""
    return bool(runs[f"status{suffix}"].eq(Status.TIME_LIMIT).any())


def ratio(cvm: pd.DataFrame, other: pd.DataFrame) -> str:
    """Return the median over the repetitions of CVM's seconds over those of the other method."""
    both = cvm.merge(other, on="repetition", suffixes=("", "_other"))
    left, right = cut_off(both), cut_off(both, "_other")
    if both.empty or (left and right):
        return "-"
    found = two_digits((both["train_seconds"] / both["train_seconds_other"]).median())
    return f"{'> ' if left else '< ' if right else ''}{found}"


def fields(at: dict[str, pd.DataFrame]) -> str:
    """Return the figures of a line, of the runs of each method."""
    cvm = at["cvm"]
    seconds = ("> " if cut_off(cvm) else "") + two_digits(cvm["train_seconds"].median())
    accuracies = " / ".join(_hundredths(100 * at[method]["test_accuracy"].median()) for method in METHODS)
    gaps = " / ".join(two_digits(at[method]["relative_gap"].median()) for method in METHODS)
    return " | ".join([seconds, *(ratio(cvm, at[method]) for method in METHODS[1:]), accuracies, gaps])


def lines(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of a data set's table."""
    as_run = {method: runs[(runs["setting"] == "") & (runs["method"] == method)] for method in METHODS}
    yield f"| as run | | {fields(as_run)} |"
    for setting in variants.SETTINGS.values():
        of = runs[runs["setting"] == setting.name]
        title = setting.title
        for value in dict.fromkeys(
            value for value in variants.values(runs, setting) if value in {*of["value"]}
        ):
            at = {
                method: of[(of["value"] == value) & (of["method"] == method)]
                if method in {*of["method"]}
                else as_run[method]
                for method in METHODS
            }
            yield f"| {title} | {value} | {fields(at)} |"
            title = ""


def main() -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    rows = pd.read_csv(asked.parse_intermixed_args().folder / "runs.csv", low_memory=False)
    varied = variants.variants(rows[rows["role"].eq("final") & rows["train_seconds"].notna()])
    for dataset, runs in varied.groupby("dataset", sort=False):
        cells = runs.groupby(["method", "setting", "value"])["repetition"].nunique()
        counted = f"{cells.min()}" if cells.min() == cells.max() else f"{cells.min()} to {cells.max()}"
        C = ", ".join(f"{value:g}" for value in dict.fromkeys(runs["C"]))
        print(f"{published.title(dataset)}, C = {C}, repetitions: {counted}\n")
        print(HEAD, *lines(runs), "", sep="\n")


if __name__ == "__main__":
    main()
