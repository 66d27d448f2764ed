"""``fwsvm methods``: all methods by family, or the description of one."""

import inspect
import json
import re
import textwrap
from enum import Enum
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwsvm.solvers.registry import Method

WIDTH = 80


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(name: str | None, as_json: bool) -> None:
    """List the methods by family, or say what NAME does.

    With NAME, also when it stops and what parameters it has.

    \b
    fwsvm methods
    fwsvm methods swap
    """  # noqa: D301
    from fwsvm.solvers import METHODS, method

    if name is not None:
        facts = facts_of(method(name))
        click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(_described(facts)))
        return
    every = [facts_of(METHODS[known]) for known in sorted(METHODS)]
    click.echo(json.dumps({"methods": every}, indent=2) if as_json else "\n".join(_listed(every)))


def facts_of(method: "Method") -> dict[str, Any]:
    """Return the description of a method as plain values."""
    from fwsvm.kernels.kernel import KERNELS
    from fwsvm.parameters import types_of
    from fwsvm.solvers import FAMILIES

    family, kinds = FAMILIES[method.family], types_of(method.rule)
    description, meanings = _docstring(method.rule)
    return {
        "name": method.name,
        "family": family.name,
        "paper": method.paper,
        "summary": method.summary,
        "description": description,
        "tolerance": method.tolerance,
        "stops": list(method.stops),
        "kernels": sorted(family.kernels or KERNELS),
        "default_kernel": family.default_kernel,
        "multiclass": family.multiclass,
        "iteration_cap": family.iteration_cap,
        "parameters": {
            key: {"default": _plain(value), "kind": _kind(kinds[key]), "meaning": meanings.get(key)}
            for key, value in method.parameters().items()
        },
    }


def _plain(value: Any) -> Any:
    return value.name.lower() if isinstance(value, Enum) else value


def _kind(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(member.name.lower() for member in kind)
    return {int: "whole number", float: "number", bool: "true or false", str: "text"}.get(kind, str(kind))


def _docstring(rule: type) -> tuple[list[str], dict[str, str]]:
    """Return a rule's docstring as paragraphs, without the first line, and its parameters' meanings."""
    text, _, section = inspect.cleandoc(rule.__doc__ or "").partition("Parameters\n----------\n")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")[1:] if part.strip()]
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, colon, meaning = entry.partition(" : ")
        if colon:
            meanings.update(dict.fromkeys(names.split(", "), " ".join(meaning.split())))
    return paragraphs, meanings


def _listed(every: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    widest = max(len(facts["name"]) for facts in every)
    for family in dict.fromkeys(facts["family"] for facts in every):
        members = [facts for facts in every if facts["family"] == family]
        lines += [f"{family}: {_kernels(members[0])}, {members[0]['multiclass']}"]
        for facts in members:
            said = f"{facts['summary']} [{facts['paper']}]"
            lines += _wrapped(said, f"  {facts['name']:{widest}}  ")
        lines.append("")
    return [*lines, "fwsvm methods NAME tells more about one of them."]


def _kernels(facts: dict[str, Any]) -> str:
    kernels = facts["kernels"]
    return f"the {kernels[0]} kernel" if len(kernels) == 1 else "any kernel"


def _described(facts: dict[str, Any]) -> list[str]:
    default = facts["default_kernel"]
    rows = {
        "family": f"{facts['family']}, several classes {facts['multiclass']}",
        "paper": facts["paper"],
        "kernels": f"{', '.join(facts['kernels'])} [default: {default}]",
        "--stop": f"{' or '.join(facts['stops'])} [default: {facts['stops'][0]}]",
        "--tol": facts["tolerance"],
        "iterations": f"at most {facts['iteration_cap']:,}, unless --max-iterations says otherwise"
        if facts["iteration_cap"]
        else "no limit, unless --max-iterations sets one",
    }
    lines = [*_wrapped(facts["summary"], f"{facts['name']}: ", "  "), ""]
    for paragraph in facts["description"]:
        lines += [*_wrapped(paragraph, "  "), ""]
    for label, said in rows.items():
        lines += _wrapped(said, f"  {label:<12}")
    lines += ["", "parameters (--param NAME=VALUE)" if facts["parameters"] else "no parameters of its own"]
    for key, about in facts["parameters"].items():
        meaning = f": {about['meaning']}" if about["meaning"] else ""
        lines += _wrapped(
            f"{key}={_value_text(about['default'])}  ({about['kind']}){meaning}", "  ", "      "
        )
    return lines


def _value_text(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    rest = " " * len(first) if later is None else later
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
