"""Verdicts as text: terminal, Markdown or CSV."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.tables import WIDTH, markdown_text, without_formula
from fwsvm.papers import PAPERS

HEADS = (
    "claim",
    "statement",
    "in the printed numbers",
    "as printed (protocol paper)",
    "as run (protocol fw-svms)",
    "depends on",
)


def render(verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = ()) -> str:
    """Return the verdicts as terminal, markdown or csv; the notes follow, except in CSV."""
    if form == "csv":
        return _csv(verdicts)
    return (_terminal if form == "terminal" else _markdown)(verdicts, notes)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts of all three verdicts."""
    holds = Counter(None if verdict.printed is None else verdict.printed.holds for verdict in verdicts)
    turned = sum(bool(verdict.turns_on) for verdict in verdicts)
    also = f" {turned} depend on one setting of the program." if turned else ""
    return (
        f"{len(verdicts)} claims: {_counts(verdict.word for verdict in verdicts)}. That is on runs as printed "
        "(protocol paper); as the authors ran them (protocol fw-svms): "
        f"{_counts(verdict.as_run_word for verdict in verdicts)}. In the papers' printed numbers {holds[True]} hold "
        f"and {holds[False]} do not; {holds[None]} rest on figures only.{also}"
    )


def _counts(words: Iterable[str]) -> str:
    count = Counter(words)
    return ", ".join(f"{count[word]} {word}" for word in ("reproduced", "not reproduced", "not run"))


def _findings(verdict: Verdict) -> list[tuple[str, str]]:
    """Return word and evidence in print, as printed and as run."""
    words = (verdict.printed_word, verdict.word, verdict.as_run_word)
    results = (verdict.printed, verdict.ours, verdict.as_run)
    return [(word, found.evidence if found else "") for word, found in zip(words, results, strict=True)]


def _terminal(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return one paragraph per claim, by paper, in 80 columns."""
    lines: list[str] = []
    for paper, group in itertools.groupby(verdicts, lambda verdict: verdict.claim.paper):
        title = f"{PAPERS[paper].cited}: {PAPERS[paper].title}"
        lines += ["", *textwrap.wrap(title, WIDTH), "─" * WIDTH]
        for verdict in group:
            lines.append(f"{verdict.word.upper():15} {verdict.claim.name}")
            statement = f"{verdict.claim.statement} ({verdict.claim.place})"
            lines += textwrap.wrap(statement, WIDTH, initial_indent="  ", subsequent_indent="  ")
            printed, *ours = zip(("paper", "as printed", "as run"), _findings(verdict), strict=True)
            told = [(head, *found) for head, found in (printed, *(one for one in ours if one[1][1]))]
            told += [("depends on", "; ".join(verdict.turns_on), "")] if verdict.turns_on else []
            for parts in told:
                said = ": ".join(filter(None, parts))
                lines += textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
    below = [part for note in (summary(verdicts), *notes) for part in textwrap.wrap(note, WIDTH)]
    return "\n".join([*lines, "", *below]).lstrip("\n") + "\n"


def _markdown(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    lines = [f"| {' | '.join(HEADS)} |", f"|{' :-- |' * len(HEADS)}"]
    for verdict in verdicts:
        found = [f"**{word}**{said and f': {markdown_text(said)}'}" for word, said in _findings(verdict)]
        statement = markdown_text(f"{verdict.claim.statement} ({verdict.claim.place})")
        turns = markdown_text("; ".join(verdict.turns_on))
        lines.append(f"| {' | '.join([verdict.claim.name, statement, *found, turns])} |")
    below = [summary(verdicts), *(f"\n- {markdown_text(note)}" for note in notes)]
    return "\n".join([*lines, "", *below]) + "\n"


def _csv(verdicts: Sequence[Verdict]) -> str:
    records = []
    for verdict in verdicts:
        claim, (printed, ours, as_run) = verdict.claim, _findings(verdict)
        turns = "; ".join(verdict.turns_on)
        records.append([claim.name, claim.place, claim.statement, *ours, *printed, *as_run, turns])
    heads = [
        "claim",
        "place",
        "statement",
        "verdict",
        "evidence",
        "printed_verdict",
        "printed_evidence",
        "as_run_verdict",
        "as_run_evidence",
        "turns_on",
    ]
    return pd.DataFrame(records, columns=heads).map(without_formula).to_csv(index=False, lineterminator="\n")
