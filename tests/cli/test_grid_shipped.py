"""``fwsvm grid`` with the experiments that come with fwsvm, and with a part of an experiment."""

from pathlib import Path

import pytest
import yaml

from tests.cli.running import done, rows, run

CONFIGS = Path(__file__).parents[2] / "configs"
SMOKE = ("grid", "quickstart", "--profile", "smoke", "--offline")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_has_every_file_with_its_profiles_and_a_sentence():
    lines = run("grid", "--list").output.splitlines()
    names = [line.split()[0] for line in lines[::2]]
    assert names == sorted(file.stem for file in CONFIGS.glob("*.yaml"))
    assert all(
        line.startswith("  ") and line.endswith(f". [{CONFIGS / name}.yaml]")
        for name, line in zip(names, lines[1::2], strict=True)
    )
    assert lines[2 * names.index("web")] == "web  (profiles: smoke, small, paper)"


def test_a_name_runs_the_shipped_experiment_in_an_empty_folder(empty_folder):
    done(*SMOKE)
    assert {row["experiment"] for row in rows(empty_folder / "results" / "quickstart")} == {"quickstart"}


def test_a_file_of_ones_own_goes_before_a_shipped_one_of_its_name(empty_folder):
    (empty_folder / "quickstart").write_text("name: own\ndatasets: [wdbc]\nmethods: [fw]\n", "utf-8")
    assert "1 run: 0 to choose" in run("grid", "quickstart", "--dry-run").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("quickstar",),
            "quickstar: neither a file nor an experiment that comes with fwsvm; did you mean 'quickstart'?",
        ),
        (("nothing-like-it",), "`fwsvm grid --list` shows all"),
        (("../quickster",), "../quickster: cannot be read"),
        (("x" * 5000,), "neither a file nor"),
        ((), "name an experiment"),
        (("quickstart", "--only", "methods=swap"), "--only methods=swap: give method=NAME or dataset=NAME"),
        (
            ("quickstart", "--only", "method=swop"),
            "not 'swop'; did you mean 'swap'?",
        ),
        (("quickstart", "--only", "method=fw,dataset=x*"), "dataset must be one of wdbc, digits, not 'x*'"),
    ],
)
def test_what_is_no_experiment_and_no_part_of_one_is_said(words, said):
    ended = done("grid", *words, code=2)
    assert said in ended.stderr
    assert ended.stderr.startswith("fwsvm: ")


def test_a_part_of_an_experiment_makes_the_runs_of_the_whole_one(empty_folder):
    done(*SMOKE, "--out", "whole")
    assert (
        run(*SMOKE, "--out", "part", "--only", "method=sw*,dataset=wdbc", "--only", "method=fw").exit_code
        == 0
    )
    whole, part = rows(empty_folder / "whole"), rows(empty_folder / "part")
    assert {row["run_id"] for row in part} < {row["run_id"] for row in whole}
    finals = [(row["dataset"], row["method"]) for row in part if row["role"] == "final"]
    assert finals == [("wdbc", "fw"), ("wdbc", "swap"), ("wdbc", "swap-2o")]
    said = [(empty_folder / folder / "experiment.yaml").read_text("utf-8") for folder in ("whole", "part")]
    assert yaml.safe_load(said[0]) == yaml.safe_load(said[1])  # so that both can be merged
    assert "only method=fw" in said[1].splitlines()[0]
    done("merge", "part", "whole", "--out", "both")
