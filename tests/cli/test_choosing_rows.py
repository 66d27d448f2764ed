"""Options of table, stats, plot and claims that choose rows: none is ignored in silence."""

from pathlib import Path

import pytest

from tests.analysis.folders import row, write
from tests.cli.test_analysis_commands import run


@pytest.mark.parametrize("command", [["table", "-l", "003-2"], ["claims"]])
def test_where_without_results_is_refused(command: list[str]) -> None:
    refused = run(*command, "--where", "dataset=nosuch")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("fwsvm: --where dataset=nosuch: it chooses among rows of RESULTS; ")


def test_a_claim_that_is_not_there_is_named_beside_one_that_is() -> None:
    refused = run("claims", "--only", "003", "--only", "003-x")
    assert refused.exit_code == 2
    assert refused.stderr == "fwsvm: no claim's name begins with 003-x; fwsvm claims lists them all\n"


def test_stats_takes_every_name_of_a_method_that_it_lists(tmp_path: Path) -> None:
    methods = ["swap", "swap-2o", "cvm(retries=2, candidates=outside)", "cvm(retries=3)"]
    rows = [row(dataset=d, method=m) for d in ("a1a", "w1a", "usps") for m in methods]
    folder = write(tmp_path, rows)
    chosen = run("stats", folder, "--methods", ", ".join(methods[1:3]), "--measure", "accuracy", "-f", "csv")
    assert chosen.exit_code == 0, chosen.stderr
    assert "cvm(retries=2, candidates=outside)" in chosen.output
    assert "cvm(retries=3)" not in chosen.output
    twice = run("stats", folder, "--methods", "swap-2o,swap-2o")
    assert twice.exit_code == 2
    assert twice.stderr == "fwsvm: --methods: 'swap-2o' stands there twice; name each method once\n"
