"""The largest index of LIBSVM's format in a file of a few bytes: every command and method works on what occurs.

All in one process, whose address space ends at 1.5 GiB: one array of as many numbers as there are features is 8 GiB.
"""

import json
import os
import random
import shutil
import subprocess
import sys

import pytest

from tests.cli.running import done

ROWS = "1 2147483646:1\n-1 1:1\n1 7:1 2147483646:2\n-1 1:3\n1 2147483646:1.5\n-1 1:2 7:0.5\n"
KERNEL_METHODS = [
    "fw", "mfw", "swap", "swap-2o", "cvm", "newton", "chunking", "decomposition", "wolfe", "pegasos", "scs",
]  # fmt: skip

SCRIPT = """
import json, resource, sys
from click.testing import CliRunner
from fwsvm.cli import main

most = 3 << 29
resource.setrlimit(resource.RLIMIT_AS, (most, most))
told = []
for arguments in json.load(sys.stdin):
    result = CliRunner().invoke(main, arguments)
    error = result.exception
    trouble = "" if error is None or isinstance(error, SystemExit) else repr(error)
    told.append([result.exit_code, result.stdout, result.stderr, trouble])
json.dump(told, sys.stdout)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on addresses"),
]


@pytest.fixture
def within_limits(tmp_path):
    """Return a function that runs commands in one process of 1.5 GiB; (exit code, stdout, stderr) of each."""
    (tmp_path / "rows").write_text(ROWS)

    def run(*commands):
        said = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=json.dumps(commands), capture_output=True, text=True,
            cwd=tmp_path, check=False,
        )  # fmt: skip
        assert said.returncode == 0, said.stderr
        told = json.loads(said.stdout)
        assert [trouble for *_, trouble in told if trouble] == []
        return [(code, out, err) for code, out, err, _ in told]

    return run


def test_kernel_methods_train_and_predict(within_limits, tmp_path):
    trained = within_limits(
        *(["train", "--method", method, "--max-iterations", "200", "--json", "--model", f"{method}.model", "rows"]
          for method in KERNEL_METHODS)
    )  # fmt: skip
    for code, out, err in trained:
        assert code == 0, err
        assert json.loads(out)["features"] == 2147483646
        assert json.loads(out)["train_accuracy"] == 1.0
    predicted = within_limits(
        *(["predict", f"{method}.model", "rows", f"{method}.labels"] for method in KERNEL_METHODS)
    )
    assert all(code == 0 for code, _, _ in predicted)
    for method in KERNEL_METHODS:
        assert (tmp_path / f"{method}.labels").read_text().split() == ["1", "-1"] * 3
        assert "2147483646:" in (tmp_path / f"{method}.model").read_text()


def test_linear_methods_refuse_a_weight_for_each_feature(within_limits):
    for code, _, err in within_limits(
        *(["train", "--method", method, "rows"] for method in ("liblinear", "avsf")),
        ["cv", "--folds", "2", "--method", "avsf", "rows"],
    ):
        assert code == 2
        sentence = next(line for line in err.splitlines() if line.startswith("fwsvm: "))
        assert "rows of 2,147,483,646 features and 2 classes would take 16,38" in sentence
        assert "of memory; " in sentence
        assert "use a kernel method, such as swap-2o with --kernel linear" in sentence


def test_what_reads_files_and_kernels_that_sum_over_features_work(within_limits):
    told = within_limits(
        ["summary", "--json", "rows"],
        ["check", "rows"],
        ["subset", "rows", "4"],
        ["scale", "rows"],
        ["scale", "-s", "ranges", "-l", "0", "rows"],
        ["scale", "-r", "ranges", "rows"],
        ["cv", "--folds", "2", "rows"],
        ["train", "--kernel", "laplacian", "rows"],
        ["train", "--kernel", "quadratic", "rows"],
    )
    assert [(code, err) for code, _, err in told if code] == []
    facts = json.loads(told[0][1])
    assert (facts["features"], facts["features_in_use"]) == (2147483646, 3)
    assert told[4][1] == told[5][1]


def test_a_linear_machine_that_no_disk_holds_is_refused_before_it_is_trained(tmp_path, monkeypatch):
    (tmp_path / "rows").write_text("1 1:1\n-1 3000000:1\n" * 3)
    left = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: left)
    machine, file = tmp_path / "model", tmp_path / "rows"
    result = done("train", "--method", "liblinear", "--model", machine, file, code=2)
    assert "the file of a linear model of 3,000,000 features and 2 classes would take 9 MiB" in result.stderr


AT_LIMITS = """
import json, resource, sys
from pathlib import Path
from click.testing import CliRunner
from fwsvm.cli import main

commands = json.load(sys.stdin)
for arguments in commands:  # what they compile is not counted
    CliRunner().invoke(main, arguments)
for mib in range(200, 1101, 225):
    for arguments in commands:
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + (mib << 20), resource.RLIM_INFINITY))
        result = CliRunner().invoke(main, arguments)
        print(json.dumps([arguments[0], mib, result.exit_code, result.stderr]))
"""


def test_few_rows_of_many_features_are_refused_or_served_whatever_memory_there_is(tmp_path):
    """The tables of twenty such rows, in both precisions, take far more than the rows; memory never just runs out."""
    drawn = random.Random(0)
    with (tmp_path / "rows").open("w") as stream:
        for t in range(20):
            features = sorted(drawn.sample(range(1, 2**31 - 1), 40_000))
            stream.write(f"{t % 2} " + " ".join(f"{f}:1" for f in features) + "\n")
    commands = (
        ["train", "--method", "chunking", "--max-iterations", "20", "--threads", "1", "--cache-mb", "64",
         "--model", "model", "rows"],
        ["predict", "model", "rows", "labels"],
    )  # fmt: skip
    said = subprocess.run(
        [sys.executable, "-c", AT_LIMITS], input=json.dumps(commands), capture_output=True, text=True, cwd=tmp_path,
        check=False, env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    told = [json.loads(line) for line in said.stdout.splitlines()]
    assert not [each for each in told if each[2] and "would take" not in each[3]]
    assert {code for *_, code, _ in told} == {0, 2}
