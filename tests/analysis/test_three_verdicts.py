"""A claim's three verdicts: in the printed numbers, on runs as printed, on runs as the authors made theirs."""

from pathlib import Path

from fwsvm.analysis import cells as cells_module
from fwsvm.analysis import results
from fwsvm.analysis.claims import show
from fwsvm.analysis.claims.checks import ADULT
from fwsvm.analysis.claims.evaluate import caveats, check_claims
from tests.analysis.folders import cells_of, row, write

FASTER = "frandi-adult-mfw-faster"


def adult(protocol: str, cvm: float, **more):
    """Return rows of the Adult series: CVM takes ``cvm`` seconds, the others one."""
    return [
        row(dataset=d, method=m, train_seconds=cvm if m == "cvm" else 1.0, protocol=protocol, **more)
        for d in ADULT
        for m in ("cvm", "fw", "mfw")
    ]


def words(verdict) -> list[str]:
    return [word for word, _ in verdict.findings]


def test_rows_count_under_the_protocol_they_were_run_with() -> None:
    cells = cells_of(*adult("paper", 0.5), *adult("fw-svms", 5.0, experiment="as-run", width_rule="libcvm"))
    (verdict,) = check_claims(cells, [FASTER])
    assert words(verdict) == ["holds in the printed numbers", "not reproduced", "reproduced"]
    assert "0.500 to 0.500" in verdict.ours.evidence
    assert "5.00 to 5.00" in verdict.as_run.evidence
    for form in ("terminal", "markdown", "csv"):
        text = " ".join(show.render([verdict], form).split())
        assert all(numbers in text for numbers in ("0.500 to 0.500", "5.00 to 5.00", "5.64 to 15.4"))
    why = adult("fw-svms", 0.1, experiment="why")
    assert words(check_claims(cells_of(*why), [FASTER])[0])[1:] == ["not run", "not run"]


def test_rows_of_other_protocols_count_for_lack_of_the_paper_s_and_that_is_said() -> None:
    others = adult("default", 5.0, experiment="ours", rows=20_000)
    (verdict,) = check_claims(cells_of(*others), [FASTER])
    assert words(verdict)[1:] == ["reproduced", "not run"]
    assert "21 cells of the protocol default, neither" in caveats(cells_of(*others))[0]
    (verdict,) = check_claims(cells_of(*others, *adult("paper", 0.5)), [FASTER])
    assert words(verdict)[1] == "not reproduced"


def folder(path: Path, config: str, **more) -> Path:
    rows = [{k: v for k, v in r.items() if k != "protocol"} for r in adult("", 5.0, **more)]
    return write(path, rows, config)


def test_a_folder_s_configuration_says_which_protocol_it_is(tmp_path: Path) -> None:
    ran = folder(tmp_path / "run", "name: trial\nprotocol: fw-svms\n")
    old = folder(tmp_path / "old", "name: other\nprotocol: fw-svms\n")
    full = folder(tmp_path / "full", "name: trial\n", search="full")
    for path, word in ((ran, "fw-svms"), (old, ""), (full, "default")):
        assert set(results.read([path]).frame["protocol"]) == {word}
    (verdict,) = check_claims(cells_module.cells_of_runs(results.read([ran]).frame), [FASTER])
    assert words(verdict)[1:] == ["not run", "reproduced"]
    (ran / "experiment.yaml").unlink()
    assert set(results.read([ran]).frame["protocol"]) == {""}, "as rows from before there were protocols"
