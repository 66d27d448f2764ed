"""Experiments from YAML: what they come to, and how mistakes are named."""

from pathlib import Path

import pytest
import yaml

from fwsvm.errors import UsageError
from fwsvm.experiments import config

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


def test_every_data_set_meets_every_method_or_those_of_its_entry_in_order(tmp_path: Path) -> None:
    found = load(tmp_path, BASE.replace("wdbc, digits", "wdbc, {name: digits, methods: [swap]}")).trials
    pairs = [(trial.data.name, trial.finals[0].method) for trial in found]
    assert pairs == [("wdbc", "fw"), ("wdbc", "swap"), ("digits", "swap")]
    assert found[0].finals[0].tolerance == 1e-4


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
    assert [[point.C for point in trial.finals] for trial in found] == [[2], [3], [1], [3]]
    assert [trial.repetitions for trial in found] == [2, 2, 1, 1]


def test_a_width_given_later_replaces_any_given_earlier(tmp_path: Path) -> None:
    text = BASE + "gamma: 0.5\nprofiles: {small: {width_rule: libcvm}}\n"
    (point,) = load(tmp_path, text, "small").trials[0].finals
    assert (point.gamma, point.width_rule) == (None, "libcvm")


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("{from: 1, to: 8, step: log2}", (1, 2, 4, 8)),
        ("{from: 2^-5, to: 2^-1, step: 4}", (2**-5, 2**-3, 2**-1)),
        ("{from: 0.01, to: 1000, step: log10}", (0.01, 0.1, 1, 10, 100, 1000)),
        ("{from: 1, to: 7, step: 2}", (1, 2, 4)),
        ("[3, 1e1]", (3, 10)),
        ("7", (7,)),
    ],
)
def test_values_are_one_or_a_list_or_a_range(tmp_path: Path, written: str, values: tuple[float, ...]) -> None:
    found = load(tmp_path, BASE + f"C: {written}\n").trials[0].finals
    assert [point.C for point in found] == pytest.approx(values, rel=1e-15)


def test_selection_has_its_own_method_and_settings_and_is_the_same_for_all(tmp_path: Path) -> None:
    tuner = "{name: cvm, parameters: {inner: 0.001}, tolerance: 1e-2}"
    text = BASE + f"select: {{folds: 5, method: {tuner}, C: [1, 2], sigma2: [4, 8]}}\n"
    found = load(tmp_path, text)
    first, second, *_ = [trial.selection for trial in found.trials]
    assert first is not None
    assert first == second
    candidate = first.candidates[0]
    assert (candidate.method, candidate.parameters, candidate.tolerance) == ("cvm", {"inner": 1e-3}, 1e-2)
    assert (len(first.candidates), first.held_out.description) == (4, "5 folds")
    assert [point.tolerance for point in found.trials[0].finals] == [1e-4]
    assert load(tmp_path, yaml.safe_dump(dict(found.resolved))).trials == found.trials


def test_an_exact_search_stops_sooner_unless_a_tolerance_is_given(tmp_path: Path) -> None:
    text = BASE.replace("tolerance: 1e-4\n", "") + "select: {folds: 5, method: auto, C: [1, 2]}\n"
    changes = {
        "": 0.1,
        "tolerance: 1e-4\n": 1e-4,  # of all runs
        "protocol: paper\nselect: {folds: 5, method: swap, C: [1, 2]}\n": None,
        "select: {folds: 5, method: liblinear, C: [1, 2]}\n": None,
        "tolerance: 1e-4\nselect: {folds: 5, tolerance: 1e-2, C: [1, 2]}\n": 1e-2,
    }
    for more, tolerance in changes.items():
        trial = load(tmp_path, (text if "select" not in more else BASE.partition("tol")[0]) + more).trials[0]
        assert trial.selection is not None
        assert {point.tolerance for point in trial.selection.candidates} == {tolerance}
        assert trial.finals[0].tolerance == (1e-4 if "1e-4" in more else None)


def test_selection_takes_the_kernel_of_the_method_it_serves_and_the_lambda_of_its_runs(
    tmp_path: Path,
) -> None:
    text = BASE.replace("fw, swap", "{name: fw, kernel: linear}, swap")
    text += "lambda: 1e-4\nselect: {holdout: 0.3, sigma2: [1, 4]}\n"
    bases = [trial.selection.candidates for trial in load(tmp_path, text).trials if trial.selection]
    assert [points[0].kernel for points in bases[:2]] == ["linear", None]
    assert {point.lambda_ for point in bases[1]} == {1e-4}


def test_small_is_the_profile_where_none_is_named(tmp_path: Path) -> None:
    text = BASE + "profiles: {paper: {repetitions: 5}, small: {repetitions: 3}}\n"
    found = load(tmp_path, text)
    assert (found.profile, found.trials[0].repetitions) == ("small", 3)
    assert load(tmp_path, BASE).profile == ""
    assert mistake(tmp_path, text, "big").endswith("there is no profile 'big'; it has paper, small")


def test_how_files_are_read_is_a_setting_of_a_data_set(tmp_path: Path) -> None:
    text = BASE.replace("digits]", "{name: digits, scale: none}]") + "scale: '[-1,1]'\nzero_based: true\n"
    data = load(tmp_path, text).datasets
    assert [(each.zero_based, each.scale) for each in data] == [(True, "[-1,1]"), (True, "none")]


SEARCH = "select: {folds: 5, C: [1, 2]"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("threads: 2", 5, "unknown key 'threads'; write --threads on the command line"),
        ("method: fw", 5, "unknown key 'method'; did you mean 'methods'?"),
        ("tolerence: 1", 5, "unknown key 'tolerence'; did you mean 'tolerance'?"),
        ("limits:\n  folds: 3", 6, "unknown key 'folds'; it belongs elsewhere in an experiment"),
        (
            "profiles:\n  small:\n    repetition: 3",
            7,
            "unknown key 'repetition'; did you mean 'repetitions'?",
        ),
        ("C: 1\nC: 2", 6, "not YAML: the key 'C' stands there twice"),
        ("tolerance: abc", 5, "tolerance: expected"),
        ("C: -1", 5, "C: expected a number > 0.0"),
        ("C: {from: 1, to: 8}", 5, "C: it lacks the key step; write {from: 1, to: 64, step: 4} or a list"),
        ("C: {from: 1, to: 8, step: ln}", 5, "C.step: there is no 'ln'"),
        ("repetitions: 100000", 5, "repetitions: expected a whole number <= 1000"),
        ("x: [", 6, "not YAML: "),
        (
            "limits:\n\tfolds: 3",
            6,
            "not YAML: found character that cannot start any token; indent with spaces",
        ),
        ("C: {from: 8, to: 1, step: log2}", 5, "C from 8 to 1 has no value, or more than 1,000"),
        ("class_weight:\n  1: -2", 5, "class_weight[...]: expected a number > 0.0"),
        ("select: {C: [1]}", 5, "select needs either holdout"),
        ("C: 1\n" + SEARCH + "}", 5, "C is given here and chosen by select; leave one of them out"),
        ("C: [1, 10]\nselect: {folds: 5, sigma2: [1, 2]}", 5, "select needs one C; give a single one"),
        ("kernel: laplacian\nselect: {folds: 5, sigma2: [1, 2]}", 6, "no kernel of these methods has sigma2"),
        (SEARCH + ", method: svm}", 5, "method of select must be one of"),
    ],
)
def test_mistakes_are_named_by_file_line_and_key(tmp_path: Path, text: str, line: int, said: str) -> None:
    (found,) = mistake(tmp_path, BASE.replace("tolerance: 1e-4", "seed: 0") + text + "\n").splitlines()
    assert found.startswith(f"trial.yaml:{line}: {said}")


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("fw, swap", "swpa", ":3: a method must be one of"),
        ("fw, swap", "{name: swap, parameters: {comp: x}}", ": method swap has no parameter 'comp'"),
        ("fw, swap", "\n  {name: swap, compare: clipped}", ":4: unknown key 'compare'"),
        ("wdbc, digits", "wdbc, wdbc", ":2: wdbc is listed twice"),
        ("digits", "{name: digits, methods: cvm}", ":2: methods of digits must be one of fw,"),
        ("wdbc, digits", "wbdc", ":2: wbdc: neither a file nor a name in datasets.lock; did you mean 'wdbc'"),
        ("digits", "{test: rows.svm}", ":2: an entry of datasets needs either name or train"),
        ("name: trial\n", "", ": the key 'name' is missing"),
        ("[wdbc, digits]", "[]", ": the key 'datasets' is missing or empty"),
        ("seed: 0", "kernel: rfb", ": there is no kernel 'rfb'; did you mean 'rbf'?"),
        ("seed: 0", "kernel: precomputed", ": experiments have no 'precomputed'"),
        ("name: trial", "name: ../x", ":1: name: expected letters, digits and any of . + - _"),
        (BASE.replace("tolerance: 1e-4", "seed: 0"), "- 1", ": expected keys with values, got a list"),
    ],
)
def test_wrong_names_are_named_by_file_and_line(
    tmp_path: Path, written: str, instead: str, said: str
) -> None:
    text = BASE.replace("tolerance: 1e-4", "seed: 0")
    assert mistake(tmp_path, text.replace(written, instead)).startswith(f"trial.yaml{said}")


def test_a_mistake_in_an_extended_file_is_named_by_that_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"/trial.yaml:5: unknown key 'kernl'"):
        child(tmp_path, BASE + "kernl: rbf\n", EXTENDING)


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
    assert [[point.C for point in each.trials[0].finals] for each in (small, paper)] == [[3], [1]]
    assert {trial.data.name for trial in small.trials} == {"letter"}


def test_there_is_a_message_for_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml: cannot be read: No such file"):
        load(tmp_path, "extends: none.yaml")
    (tmp_path / "latin").write_bytes(b"name: \xff\n")
    with pytest.raises(UsageError, match=r"latin:1: not text in UTF-8"):
        config.load(tmp_path / "latin")
    (tmp_path / "large").write_text("#" * 2**21)
    with pytest.raises(UsageError, match="cannot be read: more than 1 MiB"):
        config.load(tmp_path / "large")


@pytest.mark.parametrize("path", [p for p in CONFIGS if p.stem != "real-files"], ids=lambda path: path.stem)
def test_smoke_profiles_need_no_files(path: Path) -> None:
    names = {trial.data.name for trial in config.load(path, "smoke").trials}
    assert all(name.startswith("synthetic:") or name in {"wdbc", "wdbc-500", "digits"} for name in names)
