"""Verdicts as text: terminal, Markdown or CSV."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from fwsvm.analysis import tables
from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.tables import WIDTH, Row, Table
from fwsvm.errors import counted
from fwsvm.papers import PAPERS

COLUMNS = (  # noqa: SIM905 - a list of names reads better unquoted
    "claim place statement printed_verdict printed_evidence verdict evidence as_run_verdict as_run_evidence"
).split()
HEADS = (
    "claim",
    "statement",
    "in the printed numbers",
    "as printed (protocol paper)",
    "as run (protocol fw-svms)",
)


def render(
    verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = (), *, only_with_runs: bool = False
) -> str:
    """Return the verdicts as terminal, markdown or csv; the notes follow, except in CSV.

    ``only_with_runs`` leaves claims without runs out of the terminal's text.
    """
    notes = (summary(verdicts), *notes)
    if form == "terminal":
        ran = [one for one in verdicts if one.ours is not None or one.as_run is not None]
        if only_with_runs and len(ran) < len(verdicts):
            notes = (*notes, "Claims without runs here are left out; --only and --format csv show them.")
            verdicts = ran
        return _terminal(verdicts, notes)
    if form == "csv":
        found = [
            [v.claim.name, v.claim.place, v.claim.statement, *itertools.chain(*v.findings)] for v in verdicts
        ]
        return pd.DataFrame(found, columns=COLUMNS).to_csv(index=False, lineterminator="\n")
    rows = [
        (
            v.claim.name,
            f"{v.claim.statement} ({v.claim.place})",
            *(": ".join(filter(None, said)) for said in v.findings),
        )
        for v in verdicts
    ]
    table = Table("Claims of the papers", HEADS, (), tuple(Row(labels, ()) for labels in rows), notes)
    return tables.render([table], form)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts of all three verdicts."""
    holds = Counter(None if verdict.printed is None else verdict.printed.holds for verdict in verdicts)
    counts = (Counter(verdict.findings[place][0] for verdict in verdicts) for place in (1, 2))
    as_printed, as_run = (
        ", ".join(f"{count[word]} {word}" for word in ("reproduced", "not reproduced", "not run"))
        for count in counts
    )
    return (
        f"{counted(len(verdicts), 'claim')}: {as_printed}. That is on runs as printed (protocol paper); as the authors "
        f"ran them (protocol fw-svms): {as_run}. In the papers' printed numbers {holds[True]} hold and "
        f"{holds[False]} do not; {holds[None]} rest on figures only."
    )


def _terminal(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return one paragraph per claim, by paper, in 80 columns."""
    lines: list[str] = []
    for paper, group in itertools.groupby(verdicts, lambda verdict: verdict.claim.paper):
        lines += ["", *textwrap.wrap(f"{PAPERS[paper].cited}: {PAPERS[paper].title}", WIDTH), "─" * WIDTH]
        for verdict in group:
            printed, ours, as_run = map(": ".join, verdict.findings)
            lines.append(f"{verdict.findings[1][0].upper():15} {verdict.claim.name}")
            said = (
                f"{verdict.claim.statement} ({verdict.claim.place})",
                f"paper: {printed}",
                *[f"as printed: {ours}"] * (verdict.ours is not None),
                *[f"as run: {as_run}"] * (verdict.as_run is not None),
            )
            for text in said:
                lines += textwrap.wrap(
                    text.removesuffix(": "), WIDTH, initial_indent="  ", subsequent_indent="    "
                )
    below = [part for note in notes for part in textwrap.wrap(note, WIDTH)]
    return "\n".join([*lines, "", *below]).lstrip("\n") + "\n"
