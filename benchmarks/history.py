"""Ratios to peers over commits: a line a measurement, appended to a CSV file and drawn.

    python benchmarks/history.py [--history FILE] [--figure FILE] [FOLDER]

reads what the other benchmarks have written to FOLDER (`make bench` has it in results/bench/), appends the ratios of
what names a commit of this repository to --history, results/reference/bench/history.csv by default, and draws all
that stands there. A line that stands there already is not appended again. Without FOLDER it only draws.

    commit, date     the code that was measured, and when it was committed (UTC)
    cpu, cores       of the machine
    benchmark, set   the script of benchmarks/, and what was measured, with the settings that the time depends on
    peer, ratio      seconds of the peer / seconds of fwsvm, of the medians: above 1 fwsvm is faster
    least, most      of the ratio of any two runs; empty where a benchmark keeps medians alone

No seconds: they mean something only beside the peer's on the same machine in the same minutes.
"""

import argparse
import csv
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "reference" / "bench" / "history.csv"
COLUMNS = ("commit", "date", "cpu", "cores", "benchmark", "set", "peer", "ratio", "least", "most")
MEAN = "geometric mean"
MARKERS = "oDvs^"  # of machines

Line = dict[str, str]


class Measure(NamedTuple):
    """Where a benchmark's CSV file has a ratio to a peer.

    Attributes
    ----------
    benchmark, files : the script, and a pattern of the names of its files
    labels : columns that say what was measured
    peer, ratio : name of the peer, and the column of its seconds / ours
    theirs, ours : columns of all their seconds and of all ours; "" where there are none
    where : a column and its value in the rows that count; all rows by default
    """

    benchmark: str
    files: str
    labels: tuple[str, ...]
    peer: str
    ratio: str
    theirs: str = ""
    ours: str = ""
    where: tuple[str, str] | None = None


TRAINED = ("set", "C", "threads")
MEASURES = (
    Measure("training", "training*", TRAINED, "scikit-learn SVC", "svc_ratio", "svc_all", "fwsvm_all"),
    Measure("training", "training*", TRAINED, "intelex SVC", "intelex_ratio", "intelex_all", "fwsvm_all"),
    Measure(
        "large_c", "large-c*", (*TRAINED, "method"), "fwsvm swap-2o", "ratio", "swap-2o_all", "method_all"
    ),
    Measure("grids", "grids*", ("set", "method"), "GridSearchCV(SVC)", "peer_ratio", "peer_all", "fwsvm_all"),
    Measure("grids", "grids*", ("set", "method"), "fwsvm, cold cells", "cold_ratio", "cold_all", "fwsvm_all"),
    Measure(
        "predicting",
        "predicting*",
        ("set", "threads"),
        "scikit-learn SVC",
        "svc_ratio",
        "svc_all",
        "fwsvm_all",
    ),
    Measure(
        "predicting",
        "predicting*",
        ("set", "threads"),
        "intelex SVC",
        "intelex_ratio",
        "intelex_all",
        "fwsvm_all",
    ),
    Measure("starting", "starting*", ("command",), "import numba", "ratio", "base_all", "all"),
    Measure("parse", "parse*", ("file",), "load_svmlight_file", "ratio", "scikit_learn_all", "fwsvm_all"),
    Measure("scale threads", "*threads*", ("set",), "fwsvm, one thread", "ratio", "one_all", "two_all"),
    Measure("linear steps", "linear-steps*", ("set",), "LinearSVC", "ratio"),
    Measure("linear gap", "linear-gap*", ("set",), "LinearSVC", "ratio", where=("C", "sum")),
)


def measured(folder: Path) -> list[Line]:
    """Return a line for each ratio in the CSV files of a folder, without its date; `commit` may be empty."""
    return [
        line(row, measure)
        for file in sorted(folder.glob("*.csv"))
        for measure in MEASURES
        if fnmatch(file.stem, measure.files)
        for row in read(file)
        if row.get(measure.ratio) and (measure.where is None or row[measure.where[0]] == measure.where[1])
    ]


def line(row: Line, measure: Measure) -> Line:
    """Return the line of one ratio."""
    first, *settings = measure.labels
    theirs, ours = (
        [float(value) for value in (row.get(column) or "").split()]
        for column in (measure.theirs, measure.ours)
    )
    # Their files round a ratio and the seconds apart, so that of one run each ratio may lie beside least and most.
    ratio = float(row[measure.ratio])
    spread = (min(theirs) / max(ours), max(theirs) / min(ours)) if theirs and ours else ()
    return {
        **{name: row.get(name) or "" for name in ("commit", "cpu", "cores")},
        "benchmark": measure.benchmark,
        "set": ", ".join([row[first], *(f"{name}={row[name]}" for name in settings if row.get(name))]),
        "peer": measure.peer,
        "ratio": f"{ratio:.4g}",
        "least": f"{min(ratio, *spread):.4g}" if spread else "",
        "most": f"{max(ratio, *spread):.4g}" if spread else "",
    }


def commit_date(commit: str, repository: Path) -> str:
    """Return when a commit was made, in UTC; "" if the repository has none of that name, or there is no name."""
    asked = ["git", "-C", str(repository), "show", "--no-patch", "--format=%ct", f"{commit}^{{commit}}"]
    if not commit or (done := subprocess.run(asked, capture_output=True, text=True, check=False)).returncode:
        return ""
    return datetime.fromtimestamp(int(done.stdout), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def append(history: Path, lines: Iterable[Line], repository: Path = ROOT) -> tuple[int, int]:
    """Append the lines whose commit is known and that are new; return how many, and how many name no known commit."""
    known = read(history) if history.exists() else []
    dates: dict[str, str] = {}
    added, without = 0, 0
    history.parent.mkdir(parents=True, exist_ok=True)
    with history.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if not known and stream.tell() == 0:
            writer.writeheader()
        for each in lines:
            commit = each["commit"]
            dates.setdefault(commit, commit_date(commit, repository))
            dated = {name: {**each, "date": dates[commit]}[name] for name in COLUMNS}
            if not dates[commit]:
                without += 1
            elif dated not in known:
                writer.writerow(dated)
                known.append(dated)
                added += 1
    return added, without


def read(file: Path) -> list[Line]:
    """Return the rows of a CSV file."""
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def draw(history: Path, picture: Path) -> None:
    """Draw ratios over commits, a panel for each benchmark and peer, a curve for each set and machine."""
    from fwsvm.analysis.figures import Drawing
    from fwsvm.analysis.figures.style import INK, footnote, log_axis, panels, set_titles

    lines = sorted(read(history), key=lambda each: each["date"])
    shown = list(dict.fromkeys((each["benchmark"], each["peer"]) for each in lines))
    machines = list(dict.fromkeys((each["cpu"], each["cores"]) for each in lines))
    figure, axes = panels(2, (len(shown) + 1) // 2, width=5.6, height=2.7)
    for spare in axes[len(shown) :]:
        spare.remove()
    for axis, (benchmark, peer) in zip(axes, shown, strict=False):
        mine = [each for each in lines if (each["benchmark"], each["peer"]) == (benchmark, peer)]
        commits = list(dict.fromkeys(each["commit"] for each in mine))
        _curves(axis, mine, commits, machines)
        axis.axhline(1.0, color=INK, linewidth=0.8)
        set_titles(axis, f"{benchmark}: {peer} / fwsvm", "", "ratio of seconds")
        log_axis(axis, "y")
        axis.set_xlim(-0.5, len(commits) - 0.5)
        axis.set_xticks(range(len(commits)), [commit[:7] for commit in commits], rotation=45, ha="right")
        axis.tick_params(axis="x", labelsize=6)
        axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, labelcolor=INK)
    named = "; ".join(f"{cpu}, {cores} cores" for cpu, cores in machines)
    said = f"above 1 fwsvm is faster; bars: any two runs; measured on {named}"
    footnote(figure, said)
    drawn = Drawing(picture.stem, f"Ratios to peers over commits: {said}.", figure)
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes(drawn.content(picture.suffix.removeprefix(".").lower()))


def _curves(axis: Any, lines: list[Line], commits: list[str], machines: list[tuple[str, str]]) -> None:
    """Draw the ratios of each set, with bars from least to most; the mean over sets is thick, and black.

    Where there are several machines the labels name them, and the means differ in their markers.
    """
    from fwsvm.analysis.figures.data import label_of
    from fwsvm.analysis.figures.style import style_of

    curves = list(dict.fromkeys((each["set"], each["cpu"], each["cores"]) for each in lines))
    labels = []
    for name, cpu, cores in curves:
        what, comma, settings = name.partition(", ")
        labels.append(
            label_of(what) + comma + settings + (f" ({cpu}, {cores} cores)" if len(machines) > 1 else "")
        )
    for curve, label in zip(curves, labels, strict=True):
        mine = [each for each in lines if (each["set"], each["cpu"], each["cores"]) == curve]
        ratios = [float(each["ratio"]) for each in mine]
        off = [
            [abs(float(each[end] or each["ratio"]) - ratio) for each, ratio in zip(mine, ratios, strict=True)]
            for end in ("least", "most")
        ]
        if curve[0].startswith(MEAN):
            marker = MARKERS[machines.index((curve[1], curve[2])) % len(MARKERS)]
            style = style_of("cvm", ["cvm"]) | {"label": label, "linewidth": 2.4, "marker": marker}
        else:  # beside cvm, whose black is the mean's
            style = style_of(label, ["cvm", *labels]) | {
                "label": label,
                "linewidth": 1.0,
                "markeredgewidth": 0,
            }
        places = [commits.index(each["commit"]) for each in mine]
        axis.errorbar(places, ratios, yerr=off, elinewidth=0.8, **style)


def main() -> None:
    """Append, say what was appended, and draw."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folder", nargs="?", type=Path, help="of CSV files that the benchmarks wrote")
    asked.add_argument("--history", type=Path, default=KEPT)
    asked.add_argument("--figure", type=Path, help="draw to this png, svg or pdf file")
    given = asked.parse_args()
    if given.folder and not given.folder.is_dir():
        asked.error(f"{given.folder} is no folder; `make bench` writes results/bench")
    if given.folder:
        added, without = append(given.history, measured(given.folder))
        print(
            f"{given.history}: {added} lines appended, {without} left out that name no commit of this repository"
        )
    if given.figure:
        from fwsvm.analysis.figures import PICTURE_FORMATS

        if given.figure.suffix.removeprefix(".").lower() not in PICTURE_FORMATS:
            asked.error(f"{given.figure} must end in .png, .svg or .pdf")
        if not given.history.exists():
            asked.error(f"there is no {given.history} to draw; give the FOLDER of figures to begin it with")
        draw(given.history, given.figure)


if __name__ == "__main__":
    main()
