"""Scaling is part of a machine: rows by name and rows of a raw file are predicted alike, each scaled once."""

import warnings
from pathlib import Path

import pytest

import fwsvm
from fwsvm import data
from fwsvm.errors import UsageError
from fwsvm.scaling import TARGETS
from tests import svmlight_files
from tests.cli.running import done

FAST = {"method": "avsf", "tolerance": 1e-2, "threads": 1, "max_iterations": 500_000}


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the rows of wdbc as they are in their file, into the working directory."""
    monkeypatch.chdir(tmp_path)
    table = data.load("wdbc", raw=True).train
    svmlight_files.write(tmp_path / "raw", table.X, table.labels)
    return tmp_path / "raw"


@pytest.mark.parametrize("method", ["swap-2o", "avsf", "pegasos"])
def test_the_command_line_does_so_too_and_writes_the_same_machine(raw, tmp_path, method):
    how = ("-m", method, "--max-iterations", 500, "--seed", 3)
    done("train", *how, "--model", "by-name", "wdbc")
    done("train", *how, "--model", "by-file", "--scale", "[0,1]", raw)
    labels = {
        done("predict", model, rows).stdout for model in ("by-name", "by-file") for rows in ("wdbc", raw)
    }
    assert len(labels) == 1
    assert Path("by-name.range").read_text() == Path("by-file.range").read_text()
    rows = [path.read_text().partition("#fwsvm")[0] for path in map(Path, ("by-name", "by-file"))]
    assert rows[0] == rows[1]


def test_a_machine_that_scales_nothing_takes_rows_as_they_are_and_says_so_of_a_name(raw):
    done("train", "-m", "pegasos", "--max-iterations", 200, "--scale", "none", "--model", "by-name", "wdbc")
    done("train", "-m", "pegasos", "--max-iterations", 200, "--model", "by-file", raw)
    said = [done("predict", model, rows) for model in ("by-name", "by-file") for rows in ("wdbc", raw)]
    assert len({each.stdout for each in said}) == 1
    assert ["rows of the data set, not scaled" in each.stderr for each in said] == [True, False, True, False]
    assert not Path("by-name.range").exists()


def test_svm_scale_and_svm_predict_say_the_same(raw):
    svm = pytest.importorskip("libsvm.svmutil")
    done("train", "--model", "m", "wdbc")
    ours = done("predict", "m", raw).stdout.split()
    done("scale", "-r", "m.range", "-o", "scaled", raw)
    y, x = svm.svm_read_problem("scaled")
    said, _, _ = svm.svm_predict(y, x, svm.svm_load_model("m"), "-q")
    assert [f"{label:g}" for label in said] == ours


def test_rows_far_outside_are_warned_of_with_their_number(raw):
    done("train", "--model", "m", "wdbc")
    lines = raw.read_text().splitlines()
    wrong = [
        f"{line.split(' 1:')[0]} 1:-500 {line.partition(' 2:')[1][1:]}{line.partition(' 2:')[2]}"
        for line in lines[:3]
    ]
    Path("wrong").write_text("\n".join([*wrong, *lines[3:10], ""]))
    found = done("predict", "m", "wrong")
    assert "3 of 10 rows lie far outside the training ranges: feature 1 is -500 in one" in found.stderr
    assert "far outside" not in done("predict", "m", raw).stderr


@pytest.mark.parametrize("scale", TARGETS)
def test_python_scales_once_whatever_the_rows_come_as(raw, tmp_path, scale):
    settings = {"method": "pegasos", "max_iterations": 300, "threads": 1}
    loaded = data.load(raw, raw=True)
    scaled = data.load(raw, scale=scale)
    X = loaded.train.X
    y = loaded.train.labels
    machines = [
        fwsvm.train(raw, scale=scale, **settings), fwsvm.train(loaded, scale=scale, **settings),
        fwsvm.train(scaled, **settings), fwsvm.train(X, y, scale=scale, **settings),
        fwsvm.train(X.toarray(), y, scale=scale, **settings),
    ]  # fmt: skip
    fwsvm.save(tmp_path / "m", machines[0])
    machines.append(fwsvm.load(tmp_path / "m"))
    rows = [raw, str(raw), loaded, scaled, scaled.train, X, X.toarray()]
    labels = {tuple(fwsvm.predict(machine, each)) for machine in machines for each in rows}
    assert len(labels) == 1
    plain = fwsvm.train(scaled.train.X, y, **settings)
    assert tuple(fwsvm.predict(plain, scaled.train.X)) in labels


def test_rows_scaled_by_other_ranges_are_refused_and_given_rows_are_scaled_as_asked():
    other = data.load("wdbc", scale="[-1,1]")
    machine = fwsvm.train("wdbc", **FAST)
    with pytest.raises(UsageError, match=r"the rows were scaled to \[-1,1\] before"):
        fwsvm.predict(machine, other)
    with pytest.raises(UsageError, match="when it was loaded"):
        fwsvm.train(other, scale="[0,1]", **FAST)
    with pytest.raises(UsageError, match="scale must be one of"):
        fwsvm.train("wdbc", scale="[0,2]", **FAST)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fwsvm.predict(machine, data.load("wdbc").train.X)
    assert any("seem to be scaled to [0,1] already" in str(each.message) for each in said)
