"""docs/adding/kernel.md: a kernel with width rules and a parameter of its own, through the command line."""

import json

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install_page, printed, python, several

pytestmark = pytest.mark.slow

TRAIN = ("train", "--json", "--kernel", "rational", "wdbc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with the page's package in it."""
    place = tmp_path_factory.mktemp("kernel")
    install_page(place, "kernel")
    return place


def test_its_commands_run_and_its_tests_hold(folder):
    listed, trained, *_, predicted = printed(folder, *commands("kernel"))
    assert "name: rational\nformula: (1 + gamma |x - z|^2)^-power" in listed
    assert "- power" in listed
    assert "rational" in trained
    assert set(predicted.split()) == {"1", "-1"}
    _, tests = blocks("kernel", "python")
    done = python(folder, "-c", tests)
    assert done.returncode == 0, done.stderr


def test_its_rules_decide_its_width_and_its_row_names_its_parameter(folder):
    more = ([], ["--width-rule", "box"], ["--gamma", "0.5", "--param", "power=3"])
    mean, box, own = map(json.loads, printed(folder, *([*TRAIN, *words] for words in more)))
    assert (mean["width_rule"], box["width_rule"]) == ("mean", "box")
    assert mean["gamma"] > box["gamma"]
    assert (own["kernel"], own["gamma"], own["width_rule"]) == ("rational", 0.5, None)
    assert own["parameters"] == '{"kernel.power": 3}'
    assert own["certified"]
    assert len({mean["run_id"], box["run_id"], own["run_id"]}) == 3


def test_a_model_keeps_its_parameter_and_is_refused_without_the_package(folder, tmp_path):
    fwsvm(folder, "train", "--kernel", "rational", "--param", "power=2", "--model", "machine", "wdbc")
    machine = (folder / "machine").read_text()
    assert '"kernel_parameters": {"power": 2}' in machine
    assert '"svm_predict": false' in machine
    (tmp_path / "machine").write_text(machine)
    without = python(tmp_path, "-m", "fwsvm", "predict", "machine", "wdbc")
    assert without.returncode == 3
    assert "kernel_type is 'rational', a kernel that fwsvm does not have" in without.stderr
    wrong = {"200": "1 to 100", '"x"': "must be a whole number", "null": "power"}
    for number, power in enumerate(wrong):
        (folder / f"wrong{number}").write_text(machine.replace('{"power": 2}', f'{{"power": {power}}}'))
    told = several(folder, *(["predict", f"wrong{number}", "wdbc"] for number in range(len(wrong))))
    for expected, said in zip(wrong.values(), told, strict=True):
        assert said.code == 3
        assert expected in said.err


def test_an_experiment_runs_it_beside_the_kernels_of_the_package(folder):
    (folder / "trial.yaml").write_text(
        "name: trial\ndatasets: [wdbc]\nmethods:\n  - {name: swap, kernel: rational, kernel_parameters: {power: 2}}\n"
        "  - {name: mfw, kernel: rbf}\n"
    )
    fwsvm(folder, "grid", "trial.yaml", "--workers", "2")
    rows = (folder / "results" / "trial" / "runs.csv").read_text().splitlines()
    assert sum('""kernel.power"": 2' in row for row in rows) == 1
    (folder / "trial.yaml").write_text(
        "name: trial\ndatasets: [wdbc]\nmethods: [swap]\nkernel: rational\nkernel_parameters:\n  powr: 2\n"
    )
    done = python(folder, "-m", "fwsvm", "grid", "trial.yaml")
    assert done.returncode == 2
    assert "trial.yaml: the rational kernel has no parameter 'powr'" in done.stderr
