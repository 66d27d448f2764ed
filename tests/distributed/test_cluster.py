"""Training on a real cluster of two worker processes, from the command line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from fwsvm.data import partitions
from fwsvm.distributed import cluster as connection
from fwsvm.distributed.table import ClusterSource
from fwsvm.errors import UsageError
from tests import svmlight_files
from tests.cli.running import done, run
from tests.clusters import started

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of dask's own


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with started(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    codes = (rng.random(5000) < 0.4).astype(int)
    X = rng.normal(size=(5000, 4)) + 1.2 * (1 - 2 * codes[:, None])
    path = tmp_path_factory.mktemp("data") / "rows.svm"
    svmlight_files.write(path, sparse.csr_array(X), 1.0 - 2.0 * codes)
    return path


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Cut the file into several partitions."""
    monkeypatch.setattr(partitions, "LEAST", 1 << 16)


def row(*words):
    return json.loads(done("train", "--json", "-C", "10", *words).stdout)


def test_a_cluster_comes_to_one_machines_machine_though_a_worker_is_killed(
    cluster, data, tmp_path, monkeypatch
):
    near = row("-m", "chunking", "--scale", "[0,1]", data)
    far = row(
        "--scheduler", cluster.address, "--scale", "[0,1]", "--test", data, "--model", tmp_path / "m", data
    )
    assert far["certified"]
    assert (far["method"], far["chosen"]) == ("chunking", "distributed")
    assert abs(far["objective"] - near["objective"]) <= max(far["gap"], near["gap"])
    assert far["train_accuracy"] == far["test_accuracy"] == pytest.approx(near["train_accuracy"], abs=2e-3)
    assert far["gamma"] == pytest.approx(near["gamma"], rel=1e-9)
    assert far["run_id"] != near["run_id"]
    done = run("predict", tmp_path / "m", data, tmp_path / "labels")
    assert f"{far['train_accuracy']:.4%}" in done.output

    looked = ClusterSource.sums
    victims = [cluster.workers[0]]

    def killing(self, *given):
        while victims:
            victims.pop().kill()
        return looked(self, *given)

    monkeypatch.setattr(ClusterSource, "sums", killing)
    alone = row("--scheduler", cluster.address, "--scale", "[0,1]", data)
    assert not victims
    for name in (
        "objective",
        "gap",
        "primal",
        "dual",
        "support_vectors",
        "iterations",
        "train_accuracy",
        "run_id",
    ):
        assert alone[name] == far[name] or name == "run_id", name


def test_predictions_of_a_cluster_are_those_of_one_machine(cluster, data, tmp_path):
    model = tmp_path / "m"
    assert run("train", "-C", "1", "--probability", "--scale", "[0,1]", "--model", model, data).exit_code == 0
    far = ["--scheduler", cluster.address]
    for words in ([], ["--decision"], ["--probability"]):
        near_file = tmp_path / "near"
        far_file = tmp_path / "far"
        near = run("predict", *words, model, data, near_file)
        there = run("predict", *words, *far, model, data, far_file)
        assert near.exit_code == there.exit_code == 0, there.output
        assert near.stderr == there.stderr
        assert near_file.read_bytes() == far_file.read_bytes()


def test_a_folder_is_trained_on_and_predicted_like_the_file_it_was_cut_from(cluster, data, tmp_path):
    folder = tmp_path / "rows"
    lines = data.read_bytes().splitlines(keepends=True)
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.svm").write_bytes(b"".join(lines[number * 2000 : (number + 1) * 2000]))
    whole = row("--scheduler", cluster.address, data)
    parts = row("--scheduler", cluster.address, "--model", tmp_path / "m", folder)
    assert parts["certified"]
    assert parts["rows"] == whole["rows"]
    assert parts["objective"] == pytest.approx(whole["objective"], rel=1e-9)
    done = run("predict", "--scheduler", cluster.address, tmp_path / "m", folder)
    assert len(done.stdout.split()) == 5000
    assert f"Accuracy = {parts['train_accuracy']:.4%} (" in done.stderr


def test_cross_validation_on_a_cluster_is_that_of_one_machine(cluster, data):
    words = ["-m", "chunking", "-C", "1", "--folds", "3", "--json"]
    near, far = (
        json.loads(run("cv", *words, *more, data).stdout) for more in ([], ["--scheduler", cluster.address])
    )
    assert far["accuracy"] == pytest.approx(near["accuracy"], abs=0.01)
    assert [fold["fold"] for fold in far["rows"]] == [0, 1, 2]
    assert all(fold["certified"] and fold["chosen"] == "distributed" for fold in far["rows"])
    assert len({fold["run_id"] for fold in far["rows"] + near["rows"]}) == 6
    assert sum(fold["rows"] for fold in far["rows"]) == 2 * 5000
    widths = [[fold["gamma"] for fold in found["rows"]] for found in (far, near)]
    assert widths[0] == pytest.approx(widths[1], rel=1e-9)


def test_a_worker_of_another_version_is_refused(cluster, data, monkeypatch):
    monkeypatch.setattr(connection, "identity", lambda: "another")
    done = run("train", "--scheduler", cluster.address, data)
    assert done.exit_code == 2
    assert "it has another version of fwsvm than this machine; install the same on all" in done.output


def test_a_file_that_is_cut_off_under_way_is_a_sentence(cluster, data, tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_bytes(data.read_bytes())
    cut = partitions.cut

    def cutting(place, **options):
        found = cut(place, **options)
        path.write_bytes(data.read_bytes()[:-100])
        return found

    monkeypatch.setattr("fwsvm.experiments.cluster_training.cut", cutting)
    done = run("train", "--scheduler", cluster.address, path)
    assert done.exit_code == 3
    assert "when training began: it was cut off or changed since; train again" in done.output
    assert "worker tcp://" in done.output


def die(_number):
    os._exit(1)


def fail(_number):
    raise ZeroDivisionError("of a worker")


def test_a_cluster_that_fails_says_how(tmp_path, monkeypatch):
    """One worker, which fails, then dies with a task; then there is none; then there is no scheduler."""
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.2)
    with started(tmp_path, 1, **allowed) as small:
        there = connection.Cluster(small.address)
        with pytest.raises(
            UsageError,
            match="a worker failed: ZeroDivisionError: of a worker; check that each worker has this",
        ):
            there.gather(there.each(fail, [1]))
        with pytest.raises(
            UsageError, match="workers died, one after another, with the same part of the rows"
        ):
            there.gather(there.each(die, [1]))
        # only from here on: a busy machine tells of a death later than that
        monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.2)
        with pytest.raises(UsageError, match=r"has had no worker for 0\.2 s; start some with `dask worker`"):
            there.gather(there.each(die, [1]))
        assert (
            "the cluster has no workers"
            in run("train", "--scheduler", small.address, small_file(tmp_path)).output
        )
        small.scheduler.kill()
        small.scheduler.wait()
        monkeypatch.setattr(connection, "PATIENCE_SECONDS", 1e9)
        with pytest.raises(UsageError, match="the connection to the cluster's scheduler was lost"):
            there.gather(there.each(die, [1]))
        there.close()


def small_file(folder):
    path = folder / "small.svm"
    path.write_text("1 1:1\n-1 1:2\n")
    return path


def test_options_of_one_machine_and_addresses_of_none_are_refused(data):
    for words, said in (
        (["--probability", "--model", data.parent / "m"], "--probability is for training on one machine"),
        (["-m", "swap"], "--scheduler trains by chunking, not by swap"),
        ([], "no scheduler answers there"),
    ):
        done = run("train", *words, "--scheduler", "tcp://127.0.0.1:1", data)
        assert done.exit_code == 2
        assert said in done.output
    done = run("cv", "--scale", "[0,1]", "--scheduler", "tcp://127.0.0.1:1", data)
    assert "--scale is for training on one machine" in done.output


def test_an_address_that_is_none_is_one_line_though_dask_would_complain_at_the_end(data):
    words = [sys.executable, "-m", "fwsvm", "train", "--scheduler", "nonsense", str(data)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "fwsvm: --scheduler nonsense: no scheduler answers there: missing port number"
    )
    assert done.stderr.count("\n") == 1
