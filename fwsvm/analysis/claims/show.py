"""Verdicts as text: terminal, Markdown, HTML or CSV."""

import html
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.claims.model import CheckResult
from fwsvm.analysis.published import TITLES
from fwsvm.analysis.tables.render import without_tags
from fwsvm.analysis.writing import csv_bytes, without_formula

WIDTH = 80
#: 000 prints figures only; the methods that it shares with 003 are checked on 003's tables.
BORROWED = "of 003"


def render(verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = ()) -> str:
    """Return the verdicts in one form: terminal, markdown, html or csv; the notes follow, except in CSV."""
    if form == "csv":
        return as_csv(verdicts)
    return {"terminal": terminal, "markdown": markdown, "html": html_list}[form](verdicts, notes)


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


def printed_place(verdict: Verdict) -> str:
    """Return what the printed numbers say, and whose they are where another paper lends them."""
    borrowed = verdict.claim.printed not in {None, verdict.claim.paper}
    return f"{verdict.printed_word} {BORROWED}" if borrowed else verdict.printed_word


#: Heads of the three verdicts, and of what the last one turns on.
HEADS = ("in the printed numbers", "as printed (protocol paper)", "as run (protocol fw-svms)", "depends on")


def _told(verdict: Verdict) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str], tuple[str, str]]:
    """Return the three verdicts, each as word and evidence, and what the last turns on."""
    found = (verdict.printed, verdict.ours, verdict.as_run)
    printed, ours, as_run = ("" if each is None else each.evidence for each in found)
    return (
        (printed_place(verdict), printed),
        (verdict.word, ours),
        (verdict.as_run_word, as_run),
        ("", "; ".join(verdict.turns_on)),
    )


def terminal(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
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
    lines = [f"{verdict.word.upper():15} {claim.name}"]
    lines += textwrap.wrap(
        f"{claim.statement} ({claim.place})", WIDTH, initial_indent="  ", subsequent_indent="  "
    )
    printed, ours, as_run, turns = _told(verdict)
    told = [("paper", *printed)]
    told += [("as printed", *ours)] if verdict.ours is not None else []
    told += [("as run", *as_run)] if verdict.as_run is not None else []
    told += [("depends on", turns[1], "")] if verdict.turns_on else []
    for head, word, evidence in told:
        said = f"{head}: {word}" + (f": {evidence}" if evidence else "")
        lines += textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


def markdown(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return a Markdown table."""
    lines = [f"| claim | statement | {' | '.join(HEADS)} |", f"|{' :-- |' * (2 + len(HEADS))}"]
    for verdict in verdicts:
        told = [
            f"**{word}**" * bool(word) + ": " * bool(word and said) + said for word, said in _told(verdict)
        ]
        cells = (verdict.claim.name, f"{verdict.claim.statement} ({verdict.claim.place})", *told)
        lines.append("| " + " | ".join(without_tags(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", summary(verdicts), *(f"\n- {without_tags(note)}" for note in notes)]) + "\n"


def html_list(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return an HTML fragment: one row per claim; each verdict's class says whether the statement holds or fails.

    Columns in which no claim has anything are left out.
    """
    told = [_told(verdict) for verdict in verdicts]
    found = [(verdict.printed, verdict.ours, verdict.as_run, None) for verdict in verdicts]
    there = [place for place in range(len(HEADS)) if any(line[place][1] for line in told)]
    rows = []
    for verdict, words, results in zip(verdicts, told, found, strict=True):
        claim = verdict.claim
        cells = "".join(
            f'<td data-head="{HEADS[place]}"{_tone(results[place])}>'
            f"{f'<strong>{html.escape(words[place][0])}</strong> ' if words[place][0] else ''}"
            f"<small>{html.escape(words[place][1])}</small></td>"
            for place in there
        )
        rows.append(
            f"<tbody><tr><th scope=row>{html.escape(claim.name)}</th>"
            f"<td data-head=statement>{html.escape(claim.statement)} <small>({html.escape(claim.place)})</small></td>"
            f"{cells}</tr></tbody>"
        )
    heads = "".join(
        f"<th scope=col>{head}</th>" for head in ("claim", "statement", *(HEADS[place] for place in there))
    )
    return (
        f"<div class='table words'><table><caption>{html.escape(summary(verdicts))}</caption>"
        f"<thead><tr>{heads}</tr></thead>{''.join(rows)}</table></div>"
        + "".join(f"<p><small>{html.escape(note)}</small></p>" for note in notes)
    )


def _tone(found: CheckResult | None) -> str:
    """Return the attribute of a cell that gives its verdict a colour; a claim that was not run has none."""
    return "" if found is None else f" class={'holds' if found.holds else 'fails'}"


def as_csv(verdicts: Sequence[Verdict]) -> str:
    """Return one CSV line per claim."""
    lines = [["claim", "place", "statement", "verdict", "evidence", "printed_verdict", "printed_evidence",
              "as_run_verdict", "as_run_evidence", "turns_on"]]  # fmt: skip
    for verdict in verdicts:
        claim = verdict.claim
        printed, ours, as_run, turns = _told(verdict)
        lines.append([claim.name, claim.place, claim.statement, *ours, *printed, *as_run, turns[1]])
    return csv_bytes([[without_formula(field) for field in line] for line in lines]).decode()
