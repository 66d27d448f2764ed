"""A claim's three verdicts: in the printed numbers, on runs as printed, on runs as the authors made theirs."""

from pathlib import Path

import pytest

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


def why(**more):
    """Return a row of the runs that change one setting of the authors' program at a time."""
    usual = {"experiment": "why", "dataset": "a5a", "protocol": "fw-svms", "width_rule": "libcvm"}
    return row(**(usual | more))


def test_rows_count_under_the_protocol_they_were_run_with() -> None:
    cells = cells_of(*adult("paper", 0.5), *adult("fw-svms", 5.0, experiment="as-run", width_rule="libcvm"))
    (verdict,) = check_claims(cells, [FASTER])
    assert (verdict.word, verdict.as_run_word) == ("not reproduced", "reproduced")
    assert verdict.printed_word == "holds in the printed numbers"
    assert "0.500 to 0.500" in verdict.ours.evidence
    assert "5.00 to 5.00" in verdict.as_run.evidence
    assert verdict.turns_on == ()


def test_rows_of_other_protocols_count_for_lack_of_the_paper_s_and_that_is_said() -> None:
    others = adult("default", 5.0, experiment="ours", rows=20_000)
    (verdict,) = check_claims(cells_of(*others), [FASTER])
    assert (verdict.word, verdict.as_run_word) == ("reproduced", "not run")
    assert "21 cells of the protocol default, which is neither" in caveats(cells_of(*others))[0]
    (verdict,) = check_claims(cells_of(*others, *adult("paper", 0.5)), [FASTER])
    assert verdict.word == "not reproduced"


def folder(path: Path, config: str, **more) -> Path:
    rows = [{k: v for k, v in r.items() if k != "protocol"} for r in adult("", 5.0, **more)]
    return write(path, rows, config)


def test_a_folder_s_configuration_says_which_protocol_it_is(tmp_path: Path) -> None:
    ran = folder(tmp_path / "run", "name: trial\nprotocol: fw-svms\n")
    old = folder(tmp_path / "old", "name: other\nprotocol: fw-svms\n")
    full = folder(tmp_path / "full", "name: trial\n", search="full")
    for path, word in ((ran, "fw-svms"), (old, "unknown"), (full, "default")):
        assert set(results.read([path]).frame["protocol"]) == {word}
    (verdict,) = check_claims(cells_module.cells_of_runs(results.read([ran]).frame), [FASTER])
    assert (verdict.word, verdict.as_run_word) == ("not run", "reproduced")
    (ran / "experiment.yaml").write_text("name: [\n", encoding="utf-8")
    read = results.read([ran])
    assert "the protocol of its runs is not known" in read.notices[0]
    assert set(read.frame["protocol"]) == {"unknown"}
    (verdict,) = check_claims(cells_module.cells_of_runs(read.frame), [FASTER])
    assert (verdict.word, verdict.as_run_word) == ("not run", "not run")
    assert "21 cells count for no claim" in caveats(cells_module.cells_of_runs(read.frame))[-1]
    (ran / "experiment.yaml").unlink()
    assert set(results.read([ran]).frame["protocol"]) == {""}, "as rows from before there were protocols"


def test_a_protocol_of_a_method_or_a_data_set_is_that_of_its_runs(tmp_path: Path) -> None:
    runs = [
        row(dataset=d, method=m, search="sampled")
        for d in ("a1a", "w1a")
        for m in ("cvm", "fw", "mfw(protocol=paper)")
    ]
    runs.append(row(dataset="a1a", method="pegasos", search=""))
    config = (
        "name: trial\ndatasets: [{name: a1a, protocol: libcvm}, w1a]\n"
        "methods: [{name: cvm, protocol: fw-svms}, fw, mfw, pegasos]\n"
    )
    frame = results.read([write(tmp_path, runs, config)]).frame
    found = {(r["dataset"], r["method"]): r["protocol"] for r in frame.to_dict("records")}
    assert found == {
        ("a1a", "cvm"): "fw-svms", ("a1a", "fw"): "libcvm", ("a1a", "mfw"): "paper",
        ("w1a", "cvm"): "fw-svms", ("w1a", "fw"): "default", ("w1a", "mfw"): "paper",
        ("a1a", "pegasos"): "libcvm",
    }  # fmt: skip


def test_a_claim_names_the_setting_that_it_turns_on() -> None:
    """MFW is faster than CVM as it was run; with a looser tolerance in the core set CVM is faster."""
    cells = cells_of(
        why(method="cvm", train_seconds=100),
        why(method="cvm(inner=0.001)", train_seconds=0.5),
        why(method="cvm(inner=1e-06)", train_seconds=50),
        why(method="cvm(retries=7)", train_seconds=110),
        why(method="mfw", train_seconds=1),
        why(method="mfw(retries=7)", train_seconds=2),
        why(method="mfw", search="full", train_seconds=200),
        why(method="mfw", width_rule="paper", train_seconds=3),
    )
    (verdict,) = check_claims(cells, [FASTER])
    assert (verdict.word, verdict.as_run_word) == ("not run", "not run"), "they are runs of another kind"
    assert verdict.turns_on == (
        "tolerance inside CVM's core set: on a5a it does not hold with 0.001 (one run a cell)",
        "samples without a violator before a stop: on a5a it does not hold with all rows (one run a cell)",
    )
    for form in ("terminal", "markdown", "csv"):
        text = " ".join(show.render([verdict], form).replace("&#x27;", "'").split())
        assert "tolerance inside CVM's core set: on a5a it does not hold with 0.001" in text
    assert "1 depend on one setting" in show.summary([verdict])


def test_runs_that_were_cut_short_name_a_setting_by_their_bounds_alone() -> None:
    """CVM's accuracy where it was cut short is none; that it takes more than ten seconds is enough for its time."""
    cells = cells_of(
        why(method="cvm", train_seconds=10, status="time_limit", test_accuracy=0.5),
        why(method="cvm(inner=0.001)", train_seconds=0.5, test_accuracy=0.9),
        why(method="mfw", train_seconds=1, test_accuracy=0.8),
        why(method="cvm", dataset="w7a", train_seconds=10),
        why(method="mfw", dataset="w7a", train_seconds=1),
    )
    faster, accurate = check_claims(cells, [FASTER, "003-adult-mfw-as-accurate"])
    assert faster.turns_on == (
        "tolerance inside CVM's core set: on a5a it does not hold with 0.001 (one run a cell)",
    )
    assert accurate.turns_on == ()


def test_no_setting_is_named_on_a_data_set_that_does_not_make_the_verdict() -> None:
    """The claim fails on a1a alone; that it would hold on a5a, and with what it would not, explains nothing."""
    as_run = adult("fw-svms", 5.0, experiment="as-run", width_rule="libcvm")
    for cell in as_run:
        cell["train_seconds"] = (
            0.5 if (cell["dataset"], cell["method"]) == ("a1a", "cvm") else cell["train_seconds"]
        )
    turned = (
        why(method="cvm", train_seconds=0.5),
        why(method="cvm(inner=0.001)", train_seconds=100),
        why(method="mfw", train_seconds=1),
    )
    (verdict,) = check_claims(cells_of(*turned, *as_run), [FASTER])
    assert verdict.as_run_word == "not reproduced"
    assert verdict.turns_on == (), "as run the claim holds on a5a, and in these runs it does not"


@pytest.mark.parametrize("form", ["terminal", "markdown", "csv"])
def test_every_form_has_the_three_verdicts(form: str) -> None:
    cells = cells_of(*adult("paper", 0.5), *adult("fw-svms", 5.0, experiment="as-run", width_rule="libcvm"))
    text = " ".join(show.render(check_claims(cells, [FASTER]), form).split())
    for numbers in ("0.500 to 0.500", "5.00 to 5.00", "5.64 to 15.4"):
        assert numbers in text
