"""The largest index of LIBSVM's format in a file of a few bytes: every command and method works on what occurs.

All in one process, whose address space ends at 1.5 GiB: one array of as many numbers as there are features is 8 GiB.
"""

import json
import subprocess
import sys

import pytest
import yaml

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
        ["summary", "rows"],
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
    facts = yaml.safe_load(told[0][1])
    assert (facts["features"], facts["features_in_use"]) == (2147483646, 3)
    assert told[4][1] == told[5][1]
