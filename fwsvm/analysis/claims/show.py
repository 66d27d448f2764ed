"""Verdicts as text: terminal, Markdown or CSV."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.tables import WIDTH, markdown_text
from fwsvm.errors import counted
from fwsvm.papers import PAPERS

COLUMNS = (  # noqa: SIM905 - a list of names reads better unquoted
    "claim place statement verdict evidence printed_verdict printed_evidence as_run_verdict as_run_evidence"
).split()


def render(verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = ()) -> str:
    """Return the verdicts as terminal, markdown or csv; the notes follow, except in CSV."""
    if form == "terminal":
        return _terminal(verdicts, notes)
    records = [
        [v.claim.name, v.claim.place, v.claim.statement, *ours, *printed, *as_run]
        for v in verdicts
        for printed, ours, as_run in [_findings(v)]
    ]
    frame = pd.DataFrame(records, columns=COLUMNS)
    return (
        frame.to_csv(index=False, lineterminator="\n")
        if form == "csv"
        else _markdown(frame, summary(verdicts), notes)
    )


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts of all three verdicts."""
    holds = Counter(None if verdict.printed is None else verdict.printed.holds for verdict in verdicts)
    as_printed, as_run = (_counts(verdict.words[place] for verdict in verdicts) for place in (1, 2))
    return (
        f"{counted(len(verdicts), 'claim')}: {as_printed}. That is on runs as printed (protocol paper); as the authors "
        f"ran them (protocol fw-svms): {as_run}. In the papers' printed numbers {holds[True]} hold and "
        f"{holds[False]} do not; {holds[None]} rest on figures only."
    )


def _counts(words: Iterable[str]) -> str:
    count = Counter(words)
    return ", ".join(f"{count[word]} {word}" for word in ("reproduced", "not reproduced", "not run"))


def _findings(verdict: Verdict) -> list[tuple[str, str]]:
    """Return word and evidence in print, as printed and as run."""
    results = (verdict.printed, verdict.ours, verdict.as_run)
    return [
        (word, found.evidence if found else "") for word, found in zip(verdict.words, results, strict=True)
    ]


def _terminal(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return one paragraph per claim, by paper, in 80 columns."""
    lines: list[str] = []
    for paper, group in itertools.groupby(verdicts, lambda verdict: verdict.claim.paper):
        title = f"{PAPERS[paper].cited}: {PAPERS[paper].title}"
        lines += ["", *textwrap.wrap(title, WIDTH), "─" * WIDTH]
        for verdict in group:
            lines.append(f"{verdict.words[1].upper():15} {verdict.claim.name}")
            statement = f"{verdict.claim.statement} ({verdict.claim.place})"
            lines += textwrap.wrap(statement, WIDTH, initial_indent="  ", subsequent_indent="  ")
            heads = ("paper", "as printed", "as run")
            for head, (word, evidence) in zip(heads, _findings(verdict), strict=True):
                if evidence or head == "paper":
                    said = ": ".join(filter(None, (head, word, evidence)))
                    lines += textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
    below = [part for note in (summary(verdicts), *notes) for part in textwrap.wrap(note, WIDTH)]
    return "\n".join([*lines, "", *below]).lstrip("\n") + "\n"


def _markdown(frame: pd.DataFrame, counts: str, notes: Sequence[str]) -> str:
    heads = (
        "claim",
        "statement",
        "in the printed numbers",
        "as printed (protocol paper)",
        "as run (protocol fw-svms)",
    )
    lines = [f"| {' | '.join(heads)} |", f"|{' :-- |' * len(heads)}"]
    for name, place, statement, *found in frame.map(markdown_text).itertuples(index=False, name=None):
        ours, printed, as_run = (
            f"**{word}**{said and f': {said}'}" for word, said in zip(found[::2], found[1::2], strict=True)
        )
        lines.append(f"| {' | '.join([name, f'{statement} ({place})', printed, ours, as_run])} |")
    return "\n".join([*lines, "", counts, *(f"\n- {markdown_text(note)}" for note in notes)]) + "\n"
