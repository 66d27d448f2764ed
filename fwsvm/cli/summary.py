"""``fwsvm summary``: counts and ranges of a data file."""

import json
import math
from typing import Any

import click

from fwsvm.cli._options import zero_based_option

MAX_LISTED_CLASSES = 30  # listed one by one
OVERFLOW = "the mean squared distance overflows double precision; scale the data first (fwsvm scale)"


@click.command()
@zero_based_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("data")
def command(zero_based: bool | None, as_json: bool, data: str) -> None:
    """Say what is in DATA: size, classes, values, kernel widths.

    DATA is a file, or a name of `fwsvm data list`, whose training rows are taken as they are in their files.
    """
    from fwsvm.data import inputs
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.widths import mean_squared_distance, sigma2_of

    table, notices = inputs.read_rows(data, zero_based=zero_based)
    found: dict[str, Any] = {"file": data, **inputs.counts_of(table)}
    distance = mean_squared_distance(table.X)
    rules = family("rbf").widths if 0 < distance < math.inf else {}
    gammas = {rule: (width.formula, width.gamma(table.X)) for rule, width in rules.items()}
    found["mean_squared_distance"] = distance if distance < math.inf else None  # JSON has no infinity
    found["widths"] = {
        rule: {"formula": formula, "gamma": gamma, "sigma2": sigma2_of(gamma)}
        for rule, (formula, gamma) in gammas.items()
    }
    found["notices"] = [*notices, *([] if distance < math.inf else [OVERFLOW])]
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> list[str]:
    m = found["rows"]
    classes = found["classes"]
    rows = [
        ("rows", f"{m:,}"),
        ("features", f"{found['features']:,}, {found['features_in_use']:,} in use"),
        ("non-zeros", f"{found['nonzeros']:,}, {found['nonzeros'] / m:.4g} a row"),
        ("density", f"{found['density']:.4g}"),
        ("rows without non-zeros", f"{found['rows_without_nonzeros']:,}"),
        ("values", f"{found['minimum']:.6g} to {found['maximum']:.6g}"),
        ("classes", f"{len(classes):,}"),
        *(
            (f"  {label}", f"{count:,} ({count / m:.1%})")
            for label, count in list(classes.items())[:MAX_LISTED_CLASSES]
        ),
    ]
    if len(classes) > MAX_LISTED_CLASSES:
        rows.append(("  ...", f"{len(classes) - MAX_LISTED_CLASSES:,} more"))
    distance = found["mean_squared_distance"]
    rows.append(("mean squared distance D", "overflows" if distance is None else f"{distance:.6g}"))
    for rule, width in found["widths"].items():
        rows.append((f"  gamma = {width['formula']}", f"{width['gamma']:.6g} (--width-rule {rule})"))
    widest = max(len(name) for name, _ in rows)
    return [
        found["file"],
        *(f"  {name:{widest}}  {value}" for name, value in rows),
        *map("note: {}".format, found["notices"]),
    ]
