"""The table at the end of ``fwsvm grid``."""

from pathlib import Path

from fwsvm.analysis.summary import summary
from tests.analysis.folders import row, write


def table(folder: Path, *rows: dict[str, str]) -> list[str]:
    """Return the lines of the table of these runs, without their columns' widths."""
    write(folder, list(rows))
    return [
        " ".join(line.split()) for line in summary(folder, {each["run_id"] for each in rows}).splitlines()
    ]


def test_repetitions_are_averaged_and_settings_that_differ_have_a_column(tmp_path: Path) -> None:
    wide = {"dataset": "wdbc", "method": "swap", "C": "0.0009765625", "objective": "1.25e-101"}
    wide |= {"support_vectors": "123456", "train_seconds": "2.5"}
    found = table(
        tmp_path,
        *(row(run_id=f"a{n}", repetition=str(n), test_accuracy=f"0.{n + 1}", **wide) for n in range(2)),
        row(run_id="b", kernel="laplacian", test_accuracy="0.75", **wide),
    )
    assert found[0] == "data set method kernel C sigma2 test % SV seconds objective"
    assert [line.split()[2:8:3] for line in found[2:4]] == [["rbf", "15.00"], ["laplacian", "75.00"]]
    assert "0.000976562" in found[2]
    assert "123456 2.5 1.25e-101" in found[2]


def test_a_weak_guarantee_is_noted(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        row(run_id="a", dataset="wdbc", method="cvm", relative_gap="4.5", repetition="0", machine="here"),
        row(run_id="b", dataset="wdbc", method="cvm", relative_gap="4.5", repetition="1", machine="there"),
        row(run_id="c", dataset="wdbc", method="swap", status="error"),
    )
    assert (found[2].split()[-1], found[3].split()[-1]) == ("stopped", "error")
    assert found[4] == "weak guarantee for wdbc, cvm: relative gap 4.5"


def test_what_auto_chose_is_said_where_all_repetitions_chose_it(tmp_path: Path) -> None:
    names = ("swap-2o", "newton")
    found = table(
        tmp_path,
        *(
            row(run_id=f"a{n}", dataset="a", method="auto", chosen="newton", repetition=str(n))
            for n in range(2)
        ),
        *(
            row(run_id=f"b{n}", dataset="b", method="auto", chosen=names[n], repetition=str(n))
            for n in range(2)
        ),
    )
    assert found[2].startswith("a auto (newton) ")
    assert found[3].startswith("b auto ")
    assert "(" not in found[3]
