"""Options of table, stats, plot and claims that choose rows: none is ignored in silence."""

import pytest

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
