"""Lines of LIBSVM's users, and mistyped commands: they work, or are answered by what to type instead."""

import json
import shlex

import pytest

import fwsvm
from tests.cli.running import done


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "a.svm"
    path.write_text(
        "".join(f"{1 if k % 2 else -1} 1:{k % 2 + 0.01 * k} 2:{0.1 * (k % 7)}\n" for k in range(40))
    )
    return path


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("-c 10 -g 0.5", "-C 10 --gamma 0.5"),
        ("-c10 -g0.5 -t2", "-C 10 --gamma 0.5 --kernel rbf"),
        ("-t 0 -b 0", "--kernel linear"),
        (
            "-t 1 -d 2 -r 0 -b 1 --model m",
            "--kernel poly --param degree=2 --param coef0=0 --probability --model m",
        ),
    ],
)
def test_unambiguous_options_of_svm_train_simply_work(rows, monkeypatch, tmp_path, theirs, ours):
    monkeypatch.chdir(tmp_path)
    same = []
    for options in (theirs, ours):
        row = json.loads(done("train", *options.split(), "--json", rows).stdout)
        same.append([row[name] for name in ("run_id", "kernel", "C", "gamma", "objective")])
        if "--model" in options:
            same[-1] += (tmp_path / "m").read_text().splitlines()[:8]
    assert same[0] == same[1]


def test_svm_train_and_svm_predict_with_q_and_b(rows, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert done("train", "-q", "-b", "1", "--model", "m", rows).output == ""
    told = done("predict", "-q", "-b", "1", "m", rows, "out")
    assert told.output == ""
    assert (tmp_path / "out").read_text().startswith("labels 1 -1\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train -s 3 a.svm", "-s is LIBSVM's: only C-SVC"),
        ("train -t 3 a.svm", "the sigmoid kernel is not supported"),
        ("train -m 100 a.svm", "write --cache-mb"),
        ("train -h 0 a.svm", "-h is LIBSVM's: fwsvm has no shrinking; leave it out"),
        ("train -v 5 a.svm", "write `fwsvm cv --folds N`"),
        ("train -w1 5 a.svm", "write --class-weight LABEL=W"),
        ("train -c 1 a.svm a.model", "the second file of svm-train is the model: write --model FILE"),
        ("train --folds 5 a.svm", "no option --folds here: `fwsvm cv` has it"),
        ("cv -b 1 a.svm", "train and predict have --probability"),
    ],
)
def test_other_options_of_svm_train_are_answered_by_ours(line, said):
    assert said in done(*shlex.split(line), code=2).stderr


def test_an_option_that_is_nobodys_stays_an_error_of_its_own():
    said = done("train", "-z", "3", "a.svm", code=2).stderr
    assert "no such option" in said
    assert "LIBSVM" not in said


@pytest.mark.parametrize(("typed", "meant"), [("trian", "train"), ("predcit", "predict"), ("gird", "grid")])
def test_a_command_that_there_is_not_is_answered_by_the_nearest(typed, meant):
    said = done(typed, "wdbc", code=2).stderr
    assert said.startswith(f"fwsvm: no such command '{typed}'")
    assert f"'{meant}'" in said


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_that_of_the_package(option):
    assert done(option).stdout == f"fwsvm, version {fwsvm.__version__}\n"
