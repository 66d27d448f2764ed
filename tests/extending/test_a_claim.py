"""docs/adding/claim.md: statements of one's own, put to printed numbers and to result folders."""

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install, install_page, python

pytestmark = pytest.mark.slow


def test_its_claims_are_checked_where_there_are_numbers(tmp_path):
    install_page(tmp_path, "claim")
    (words,) = commands("claim")
    said = fwsvm(tmp_path, *words)
    assert "2 claims: 0 reproduced, 0 not reproduced, 2 not run." in said
    assert "1 hold and 0 do not; 1 rest on figures only." in " ".join(said.split())
    (tmp_path / "trial.yaml").write_text("name: trial\ndatasets: [wdbc]\nmethods: [fw, cvm]\n")
    fwsvm(tmp_path, "grid", "trial.yaml")
    assert "NOT RUN         ours-sparser" in fwsvm(tmp_path, *words, "results/trial")
    code = (tmp_path / "ours.py").read_text().replace('series("web")', '("wdbc",)')
    (tmp_path / "ours.py").write_text(code)
    checked = fwsvm(tmp_path, *words, "results/trial")
    assert "NOT RUN" not in checked
    assert "of 1 data sets" in checked


def test_one_that_takes_a_name_is_left_out_in_one_line(tmp_path):
    code = blocks("claim", "python")[0]
    install(tmp_path, "fwsvm.claims", "theirs", "theirs", code.replace('"ours-sparser"', '"003-fw"'))
    done = python(tmp_path, "-m", "fwsvm", "claims", "--summary", warn="default")
    assert done.returncode == 0
    again = code.replace('"ours-sparser"', '"ours-faster"')
    install(tmp_path, "fwsvm.claims", "theirs", "theirs", again)
    done = python(tmp_path, "-m", "fwsvm", "claims", "--only", "ours", warn="default")
    assert done.returncode == 2
    left_out, no_claim = done.stderr.splitlines()
    assert left_out.endswith(
        "could not be loaded: ValueError: a claim named 'ours-faster' is registered already"
    )
    assert "no claim's name begins with ours" in no_claim
