"""Verdicts as text: terminal, Markdown, HTML or CSV."""

import html
import textwrap
from collections import Counter
from collections.abc import Sequence

from fwsvm.analysis.claims.evaluate import Verdict
from fwsvm.analysis.published import TITLES
from fwsvm.analysis.tables.render import without_tags
from fwsvm.analysis.writing import csv_bytes, without_formula

WIDTH = 80
#: 000 prints figures only; the methods that it shares with 003 are checked on 003's tables.
BORROWED = "on 003's tables"


def render(verdicts: Sequence[Verdict], form: str, notes: Sequence[str] = ()) -> str:
    """Return the verdicts in one form: terminal, markdown, html or csv; the notes follow, except in CSV."""
    if form == "csv":
        return as_csv(verdicts)
    return {"terminal": terminal, "markdown": markdown, "html": html_list}[form](verdicts, notes)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts in one sentence."""
    ours = Counter(verdict.word for verdict in verdicts)
    printed = Counter(verdict.printed_word for verdict in verdicts)
    counts = ", ".join(f"{ours[word]} {word}" for word in ("reproduced", "not reproduced", "not run"))
    return (
        f"{len(verdicts)} claims: {counts}. On the papers' printed numbers {printed['holds as printed']} "
        f"hold and {printed['does not hold as printed']} do not; "
        f"{printed['no printed numbers']} rest on figures only."
    )


def printed_place(verdict: Verdict) -> str:
    """Return what the printed numbers say, and whose they are where another paper lends them."""
    borrowed = verdict.claim.printed not in {None, verdict.claim.paper}
    return f"{verdict.printed_word} {BORROWED}" if borrowed else verdict.printed_word


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
    if verdict.ours is not None:
        lines += textwrap.wrap(
            f"ours: {verdict.ours.evidence}", WIDTH, initial_indent="  ", subsequent_indent="    "
        )
    said = printed_place(verdict) + (f": {verdict.printed.evidence}" if verdict.printed is not None else "")
    return [*lines, *textwrap.wrap(f"paper: {said}", WIDTH, initial_indent="  ", subsequent_indent="    ")]


def markdown(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return a Markdown table."""
    lines = ["| claim | statement | ours | as printed |", "| :-- | :-- | :-- | :-- |"]
    for verdict in verdicts:
        ours = f"**{verdict.word}**" + (f": {verdict.ours.evidence}" if verdict.ours else "")
        printed = printed_place(verdict) + (f": {verdict.printed.evidence}" if verdict.printed else "")
        cells = (verdict.claim.name, f"{verdict.claim.statement} ({verdict.claim.place})", ours, printed)
        lines.append("| " + " | ".join(without_tags(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", summary(verdicts), *(f"\n- {without_tags(note)}" for note in notes)]) + "\n"


def html_list(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return an HTML fragment: one row per claim, its class the verdict."""
    rows = []
    for verdict in verdicts:
        claim = verdict.claim
        ours = html.escape(verdict.ours.evidence) if verdict.ours else ""
        printed = html.escape(verdict.printed.evidence) if verdict.printed else ""
        rows.append(
            f"<tbody class={verdict.word.replace(' ', '-')}><tr><th scope=row>{html.escape(claim.name)}</th>"
            f"<td data-head=statement>{html.escape(claim.statement)} <small>({html.escape(claim.place)})</small></td>"
            f"<td data-head=ours><strong>{verdict.word}</strong> {ours}</td>"
            f'<td data-head="as printed">{html.escape(printed_place(verdict))} '
            f"<small>{printed}</small></td></tr></tbody>"
        )
    heads = "".join(f"<th scope=col>{head}</th>" for head in ("claim", "statement", "ours", "as printed"))
    return (
        f"<div class='table words'><table><caption>{html.escape(summary(verdicts))}</caption>"
        f"<thead><tr>{heads}</tr></thead>{''.join(rows)}</table></div>"
        + "".join(f"<p><small>{html.escape(note)}</small></p>" for note in notes)
    )


def as_csv(verdicts: Sequence[Verdict]) -> str:
    """Return one CSV line per claim."""
    lines = [["claim", "place", "statement", "verdict", "evidence", "printed_verdict", "printed_evidence"]]
    for verdict in verdicts:
        claim = verdict.claim
        ours, printed = (finding.evidence if finding else "" for finding in (verdict.ours, verdict.printed))
        lines.append(
            [claim.name, claim.place, claim.statement, verdict.word, ours, printed_place(verdict), printed]
        )
    return csv_bytes([[without_formula(field) for field in line] for line in lines]).decode()
