"""Verdicts as text: terminal, Markdown or CSV."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.published import TITLES
from fwsvm.analysis.tables import markdown_text, without_formula

WIDTH = 80
#: Heads of the three verdicts, and of what the last one turns on.
HEADS = ("in the printed numbers", "as printed (protocol paper)", "as run (protocol fw-svms)", "depends on")


def render(verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = ()) -> str:
    """Return the verdicts as terminal, markdown or csv; the notes follow, except in CSV."""
    return {"csv": _csv, "terminal": _terminal, "markdown": _markdown}[form](verdicts, notes)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts of all three verdicts."""
    printed = Counter(verdict.printed is not None and verdict.printed.holds for verdict in verdicts)
    lacking = sum(verdict.printed is None for verdict in verdicts)
    turned = sum(bool(verdict.turns_on) for verdict in verdicts)
    also = f" {turned} depend on one setting of the program." if turned else ""
    return (
        f"{len(verdicts)} claims: {_counts(verdict.word for verdict in verdicts)}. That is on runs as printed "
        "(protocol paper); as the authors ran them (protocol fw-svms): "
        f"{_counts(verdict.as_run_word for verdict in verdicts)}. In the papers' printed numbers {printed[True]} hold "
        f"and {printed[False] - lacking} do not; {lacking} rest on figures only.{also}"
    )


def _counts(words: Iterable[str]) -> str:
    count = Counter(words)
    return ", ".join(f"{count[word]} {word}" for word in ("reproduced", "not reproduced", "not run"))


def _told(verdict: Verdict) -> list[tuple[str, str]]:
    """Return the three verdicts, each as word and evidence, and what the last turns on."""
    # 000 prints figures only; the methods that it shares with 003 are checked on 003's tables
    borrowed = verdict.claim.printed not in {None, verdict.claim.paper}
    words = (verdict.printed_word + " of 003" * borrowed, verdict.word, verdict.as_run_word)
    found = (verdict.printed, verdict.ours, verdict.as_run)
    said = [(word, "" if each is None else each.evidence) for word, each in zip(words, found, strict=True)]
    return [*said, ("", "; ".join(verdict.turns_on))]


def _terminal(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return one paragraph per claim, by paper, in 80 columns."""
    lines: list[str] = []
    paper = ""
    for verdict in verdicts:
        if verdict.claim.paper != paper:
            paper = verdict.claim.paper
            lines += ["", *textwrap.wrap(f"{paper}  {TITLES.get(paper, '')}", WIDTH), "─" * WIDTH]
        lines += _paragraph(verdict)
    below = [part for note in (summary(verdicts), *notes) for part in textwrap.wrap(note, WIDTH)]
    return "\n".join([*lines, "", *below]).lstrip("\n") + "\n"


def _paragraph(verdict: Verdict) -> list[str]:
    claim = verdict.claim
    printed, ours, as_run, turns = _told(verdict)
    told = [("paper", *printed)]
    told += [("as printed", *ours)] if verdict.ours is not None else []
    told += [("as run", *as_run)] if verdict.as_run is not None else []
    told += [("depends on", turns[1], "")] if verdict.turns_on else []
    statement = f"{claim.statement} ({claim.place})"
    lines = [f"{verdict.word.upper():15} {claim.name}"]
    lines += textwrap.wrap(statement, WIDTH, initial_indent="  ", subsequent_indent="  ")
    for parts in told:
        said = ": ".join(filter(None, parts))
        lines += textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


def _markdown(verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    lines = [f"| claim | statement | {' | '.join(HEADS)} |", f"|{' :-- |' * (2 + len(HEADS))}"]
    for verdict in verdicts:
        told = [": ".join(filter(None, (f"**{word}**" * bool(word), markdown_text(said))))
                for word, said in _told(verdict)]  # fmt: skip
        statement = markdown_text(f"{verdict.claim.statement} ({verdict.claim.place})")
        lines.append(f"| {' | '.join([verdict.claim.name, statement, *told])} |")
    return (
        "\n".join([*lines, "", summary(verdicts), *(f"\n- {markdown_text(note)}" for note in notes)]) + "\n"
    )


def _csv(verdicts: Sequence[Verdict], _: Sequence[str]) -> str:
    records = []
    for verdict in verdicts:
        printed, ours, as_run, turns = _told(verdict)
        claim = verdict.claim
        records.append([claim.name, claim.place, claim.statement, *ours, *printed, *as_run, turns[1]])
    heads = ["claim", "place", "statement", "verdict", "evidence", "printed_verdict", "printed_evidence",
             "as_run_verdict", "as_run_evidence", "turns_on"]  # fmt: skip
    return pd.DataFrame(records, columns=heads).map(without_formula).to_csv(index=False, lineterminator="\n")
