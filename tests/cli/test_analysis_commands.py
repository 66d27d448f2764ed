"""The commands table, stats, plot, claims, report and merge, on folders as `fwsvm grid` writes them."""

import csv
import io
from pathlib import Path

import pytest

from tests.analysis.folders import like_paper, row, write
from tests.cli.running import done, run


def test_table_finds_the_papers_tables_and_sets_them_beside_the_printed_ones(folder):
    result = done("table", folder)
    assert "Frandi et al. (2013), Table 2: test accuracy (%)" in result.output
    assert "Frandi et al. (2013), Table 3: training time (s)" in result.output
    assert "paper      6.26±0.09" in result.output


def test_table_of_printed_numbers_needs_no_results():
    result = done("table", "--layout", "002-3", "--format", "markdown")
    assert "1800000\\*" in result.output
    done("table", code=2)
    assert "frandi-8" in run("table", "--list").output


def test_tables_of_times_refuse_mixed_loads_and_tables_of_accuracy_do_not_care(tmp_path):
    rows = [row(dataset="a1a", method=m, parallel_cells=n) for m, n in (("fw", 1), ("mfw", 2))]
    folder = write(tmp_path, rows)
    refused = done("table", folder, "-l", "time", code=2)
    assert "parallel_cells" in refused.stderr
    assert "Traceback" not in refused.output
    done("table", folder, "-l", "time", "--mixed-load")
    done("table", folder, "-l", "accuracy")
    done("claims", folder, code=2)
    done("stats", folder, code=2)
    done("plot", folder, "-o", tmp_path / "figures", code=2)


def test_the_latest_version_of_a_data_file_counts(tmp_path):
    """Lambda follows from the number of rows, so that the older rows would be another setting."""
    ran = {"dataset": "d.svm", "method": "scs"}
    later = {"started_utc": "2026-02-01T00:00:00Z", "data_sha256": "f" * 64, "lambda": 0.0025}
    both = write(
        tmp_path,
        [row(**ran, test_accuracy=0.4, **later), row(**ran, test_accuracy=0.9, **{"lambda": 0.00333})],
    )
    table = run("table", both, "-l", "accuracy")
    first = row(**ran)["data_sha256"][:12]
    assert table.stderr == (
        "fwsvm: 1 row of an older version of the data (d.svm) left out; "
        "--where data_sha256=... chooses another version\n"
    )
    assert "40.00" in table.output
    assert "90.00" in run("table", both, "-l", "accuracy", "--where", f"data_sha256={first}").output
    chosen = run("table", both, "-l", "accuracy", "--where", "data_sha256=" + "f" * 64)
    assert chosen.stderr == ""
    assert "40.00" in chosen.output


def test_stats_of_the_printed_tables_are_the_printed_statistics():
    result = done("stats", "--published", "003")
    for number in ("3.085e-06", "5.528e-06", "0.6893", "4.977e-06", "1.226e-03", "14.8585"):
        assert number in result.output
    assert "H0 stands: fw and mfw are equally fast" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("command", ["plot", "report"])
def test_nothing_is_written_among_committed_results_unless_a_place_is_given(command, tmp_path):
    folder = write(tmp_path / "results" / "reference" / "adult", like_paper("003", repetitions=1))
    before = sorted(folder.rglob("*"))
    refused = done(command, folder, code=2)
    assert "--out" in refused.stderr
    assert sorted(folder.rglob("*")) == before


def test_stats_sets_003s_tables_beside_ours(folder):
    time, paper, *_ = csv.DictReader(io.StringIO(run("stats", folder, "--table", "5", "-f", "csv").output))
    heads = ("fw vs cvm", "mfw vs cvm", "fw vs mfw", "all three")
    assert [paper[head] for head in heads] == ["17", "20", "159", "14.858"]
    assert all(float(time[head]) > 0 for head in heads)
    seventh = run("stats", folder, "--table", "7").output
    assert "Frandi et al. (2013), Table 7" in seventh
    assert "Table 5" not in seventh
    assert "Frandi et al. (2013), Table 6" in run("stats", folder).output
    done("stats", folder, "--table", "5", "--design", "000", code=2)
    done("stats", "--published", "003", "--table", "5")


def test_stats_of_data_sets_that_agree_or_of_one_say_what_is_not_defined(tmp_path):
    rows = [
        row(dataset=d, method=m, train_seconds=t)
        for d in "ab"
        for m, t in (("cvm", 3), ("fw", 2), ("mfw", 1))
    ]
    agreed = run("stats", write(tmp_path / "two", rows)).stdout
    assert "F is not defined: all data sets rank the methods alike" in " ".join(agreed.split())
    assert "  inf" not in agreed
    one = run("stats", write(tmp_path / "one", rows[:3]))
    assert (one.exit_code, one.stdout) == (2, "")
    assert one.stderr.startswith(
        "fwsvm: statistical tests compare methods over data sets, and fewer than two have time"
    )


def test_claims_on_results_and_on_printed_numbers_alone(folder):
    ours = done("claims", folder, "--only", "003-web")
    assert "REPRODUCED      frandi-web-faster" in ours.output
    assert "does not hold in the printed" in ours.output
    alone = run("claims", "--only", "frandi-web")
    assert "5 not run" in alone.output
    done("claims", "--only", "005", code=2)


def test_merge_joins_folders_and_refuses_mixtures(tmp_path):
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw")])
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw", commit="fffffff")])
    refused = done("merge", one, two, "--out", tmp_path / "out", code=2)
    assert refused.stderr.startswith("fwsvm: rows of different code")
    allowed = done("merge", one, two, "--out", tmp_path / "out", "--allow-mixed")
    assert "2 runs" in allowed.output
    done("table", tmp_path / "out", "-l", "accuracy")


@pytest.mark.parametrize("command", ["table", "stats", "plot", "claims", "report"])
def test_a_folder_without_results_is_one_line(command, tmp_path):
    for folder, lacks in ((tmp_path, "no runs.csv here"), (tmp_path / "nothing", "no such folder")):
        result = done(command, folder, code=2)
        expected = f"fwsvm: {folder}: {lacks}; give the folder that fwsvm grid wrote (its --out)\n"
        assert result.stderr == expected


def test_plot_writes_every_format_and_says_what_it_wrote(folder, tmp_path):
    words = ("--figure", "series", "--measure", "time", "-f", "svg", "-f", "pdf", "-f", "png", "-o", tmp_path)
    result = done("plot", folder, *words)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"series-time.{form}" for form in ("pdf", "png", "svg")
    }
    assert str(tmp_path / "series-time.svg") in result.output
    done("plot", folder, "--figure", "convergence", "-o", tmp_path, code=2)
    reference = Path(__file__).parents[2] / "results" / "reference" / "web"
    assert "there is no figure 'nope'; the figures are" in run("plot", reference, "--figure", "nope").stderr


def test_measures_over_a_baseline_are_drawn(folder, tmp_path):
    done("plot", folder, "--measure", "speedup", "-o", tmp_path)
    assert (tmp_path / "series-speedup.png").exists()


def test_conditions_are_written_alike_for_runs_to_make_and_rows_to_read(tmp_path):
    rows = [row(dataset=d, method=m, C=C) for d in ("a1a", "a2a") for m in ("fw", "mfw") for C in (1, 2)]
    folder = write(tmp_path, rows)
    told = run("table", folder, "-l", "accuracy", "--where", "method=m*,C=2", "--where", "dataset=a2a").output
    assert "C 2" in told
    assert [name in told for name in ("a1a", "a2a", "mfw")] == [False, True, True]


def test_runs_that_cannot_be_compared_say_what_differs(tmp_path):
    old, new = (write(tmp_path / str(tol), [row(dataset="a1a", tolerance=tol)]) for tol in (0.1, 0.01))
    said = run("compare", old, new).stderr
    assert said == "fwsvm: no run is in both results: tolerance is 0.1 in the first, 0.01 in the second\n"


def test_a_plot_says_of_which_data_it_draws_no_convergence(tmp_path):
    folder = write(tmp_path, [row(dataset="usps", method=m, subproblems=45) for m in ("fw", "mfw")])
    assert "no convergence is drawn of usps" in run("plot", folder, "-o", tmp_path / "figures").stderr
