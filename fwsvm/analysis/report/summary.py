"""The top of a report, in words: what was run, what won, what is uncertain, and in one folded line what is missing."""

import html
from collections.abc import Sequence
from datetime import UTC, datetime

import pandas as pd

from fwsvm.analysis import comparisons, published
from fwsvm.analysis.claims.evaluate import caveats
from fwsvm.analysis.contests import Contest, contest
from fwsvm.analysis.names import short_names
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.reported import final_rows
from fwsvm.analysis.results import DONE
from fwsvm.analysis.tables.html import abbreviated, folded
from fwsvm.errors import ResultsError, listed, shortened

NAMED = 12  # methods and machines in a sentence
MOST_MISSING = 200  # data sets in the folded list
LEVEL = 0.05


def summary_words(frame: pd.DataFrame, cells: pd.DataFrame, warnings: Sequence[str]) -> str:
    """Return the words above a report's figure; ``cells`` are those of ``frame``, rows of runs.csv."""
    final = final_rows(frame)
    contests = [found for name in ("time", "accuracy") if (found := contest(cells, name)) is not None]
    parts = (
        ("What was run", _run(frame, final, cells)),
        ("What won", _won(cells, contests)),
        ("What is uncertain", [*warnings, *_uncertain(final, cells, contests)]),
    )
    said = "".join(
        f"<h3>{title}</h3><ul>{''.join(f'<li>{folded(line, 600)}</li>' for line in lines)}</ul>"
        for title, lines in parts
        if lines
    )
    return said + _missing(final)


def _run(frame: pd.DataFrame, final: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    methods = [_method(method) for method in dict.fromkeys(cells["method"])]
    counts = ", ".join(f"{count:,} {status}" for status, count in final["status"].value_counts().items())
    kernels = [str(kernel) for kernel in dict.fromkeys(cells["kernel"]) if kernel]
    times = sorted({int(runs) for runs in cells["runs"]})
    lines = [
        f"{_number(len(final), 'reported run')} ({counts}) of {_number(len(methods), 'method')} "
        f"({listed(methods, ', ', NAMED)}) on {_number(cells['dataset'].nunique(), 'data set')}"
        + (f", {listed(kernels)} kernel" if kernels else "")
        + f"; each cell {_times(times)}."
    ]
    made = [published.title(name) for name in published.made_here() if name in set(cells["dataset"])]
    lines += [f"Of these data sets {listed(made)}: {published.MADE_HERE}"] if made else []
    searched = int((frame["role"] == "select").sum())
    profiles = [str(profile) for profile in dict.fromkeys(frame["profile"]) if profile]
    lines.append(
        (f"Profile {listed(map(shortened, profiles))}; " if profiles else "")
        + (f"{_number(searched, 'run')} of the parameter search" if searched else "no parameter search")
        + "."
    )
    machines = dict.fromkeys(
        f"{shortened(str(machine))} ({shortened(str(cpu))}, {_number(int(threads), 'thread')})"
        for machine, cpu, threads in zip(
            final["machine"], final["cpu"], final["threads"].fillna(1), strict=True
        )
        if machine
    )
    started = sorted(str(when) for when in frame["started_utc"] if when)
    if machines:
        lines.append(f"On {listed(machines, '; ', 3)}{_between(started)}.")
    return lines


def _between(started: list[str]) -> str:
    """Return from when to when runs were started, of times as rows have them, ascending; '' of none.

    >>> _between(["2026-11-25T02:33:44+00:00", "2026-11-25T02:41:44+00:00"])
    ', started on 2026-11-25 between 02:33 and 02:41 UTC'
    """
    if not started:
        return ""
    try:
        first, last = (datetime.fromisoformat(text).astimezone(UTC) for text in (started[0], started[-1]))
    except (ValueError, OverflowError):  # nobody's clock
        return f", started between {shortened(started[0])} and {shortened(started[-1])}"
    day, end = f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"
    if first.timestamp() // 60 == last.timestamp() // 60:
        return f", started on {day} at {first:%H:%M} UTC"
    if day == end:
        return f", started on {day} between {first:%H:%M} and {last:%H:%M} UTC"
    return f", started between {day} {first:%H:%M} and {end} {last:%H:%M} UTC"


def _times(runs: list[int]) -> str:
    often = {1: "once", 2: "twice"}
    few = [often.get(number, f"{number} times") for number in dict.fromkeys((runs[0], runs[-1]))]
    return " to ".join(few)


def _won(cells: pd.DataFrame, contests: Sequence[Contest]) -> list[str]:
    if not contests:
        alone = cells["method"].nunique() == 1
        return ["One method alone: nothing to compare." if alone else "No problem was solved by two methods."]
    return [_winners(found) for found in contests]


def _winners(found: Contest) -> str:
    time = found.measure.name == "time"
    number, won = len(found.values), found.won
    if len(won) > 1 and (won == number).all():
        alike = "Times" if time else "Accuracies"
        return f"{alike} are alike: all methods are best on all of {_number(number, 'problem')}."
    counts = [f"{_method(method)} on {count}" for method, count in won.items() if count]
    said = f"{'Fastest' if time else 'Most accurate, or as accurate'}: {listed(counts, ', ', NAMED)} of "
    said += _number(number, "problem")
    typical = found.typical.sort_values(kind="stable")
    if typical.empty:
        return f"{said}; none was solved by all methods."
    whole = len(found.behind.dropna())
    behind = [f"{_method(method)} {value:.3g}" for method, value in typical.items()]
    what = "time over the shortest" if time else "points below the highest accuracy"
    mean = "" if whole == 1 else "Geometric mean of " if time else "Mean of "
    over = "" if whole == 1 else f", over {whole} that all solved"
    return f"{said}. {(mean + what)[0].upper()}{(mean + what)[1:]}{over}: {listed(behind, ', ', NAMED)}."


def _uncertain(final: pd.DataFrame, cells: pd.DataFrame, contests: Sequence[Contest]) -> list[str]:
    once = [
        "times" if found.measure.name == "time" else "accuracies" for found in contests if not found.judged
    ]
    lines = []
    if once:
        lines.append(
            f"No two methods ran more than once on a problem: how much {' and '.join(once)} vary is not known."
        )
    lines += [line for found in contests for line in _chance(found)]
    lines += [line for found in contests for line in _not_told_apart(cells, found.measure.name)]
    done = final[final["status"].isin(DONE)]
    if len(done):
        certified = int(done["certified"].sum())
        lines.append(
            f"{certified:,} of {_number(len(done), 'finished run')} have a certificate within their tolerance."
        )
    void = cells[cells["void"] != ""]
    if len(void):
        named_cells = (
            f"{_method(cell['method'])} on {shortened(str(cell['dataset']), 40)} ({cell['void']})"
            for cell in void.to_dict("records")
        )
        lines.append(
            f"{len(void)} of {_number(len(cells), 'cell')} promise little, though a rule ended them: "
            f"{listed(named_cells, ', ', 3)}."
        )
    cut = int(cells["censored"].sum())
    if cut:
        lines.append(f"{_number(cut, 'cell')} cut short by a time limit: a time there is a lower bound.")
    return lines + [
        f"{line[0].upper()}{line[1:]}." for line in caveats(cells) if line.startswith("ours have fewer")
    ]


def _chance(found: Contest) -> list[str]:
    """Say on how many problems the order of the best two may be chance."""
    what = "times" if found.measure.name == "time" else "accuracies"
    if not found.uncertain:
        return []
    on = f"On {found.uncertain} of {_number(found.judged, 'problem')}"
    return [
        f"{on} the best two {what} are within two standard errors of each other: the order may be chance."
    ]


def _not_told_apart(cells: pd.DataFrame, name: str) -> list[str]:
    """Say which methods the Nemenyi test over all data sets leaves together."""
    plain = comparisons.comparable(cells)
    methods = list(dict.fromkeys(plain["method"]))
    if len(methods) < 3:
        return []
    try:
        compared = comparisons.compare_methods(plain, methods, name, alpha=LEVEL)
    except ResultsError:
        return []  # too few data sets have all methods; the section of tests says which
    groups = [
        _and([_method(compared.methods[place]) for place in group]) for group in compared.nemenyi.groups()
    ]
    if not groups:
        return []
    over = f"over {compared.friedman.n} data sets, at level {LEVEL:g}"
    what = "time" if name == "time" else "accuracy"
    return [f"In {what} the Nemenyi test, {over}, does not tell apart {listed(groups, '; ', NAMED)}."]


def _missing(final: pd.DataFrame) -> str:
    """Return one folded line for all runs that did not finish: by data set, with one message each."""
    bad = final[~final["status"].isin(DONE)]
    if bad.empty:
        return ""
    names = short_names(str(dataset) for dataset in final["dataset"])
    places = []
    for dataset, runs in list(bad.groupby("dataset", sort=False))[:MOST_MISSING]:
        methods = listed(dict.fromkeys(_method(str(method)) for method in runs["method"]), ", ", NAMED)
        counts = _counted(runs["status"])
        message = next((str(message) for message in runs["message"] if message), "")
        name = str(dataset)
        places.append(
            f"<li><strong>{abbreviated(name, names[name])}</strong>: {html.escape(f'{counts} ({methods})')}"
            f"<br><small>{html.escape(shortened(message, 400))}</small></li>"
        )
    number = bad["dataset"].nunique()
    more = f"<li>{number - MOST_MISSING} more</li>" if number > MOST_MISSING else ""
    line = (
        f"Not finished: {_number(len(bad), 'run')} on {_number(number, 'data set')} "
        f"({_counted(bad['status'])}), which tables and figures leave out where nothing else ran"
    )
    return f"<details class=missing><summary>{html.escape(line)}</summary><ul>{''.join(places)}{more}</ul></details>"


def _and(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> _and(["FW", "CVM", "MFW"]), _and(["FW", "CVM"])
    ('FW, CVM and MFW', 'FW and CVM')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _counted(statuses: "pd.Series[str]") -> str:
    return ", ".join(f"{count} {status}" for status, count in statuses.value_counts().items())


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _method(name: object) -> str:
    return METHOD_NAMES.get(str(name), shortened(str(name), 40))
