"""Experiments from YAML: what they come to, and where mistakes are said to be."""

from pathlib import Path

import pytest
import yaml

from fwsvm.errors import UsageError
from fwsvm.experiments import config
from fwsvm.experiments.config.located_value import read_yaml

BASE = """\
name: trial
datasets: [wdbc, digits]
methods: [fw, swap]
tolerance: 1e-4
"""
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def load(tmp_path: Path, text: str, profile: str | None = None) -> config.Experiment:
    path = tmp_path / "trial.yaml"
    path.write_text(text)
    return config.load(path, profile)


def mistake(tmp_path: Path, text: str, profile: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text, profile)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_every_data_set_meets_every_method_in_order(tmp_path: Path) -> None:
    found = load(tmp_path, BASE)
    pairs = [(trial.data.name, trial.finals.base.method) for trial in found.trials]
    assert pairs == [("wdbc", "fw"), ("wdbc", "swap"), ("digits", "fw"), ("digits", "swap")]


def test_a_data_set_may_meet_some_of_the_methods(tmp_path: Path) -> None:
    found = load(tmp_path, BASE.replace("wdbc, digits", "wdbc, {name: digits, methods: [swap]}")).trials
    pairs = [(trial.data.name, trial.finals.base.method) for trial in found]
    assert pairs == [("wdbc", "fw"), ("wdbc", "swap"), ("digits", "swap")]


def test_a_number_without_a_point_is_a_number(tmp_path: Path) -> None:
    assert load(tmp_path, BASE).trials[0].finals.points()[0].tolerance == 1e-4


def test_the_later_place_wins(tmp_path: Path) -> None:
    text = """\
name: trial
C: 1
repetitions: 5
datasets: [{name: wdbc, C: 2}, {name: digits, repetitions: 1}]
methods: [fw, {name: swap, C: 3}]
profiles: {smoke: {repetitions: 2}}
"""
    found = load(tmp_path, text, "smoke").trials
    assert [trial.finals.varied["C"] for trial in found] == [(2,), (3,), (1,), (3,)]
    assert [trial.repetitions for trial in found] == [2, 2, 1, 1]


def test_a_width_given_later_replaces_any_given_earlier(tmp_path: Path) -> None:
    text = BASE + "gamma: 0.5\nprofiles: {small: {width_rule: libcvm}}\n"
    (point,) = load(tmp_path, text, "small").trials[0].finals.points()
    assert (point.gamma, point.width_rule) == (None, "libcvm")


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("{from: 1, to: 8, step: log2}", (1, 2, 4, 8)),
        ("{from: 2^-5, to: 2^-1, step: 4}", (2**-5, 2**-3, 2**-1)),
        ("{from: 0.01, to: 1000, step: log10}", (0.01, 0.1, 1, 10, 100, 1000)),
        ("{from: 1, to: 7, step: 2}", (1, 2, 4)),
        ("[3, 1]", (3, 1)),
        ("7", (7,)),
    ],
)
def test_values_are_one_or_a_list_or_a_range(tmp_path: Path, written: str, values: tuple[float, ...]) -> None:
    found = load(tmp_path, BASE + f"C: {written}\n").trials[0].finals.varied["C"]
    assert found == pytest.approx(values, rel=1e-15)


def test_selection_runs_with_its_own_method_and_is_the_same_for_all(tmp_path: Path) -> None:
    text = BASE + "select: {folds: 5, method: cvm, C: [1, 2], sigma2: [4, 8]}\n"
    first, second, *_ = [trial.selection for trial in load(tmp_path, text).trials]
    assert first == second
    assert first is not None
    assert first.candidates.base.method == "cvm"
    assert len(first.candidates.points()) == 4
    assert (first.held_out.parts, first.held_out.description) == (5, "5 folds")


def test_selection_may_give_its_method_other_settings_than_the_reported_runs(tmp_path: Path) -> None:
    tuner = "{name: cvm, parameters: {inner: 0.001}, tolerance: 1e-2}"
    text = BASE + f"select: {{folds: 5, method: {tuner}, C: [1, 2]}}\n"
    found = load(tmp_path, text)
    selection = found.trials[0].selection
    assert selection is not None
    candidate = selection.candidates.points()[0]
    assert (candidate.method, candidate.parameters, candidate.tolerance) == ("cvm", {"inner": 1e-3}, 1e-2)
    assert found.trials[0].finals.varied["tolerance"] == (1e-4,)
    assert load(tmp_path, yaml.safe_dump(dict(found.resolved))).trials == found.trials


def test_selection_takes_the_kernel_of_the_method_it_serves(tmp_path: Path) -> None:
    text = (
        BASE.replace("fw, swap", "{name: fw, kernel: linear}, swap") + "select: {holdout: 0.3, C: [1, 2]}\n"
    )
    kernels = [
        trial.selection.candidates.base.kernel for trial in load(tmp_path, text).trials if trial.selection
    ]
    assert kernels[:2] == ["linear", None]


def test_small_is_the_profile_where_none_is_named(tmp_path: Path) -> None:
    text = BASE + "profiles: {paper: {repetitions: 5}, small: {repetitions: 3}}\n"
    found = load(tmp_path, text)
    assert (found.profile, found.trials[0].repetitions) == ("small", 3)
    assert load(tmp_path, BASE).profile == ""


def test_the_resolved_experiment_is_the_experiment(tmp_path: Path) -> None:
    text = BASE + "select: {holdout: 0.3, C: {from: 1, to: 8, step: log2}}\nprofiles: {small: {rows: 100}}\n"
    found = load(tmp_path, text)
    again = load(tmp_path, yaml.safe_dump(dict(found.resolved), sort_keys=False))
    assert again.trials == found.trials


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + "tolerence: 1\n", "@5: unknown key 'tolerence' in an experiment; did you mean 'tol"),
        (BASE + "C: 1\nC: 2\n", "@6: the key 'C' stands here a second time"),
        (BASE + "kernel: rfb\n", "@5: kernel of fw must be one of"),
        (BASE + "C: -1\n", "@5: C must be a number above 0, not -1"),
        (BASE + "C: [1, one]\n", "@5: C must be a number above 0, not 'one'"),
        (BASE + "C: {from: 8, to: 1, step: log2}\n", "@5: to (1) is below from (8)"),
        (BASE + "C: {from: 1, to: 8}\n", "@5: C needs from, to and step"),
        (BASE + "C: {from: 1, to: 8, step: 1}\n", "@5: step (log2, log10 or a factor) must"),
        (BASE + "repetitions: 2.5\n", "@5: repetitions must be a whole number"),
        (BASE + "limits: {time_second: 3}\n", "@5: unknown key 'time_second' in limits; did you"),
        (BASE + "sigma2: 1\ngamma: 2\n", "@6: give sigma2 or gamma, not both"),
        (BASE + "select: {C: [1]}\n", "@5: select needs either holdout"),
        (BASE + "select: {folds: 5}\n", "@5: select needs values to choose from"),
        (BASE + "C: 1\nselect: {folds: 5, C: [1, 2]}\n", "@5: C is given here and chosen by select"),
        (
            BASE.replace("[fw, swap]", "[avsf, liblinear]") + "select: {folds: 5, C: [1, 2],\n  gamma: [1, 2]}\n",
            "@6: no kernel of these methods has gamma; leave it out of select",
        ),
        (
            BASE + "kernel: laplacian\nselect: {folds: 5, sigma2: [1, 2]}\n",
            "@6: no kernel of these methods has sigma2; leave it out of select",
        ),
        (
            BASE + "gamma: 0.5\nselect: {folds: 5, sigma2: [1, 2]}\n",
            "@5: gamma is given here and sigma2 chosen by select",
        ),
        (
            BASE + "lambda: 0.01\nselect: {folds: 5, C: [1, 2]}\n",
            "@5: lambda is given here and C chosen by select; leave one of them out",
        ),
        (
            BASE + "C: [1, 10]\nselect: {folds: 5, sigma2: [1, 2]}\n",
            "@5: select needs one C; give a single one, or have select choose it",
        ),
        (BASE + "select: {folds: 5, C: [1], method: svm}\n", "@5: method of select must be one of"),
        (BASE + "select: {folds: 5, C: [1], method: {name: svm}}\n", "@5: method of select must be one of"),
        (BASE + "select: {folds: 5, C: [1], method: {C: 2}}\n", "@5: unknown key 'C' in method of select"),
        (BASE + "select: {folds: 5, C: [1], method: {}}\n", "@5: method of select needs a name"),
        (BASE.replace("fw, swap", "swpa"), "@3: a method must be one of"),
        (BASE.replace("fw, swap", "fw, fw"), "@3: fw is listed twice"),
        (BASE.replace("fw, swap", "{name: swap, parameters: {comp: x}}"), "@3: method swap has no"),
        (BASE.replace("wdbc, digits", "wdbc, wdbc"), "@2: wdbc is listed twice"),
        (BASE.replace("digits", "{name: digits, methods: cvm}"), "@2: methods of digits must be one of fw,"),
        (BASE.replace("wdbc, digits", "wbdc"), "@2: wbdc: neither a file nor a name in datasets.lock; did"),
        (BASE.replace("name: trial", "name: ../x"), "@1: name names a folder"),
        (BASE.replace("name: trial", f"name: {'x' * 300}"), "@1: name names a folder"),
        ("datasets: [wdbc]\nmethods: [fw]\n", "@1: the key 'name' is missing"),
        (BASE + "x: [\n", "@6:"),
        ("", "@1: the file is empty"),
        (BASE + "C: &c [*c]\n", "@5: this value contains itself"),
        ("- 1\n", "@1: an experiment must be a mapping"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    assert mistake(tmp_path, text).replace("trial.yaml:", "@").startswith(said)


MINIMAL = "name: trial\ndatasets: [wdbc]\nmethods: [swap]\n"
MANY = ", ".join(f"{{name: swap, C: {C}}}" for C in range(1, 200))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("? [a]\n: b", "4: a key must be a name"),
        ("seed: 2001-99-99", "4: seed must be a whole number from 0 to 9007199254740992, not '2001-99-99'"),
        ("C: 0b_", "4: '0b_' is not of YAML's type int"),
        ("C: !!int abc", "4: 'abc' is not of YAML's type int"),
        ("C: !!timestamp foo", "4: C must be a number above 0, not 'foo'"),
        ("seed: " + "9" * 5000, "4: a number of 5,000 characters"),
        (
            "seed: 1" + "0" * 20,
            "4: seed must be a whole number from 0 to 9007199254740992, not 100000000000000000000",
        ),
        (
            "seed: 9007199254740993",
            "4: seed must be a whole number from 0 to 9007199254740992, not 9007199254740993",
        ),
        ("C:", "4: C must be a number above 0, not nothing"),
        ("C: yes", "4: C must be a number above 0, not yes"),
        ("select: true", "4: select must be a mapping of keys to values, not true"),
        ("C: 0^-1", "4: C must be a number above 0, not '0^-1'"),
        ("C: 9^99999", "4: C must be a number above 0, not '9^99999'"),
        ("C: {from: 1e-308, to: 1e308, step: 1.1}", "4: from 1e-308 to 1e+308 is too wide"),
        ("C: {from: 1, to: 1e300, step: 1.000001}", "4: these are 690,775,"),
        (
            "C: {from: 1, to: 2, step: [log2]}",
            "4: step (log2, log10 or a factor) must be a number above 1, not a list",
        ),
        (f"C: {list(range(1, 1002))}", "4: the list has 1,001 entries; at most 1,000 are allowed"),
        ('extends: "a\\0b"', "4: extends must be a name, not 'a\\x00b'"),
        (f"extends: {'x' * 900}", "4: there is no file"),
        (f"tolerence{'e' * 900}: 1", "4: unknown key 'tolerence"),
        (
            "select: {folds: 1e300, C: [1, 2]}",
            "4: folds must be a whole number from 2 to 1000, not '1e300'",
        ),
        ("repetitions: 1e6", "4: 1,000,000 repetitions are too many; at most 1,000 are allowed"),
        ("workers: 1e9", "4: 1,000,000,000 workers are too many; at most 1,000 are allowed"),
        (
            "limits: {iterations: 1e300}",
            "4: iterations must be a whole number from 1 to 9007199254740992, not '1e300'",
        ),
        (
            "repetitions: 1000\nC: {from: 1, to: 900, step: 1.01}",
            "2: with wdbc and swap the experiment has 684,000",
        ),
        (
            "profiles: {small: {methods: [{name: swap, parameters: {comp: [1]}}]}}",
            "4: parameter comp of swap must be",
        ),
    ],
    ids=lambda value: value[:30],
)
def test_what_asks_for_too_much_or_is_no_value_is_named_by_line(tmp_path: Path, text: str, said: str) -> None:
    assert mistake(tmp_path, MINIMAL + text).replace("trial.yaml:", "").startswith(said)


@pytest.mark.parametrize("name", ["003", "2024_10", "1.10", "off", "0x1f"])
def test_a_name_that_yaml_takes_for_a_number_stays_as_it_stands(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, MINIMAL.replace("name: trial", f"name: {name}")).name == name


def test_names_and_pairs_are_bounded(tmp_path: Path) -> None:
    for name, said in (
        ("x" * 5000, "must be a name"),
        ("x" * 500, "neither a file"),
        ('"a\\nb"', "must be a name"),
    ):
        assert said in mistake(tmp_path, MINIMAL.replace("wdbc", name))
    both = MINIMAL.replace("swap", MANY).replace("wdbc", ", ".join(f"wdbc{n}" for n in range(60)))
    assert "199 methods on 60 data sets are too many; at most 10,000 pairs are allowed" in mistake(
        tmp_path, both
    )


def test_files_that_extend_too_many_are_refused(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"deep{number}.yaml").write_text(f"name: x\nextends: deep{number + 1}.yaml\n")
        (tmp_path / f"wide{number}.yaml").write_text(
            f"name: x\nextends: [{f'wide{number + 1}.yaml, ' * 3}]\n"
        )
    (tmp_path / "wide6.yaml").write_text("name: x\n")
    assert mistake(tmp_path, "extends: deep0.yaml\n").endswith("more than 20 files extend one another")
    assert mistake(tmp_path, "extends: wide0.yaml\n").endswith("more than 200 files are extended")


EXTENDING = """\
name: child
extends: trial.yaml
datasets: [letter]
profiles: {small: {C: 3}}
"""


def child(tmp_path: Path, parent: str, text: str, profile: str | None = None) -> config.Experiment:
    (tmp_path / "trial.yaml").write_text(parent)
    (tmp_path / "child.yaml").write_text(text)
    return config.load(tmp_path / "child.yaml", profile)


def test_a_file_starts_from_the_one_it_extends_as_that_is_at_the_same_profile(tmp_path: Path) -> None:
    parent = BASE + "C: 1\nprofiles: {small: {C: 2, repetitions: 3}, paper: {repetitions: 5}}\n"
    small, paper = child(tmp_path, parent, EXTENDING), child(tmp_path, parent, EXTENDING, "paper")
    assert [(e.name, e.profile, e.trials[0].repetitions) for e in (small, paper)] == [
        ("child", "small", 3),
        ("child", "paper", 5),
    ]
    assert [trial.finals.varied["C"] for trial in (small.trials[0], paper.trials[0])] == [(3,), (1,)]
    assert {trial.data.name for trial in small.trials} == {"letter"}
    assert [trial.finals.base.method for trial in small.trials] == ["fw", "swap"]


def test_data_sets_of_several_extended_files_follow_one_another(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(BASE.replace("wdbc, digits", "digits, letter"))
    found = child(tmp_path, BASE, "name: child\nextends: [trial.yaml, other.yaml]\nmethods: [cvm]\n")
    assert [trial.data.name for trial in found.trials] == ["wdbc", "digits", "letter"]


def test_each_data_set_keeps_the_settings_of_its_file(tmp_path: Path) -> None:
    other = BASE.replace("wdbc, digits", "digits, letter").replace("1e-4", "1e-5") + "rows: 100\n"
    (tmp_path / "other.yaml").write_text(other)
    both = "name: child\nextends: [trial.yaml, other.yaml]\n"
    found = child(tmp_path, BASE.replace(", digits", ""), both).trials
    kept = {(t.data.name, t.data.rows, t.finals.points()[0].tolerance) for t in found}
    assert kept == {("wdbc", None, 1e-4), ("digits", 100, 1e-5), ("letter", 100, 1e-5)}
    found = child(tmp_path, BASE.replace(", digits", ""), both + "tolerance: 1e-3\n").trials
    assert {trial.finals.points()[0].tolerance for trial in found} == {1e-3}


def test_a_width_is_chosen_at_the_lambda_of_the_reported_runs(tmp_path: Path) -> None:
    found = load(tmp_path, BASE + "lambda: 1e-4\nselect: {holdout: 0.3, sigma2: [1, 4]}\n")
    selection = found.trials[0].selection
    assert selection is not None
    assert {point.lambda_ for point in selection.candidates.points()} == {1e-4}


def test_what_one_of_two_extended_files_says_alone_needs_a_word(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(BASE.replace("wdbc, digits", "letter"))
    both = "name: child\nextends: [trial.yaml, other.yaml]\n"
    with pytest.raises(
        UsageError, match=r"trial.yaml:5: seed is set in only some of the extended files; set it in"
    ):
        child(tmp_path, BASE + "seed: 1\n", both)
    assert child(tmp_path, BASE + "seed: 1\n", both + "seed: 2\n").seed == 2


def test_extended_files_with_other_methods_need_a_word(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(BASE.replace("fw, swap", "cvm").replace("wdbc, digits", "letter"))
    both = "name: child\nextends: [trial.yaml, other.yaml]\n"
    with pytest.raises(UsageError, match=r"other.yaml:3: methods differs from .*trial.yaml:3"):
        child(tmp_path, BASE, both)
    assert len(child(tmp_path, BASE, both + "methods: [mfw]\n").trials) == 3


@pytest.mark.parametrize(
    ("extended", "said"),
    [
        ("child.yaml", "child.yaml:2: child.yaml extends itself"),
        ("none.yaml", "child.yaml:2: there is no file"),
    ],
)
def test_what_cannot_be_extended_is_named(tmp_path: Path, extended: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        child(tmp_path, BASE, f"name: child\nextends: {extended}\nmethods: [fw]\n")


def test_the_files_of_003_and_000_have_one_protocol() -> None:
    """So that their runs have the same identities, and those of one can be taken over by the other."""
    folder = Path(__file__).parents[2] / "configs"
    for profile in ("smoke", "small", "paper"):
        parts = [config.load(folder / f"{name}.yaml", profile) for name in ("web", "adult", "003-single")]
        whole = config.load(folder / "swap.yaml", profile)
        shared = [trial for trial in whole.trials if not trial.finals.base.method.startswith("swap")]
        assert shared == [trial for part in parts for trial in part.trials]
        assert len(whole.trials) == len(shared) / 3 * 5
        assert (
            len({trial.data.name for trial in whole.trials})
            == {"smoke": 9, "small": 26, "paper": 26}[profile]
        )


def test_an_unknown_profile_names_those_there_are(tmp_path: Path) -> None:
    text = BASE + "profiles: {small: {}, paper: {}}\n"
    assert mistake(tmp_path, text, "big").endswith("there is no profile 'big'; it has small, paper")


def test_merge_keys_work(tmp_path: Path) -> None:
    text = BASE.replace("fw, swap", "&fw {name: fw, C: 2}, {<<: *fw, name: swap}")
    assert [trial.finals.varied["C"] for trial in load(tmp_path, text).trials[:2]] == [(2,), (2,)]


def test_there_is_a_message_for_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        config.load(tmp_path / "none.yaml")
    (tmp_path / "latin").write_bytes(b"name: \xff\n")
    with pytest.raises(UsageError, match="cannot be read"):
        config.load(tmp_path / "latin")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_shipped_experiments_are_right_in_every_profile(path: Path) -> None:
    profiles = read_yaml(path).value.get("profiles")
    for profile in [None, *(profiles.value if profiles else ())]:
        assert config.load(path, profile).trials


@pytest.mark.parametrize("path", [p for p in CONFIGS if p.stem != "real-files"], ids=lambda path: path.stem)
def test_smoke_profiles_need_no_files(path: Path) -> None:
    names = {trial.data.name for trial in config.load(path, "smoke").trials}
    assert all(name.startswith("synthetic:") or name in {"wdbc", "wdbc-500", "digits"} for name in names)
