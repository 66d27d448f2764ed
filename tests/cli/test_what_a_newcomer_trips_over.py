"""Mistakes that a first visitor made: each is answered in one sentence, and nothing is lost."""

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fwsvm.experiments import run as runs
from fwsvm.problems import model_files
from tests.cli.running import done

PUBLISHED = str(Path(__file__).parents[2] / "results" / "reference" / "web")  # a folder of results


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{1 - 2 * (i % 2)} 1:{rng.normal() + i % 2:.3f} 2:{rng.normal():.3f}\n" for i in range(40)]
    (tmp_path / "rows").write_text("".join(lines))
    return tmp_path / "rows"


def refused(*words):
    return done(*words, code=2).stderr


@pytest.mark.parametrize(
    "words",
    [
        "train --model rows rows",
        "train --model ./rows rows",
        "train --model new --trace new rows",
        "train --test rows --trace rows wdbc",
        "predict rows rows rows",
        "scale -o rows rows",
        "scale -s rows rows",
        "subset rows 10 rows",
        "subset rows 10 new new",
    ],
)
def test_no_output_takes_the_place_of_an_input_or_of_another(rows, words):
    before = rows.read_bytes()
    assert "would be overwritten" in refused(*words.split())
    assert rows.read_bytes() == before
    assert [each.name for each in rows.parent.iterdir()] == ["rows"]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("subset rows 10 none/new", "OUTPUT"),
        ("subset rows 10 new none/rest", "REST"),
        ("scale -o none/new rows", "--output"),
        ("scale -s none/ranges rows", "--save"),
    ],
)
def test_a_folder_that_there_is_not_is_named_before_anything_is_written(rows, words, option):
    said = f"there is no folder {rows.parent / 'none'}; name another file with {option}"
    assert said in refused(*words.split())
    assert [each.name for each in rows.parent.iterdir()] == ["rows"]


@pytest.mark.usefixtures("rows")
def test_a_model_in_the_place_of_data_is_told_from_rows():
    done("train", "--model", "m", "rows")
    for command in ("train", "cv"):
        said = "fwsvm: m is a model, not rows to train on: fwsvm predict m DATA uses it"
        assert said in refused(command, "m").splitlines()
    assert "the model comes first: fwsvm predict m rows" in refused("predict", "rows", "m")


def test_weights_of_several_classes_are_several_options(rows):
    said = refused("train", "--class-weight", "1=5,-1=2", "rows")
    assert "not '1=5,-1=2'; repeat --class-weight for each class" in said


def test_one_time_limit_holds_for_all_pairs_of_classes_together(rows):
    rows.write_text("".join(f"{i % 30} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
    result = done("train", "--method", "swap-2o", "--time-limit", "1e-6", "rows")
    assert "subproblems were not reached" in result.stderr
    assert re.search(
        r"objective .* \(sum of \d+ of 435 subproblems\)\ngap             unknown\n", result.stdout
    )
    told = done("cv", "--folds", "2", "--method", "swap-2o", "--time-limit", "1e-6", "rows").stdout
    assert re.search(r"^fold 1 +time_limit, [^,]* right, \d+ SV, [^,]* s$", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-m liblinear --gamma 2", "gamma means nothing to the linear kernel"),
        ("-m avsf --search sampled", "search means nothing to avsf"),
        ("-m pegasos --protocol paper", "protocol means nothing to pegasos"),
        ("-m fw --protocol paper --search full --retries 1", "retries means nothing to full search"),
        ("--candidates foo", "candidates must be one of uniform, outside, balanced, not 'foo'"),
        ("-m mfw --gradient kept", "gradient means nothing to full search"),
        ("-m mfw --search sampled --candidates balanced", "candidates means nothing to mfw"),
        ("--kernel rbf --param degree=5", "degree means nothing to the rbf kernel"),
        ("--kernel quadratic --param coef0=5", "coef0 means nothing to the quadratic kernel"),
        ("--gamma 1 --width-rule libcvm", "width-rule means nothing to a width that is given"),
        ("-m liblinear --cache-mb 64", "cache-mb means nothing to liblinear"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(rows, words, said):
    assert said in refused("train", *words.split(), "rows")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("train --width-rule libcmv", "libcvm"),
        ("train --search sampled --gradient cheap", "cheaper"),
        ("plot --out figures --figure sweeep", "sweep"),
        ("table --layout 003-33", "frandi-3"),
    ],
)
def test_the_nearest_of_a_few_words_is_named(rows, words, meant):
    command, *options = words.split()
    path = "rows" if command == "train" else PUBLISHED
    assert f"did you mean '{meant}'?" in " ".join(refused(command, *options, path).split())


def test_a_trace_that_cannot_be_written_takes_neither_the_result_nor_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lost, trace = tmp_path / "none" / "m", tmp_path / "none" / "t.csv"
    trained = runs.run_one

    def without_the_folder(*given):
        lost.parent.rmdir()
        return trained(*given)

    monkeypatch.setattr(runs, "run_one", without_the_folder)
    words = ["train", "-m", "swap", "--json", "--trace", str(trace), "synthetic:gaussians?rows=60&test=0"]
    for more in ([], ["--model", str(lost)]):
        lost.parent.mkdir()
        ended = done(*words, *more, code=4)
        assert json.loads(ended.stdout)["certified"]
        assert f"fwsvm: {trace} cannot be written: No such file or directory\n" in ended.stderr
    (kept,) = tmp_path.glob("*/m")
    said = f"fwsvm: {lost} cannot be written: No such file or directory; the model is in {kept} instead\n"
    assert said in ended.stderr
    assert model_files.read(kept).support.shape[0] > 0


def test_a_trace_of_more_than_two_classes_is_said_to_have_no_points(rows):
    words = ["train", "-m", "swap", "--trace", "t.csv", "rows"]
    for content, said in ((rows.read_text(), False), (rows.read_text() + "2 1:5 2:5\n2 1:4 2:5\n", True)):
        rows.write_text(content)
        found = done(*words)
        assert ("t.csv will have no points: a trace is of two classes, not of 3" in found.stderr) is said
        assert (len(rows.with_name("t.csv").read_text().splitlines()) == 1) is said
    assert "(two classes)" in " ".join(done("train", "--help").stdout.split())
