"""docs/adding/claim.md: statements of one's own, put to printed numbers and to result folders."""

import pytest

from tests.extending.packages import commands, fwsvm, install_page

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
