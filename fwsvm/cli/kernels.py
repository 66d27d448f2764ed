"""``fwsvm kernels``: the kernels there are, with their parameters and default widths."""

import json
from typing import Any

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """List the kernels: formula, parameters, and default widths.

    Where gamma is not given it follows from the training rows: D is the mean squared distance of two training rows.
    Parameters that only one kernel has are given by --kernel-param NAME=VALUE.
    """
    from fwsvm.kernels.kernel import KERNELS

    found = [_facts(KERNELS[name]) for name in sorted(KERNELS)]
    if as_json:
        click.echo(json.dumps({"kernels": found}, indent=2))
        return
    for facts in found:
        click.echo(f"{facts['name']}: {facts['formula']}")
        for label, said in _lines(facts).items():
            click.echo(f"  {label:<15}{said}")


def _facts(family: Any) -> dict[str, Any]:
    return {
        "name": family.name,
        "formula": family.formula,
        "parameters": list(family.parameters),
        "own": family.own,
        "widths": {rule: width.formula for rule, width in family.widths.items()},
        "libsvm": family.libsvm or None,
    }


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    own, widths = facts["own"], facts["widths"]
    shared = [name for name in facts["parameters"] if name not in own]
    lines = {
        "options": ", ".join(f"--{name}" for name in shared),
        "--kernel-param": ", ".join(f"{name}={value}" for name, value in own.items()),
        "gamma": "; ".join(f"{rule}: {formula}" for rule, formula in widths.items()),
    }
    return {label: said for label, said in lines.items() if said}
