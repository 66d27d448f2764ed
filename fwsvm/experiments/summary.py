"""The final table of an experiment: selected parameters and results for each data set and method."""

import io
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from urllib.parse import parse_qsl

from rich.console import Console, JustifyMethod
from rich.table import Table

from fwsvm import promises
from fwsvm.experiments.plan import Cell
from fwsvm.results.schemas import method_label
from fwsvm.status import Status, worst

WIDTH = 80
#: Characters shown of a data set's name at most, and at least where numbers need the room; of a method's at least.
LONGEST_NAME, SHORTEST_NAME, SHORTEST_METHOD = 14, 8, 9
SHORT = {"sampled_stop": "sampled", "max_iterations": "iterations", "time_limit": "time limit"}
NUMBERS = {
    "C": ("C", 1.0, "{:g}"),
    "sigma2": ("sigma2", 1.0, "{:.3g}"),
    "test %": ("test_accuracy", 100.0, "{:.2f}"),
    "SV": ("support_vectors", 1.0, "{:.0f}"),
    "seconds": ("train_seconds", 1.0, "{:.3g}"),
    "objective": ("objective", 1.0, "{:.2e}"),
    "r.gap": ("relative_gap", 1.0, "{:.0e}"),
}
#: Columns that say something of a run that a time limit ended before all pairs of classes were solved.
OF_A_PART = {"C", "sigma2", "train_seconds"}
#: Columns in which the runs of a line are alike, beside data set and method.
SETTING = (
    "protocol",
    "parameters",
    "time_limit",
    "max_iterations",
    "kernel",
    "gamma",
    "sigma2",
    "degree",
    "coef0",
    "C",
    "lambda",
    "search",
    "stop",
    "tolerance",
)
#: Columns in which runs are alike whose seconds can be averaged.
LOAD = ("machine", "threads", "parallel_cells")
Row = Mapping[str, str]


def summary_table(finals: Iterable[Cell], rows: Mapping[str, Row]) -> str:
    """Return the table as text of 80 columns, with means over repetitions, and notes.

    Notes say which runs promise little, whose seconds do, and what sets lines apart that the table shows alike.
    """
    lines_of, last, notes = [], None, []
    groups = _groups(finals, rows)
    for (name, *_), group in groups.items():
        method = _method(group)
        status = _status(group)
        if void := _promise_note(group):  # beside which nothing is called converged
            status = status.replace("converged", "stopped").replace("sampled", "stopped")
            notes.append(f"weak guarantee for {_short(name)}, {method}: {void}")
        lines_of.append([_short(name) if name != last else "", method, *_averages(group), status])
        last = name
        if why := _load_note(group):
            notes.append(f"seconds of {_short(name)}, {method} say little: {why}")
    notes += _alike(lines_of, list(groups)) + _of_one_short_name(name for name, *_ in groups)
    names = ["data set", "method", *NUMBERS, "status"]
    widths = [max(map(len, column)) for column in zip(names, *lines_of, strict=True)]
    widths[0] = min(widths[0], LONGEST_NAME)
    others = sum(widths) - widths[1] + len(widths) - 1
    widths[1] = min(widths[1], max(SHORTEST_METHOD, WIDTH - others))
    widths[0] -= min(max(0, others + widths[1] - WIDTH), max(0, widths[0] - SHORTEST_NAME))
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name, width in zip(names, widths, strict=True):
        justify: JustifyMethod = "right" if name in NUMBERS else "left"
        table.add_column(name, width=width, justify=justify, no_wrap=True)
    wide = max(WIDTH, sum(widths) + len(widths))  # numbers are never cut, if the table is wider for it
    for line in lines_of:
        table.add_row(*line)
    out = io.StringIO()
    Console(file=out, width=wide, color_system=None, markup=False, emoji=False, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    lines += [
        part for note in dict.fromkeys(notes) for part in textwrap.wrap(note, WIDTH, subsequent_indent="  ")
    ]
    return "\n".join(lines) + "\n"


def _groups(finals: Iterable[Cell], rows: Mapping[str, Row]) -> dict[tuple[str, ...], list[Row]]:
    """Return the rows grouped by data set, method and setting, in order."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for cell in finals:
        row = rows.get(cell.run_id)
        if row is not None:
            same = (row[name] for name in SETTING)
            groups.setdefault((row["dataset"], row["method"], *same), []).append(row)
    return groups


def _method(group: list[Row]) -> str:
    """Return the method of a group with its parameters, and with what it chose where all its runs chose that."""
    chosen = {row["chosen"] for row in group}
    return method_label(group[0]["method"], group[0]["parameters"], chosen.pop() if len(chosen) == 1 else "")


def _short(name: str) -> str:
    """Return a short name of a data set: a path's file name, a synthetic set's kind and rows."""
    kind, _, numbers = name.removeprefix("synthetic:").partition("?")
    if not name.startswith("synthetic:"):
        return PurePath(name).name
    return f"{kind} {dict(parse_qsl(numbers)).get('rows', '')}".strip()


def _of_one_short_name(names: Iterable[str]) -> list[str]:
    """Return which data sets are meant where several are shown by one name."""
    meant: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        meant.setdefault(_short(name), []).append(name)
    return [
        f"data sets {short}, in their order: {', '.join(some)}" for short, some in meant.items() if some[1:]
    ]


def _alike(lines: list[list[str]], groups: list[tuple[str, ...]]) -> list[str]:
    """Return, for lines that show one data set, method, C and width, the settings that set them apart."""
    alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for (_, method, C, width, *_), (name, _, *setting) in zip(lines, groups, strict=True):
        alike.setdefault((name, method, C, width), []).append(tuple(setting))
    notes = []
    for (name, method, *_), settings in alike.items():
        values = {of: each for of, *each in zip(SETTING, *settings, strict=True) if len(set(each)) > 1}
        said = "; ".join(f"{of} {', '.join(one or 'none' for one in each)}" for of, each in values.items())
        if said:
            notes.append(f"lines of {_short(name)}, {method}, in their order: {said}")
    return notes


def _averages(group: list[Row]) -> list[str]:
    cells = []
    for column, factor, form in NUMBERS.values():
        values = [float(row[column]) for row in group if row[column] and _counts(row, column)]
        mean = sum(value / len(values) for value in values)  # a sum of times near 1e308 is beyond a double
        cells.append(form.format(factor * mean) if values else "-")
    return cells


def _counts(row: Row, column: str) -> bool:
    """Return whether a run's number is one of its setting: a machine of some pairs of classes alone has its time."""
    status = Status(row["status"])
    in_part = status is Status.TIME_LIMIT and float(row["subproblems"] or 0) > 1
    return status.done and not (in_part and column not in OF_A_PART)


def _promise_note(group: list[Row]) -> str:
    """Return in a few words why the finished runs of a group promise little, or ''."""
    done = [row for row in group if Status(row["status"]).done]
    gaps = [float(row["relative_gap"]) for row in done if row["relative_gap"]]
    return promises.in_short(gaps, [row["flags"] for row in done])


def _load_note(group: list[Row]) -> str:
    """Return why the seconds of the finished runs of a group say little, or ''."""
    done = [row for row in group if Status(row["status"]).done]
    unlike = [name for name in LOAD if len({row[name] for row in done}) > 1]
    why = [f"the runs differ in {', '.join(unlike)}"] if unlike else []
    why += (
        ["some took over what another run had computed"] if any(r["shared"] == "true" for r in done) else []
    )
    return "; ".join(why)


def _status(group: list[Row]) -> str:
    statuses = [row["status"] for row in group]
    of_all = worst(statuses)
    count = f" {statuses.count(of_all)}/{len(group)}" if statuses.count(of_all) < len(group) else ""
    return SHORT.get(of_all, str(of_all)) + count
