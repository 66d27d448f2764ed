"""``fwsvm methods``, ``info`` and ``warmup``: what they say of the package and of the machine."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from fwsvm import __version__, exit_codes
from fwsvm.solvers import METHODS
from tests.cli.running import done


def test_every_method_is_listed_with_its_paper_under_its_family():
    told = done("methods").stdout
    found = yaml.safe_load(told)
    for name, method in METHODS.items():
        assert found[method.family][name] == f"{' '.join(method.summary.split())} [{method.paper}]"
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_tells_its_parameters_with_their_defaults(name):
    text = done("methods", name).stdout
    assert "<class" not in text
    method, facts = METHODS[name], yaml.safe_load(text)
    assert facts["tolerance"] == method.tolerance
    assert facts["stops"] == list(method.stops)
    assert all(about["kind"] for about in facts.get("parameters", {}).values())
    given = {key: about["default"] for key, about in facts.get("parameters", {}).items()}
    assert method.make(given) == method.rule()


def test_a_name_misspelt_is_answered_with_the_nearest():
    result = done("methods", "swp", code=2)
    assert result.stderr == "fwsvm: there is no method 'swp'; did you mean 'swap'?\n"


def test_info_is_about_this_process_and_says_what_is_not_installed(tmp_path, monkeypatch):
    real = importlib.metadata.version

    def without(name: str) -> str:
        if name == "matplotlib":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", without)
    code = str(tmp_path / "machine code")
    facts = yaml.safe_load(done("info", FWSVM_CACHE=str(tmp_path), NUMBA_CACHE_DIR=code).stdout)
    assert (facts["fwsvm"], facts["packages"]["numpy"]) == (__version__, np.__version__)
    assert facts["folders"]["data"] == str(tmp_path / "data")
    assert facts["folders"]["compiled_code"] == code
    assert facts["environment"]["FWSVM_CACHE"] == str(tmp_path)
    assert facts["packages"]["matplotlib"] == "not installed"


TRAIN = """
import gc, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from fwsvm.data.formats import svmlight
from fwsvm.solvers import Settings, fit
table = svmlight.read(sys.argv[1])
codes = (table.labels < 0).astype(int)
method, search, C = sys.argv[2:]
result = fit(table.X, codes, ("1", "-1"), Settings(method=method, search=search, C=float(C)))
result.model.predict(table.X)
print(result.chosen)
ours = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
ours = [each.stats for each in ours if each.py_func.__module__.startswith("fwsvm.")]
print(sum(sum(each.cache_hits.values()) for each in ours), sum(sum(each.cache_misses.values()) for each in ours))
"""


@pytest.fixture(scope="module")
def warmed_up():
    """Compile what fw needs, and return what was said."""
    return done("warmup", "--method", "fw")


def test_a_warm_up_says_what_it_compiles_and_where_that_is(warmed_up):
    assert "[1/3] fw: " in warmed_up.stderr
    assert "[3/3] fw tolerance=1e-15: " in warmed_up.stderr
    where = Path(warmed_up.stdout.strip().rpartition("compiled code is in ")[2])
    assert any(where.rglob("*.nbc"))


@pytest.mark.usefixtures("warmed_up")
@pytest.mark.parametrize("search", ["full", "sampled"])
def test_after_a_warm_up_another_process_compiles_nothing(tmp_path, search):
    rng = np.random.default_rng(0)
    rows = [f"{1 if x > 0 else -1} 1:{x:.3f} 3:{z:.3f}" for x, z in rng.normal(size=(30, 2))]
    (tmp_path / "rows").write_text("\n".join(rows) + "\n")
    ended = subprocess.run(
        [sys.executable, "-c", TRAIN, str(tmp_path / "rows"), "fw", search, "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    _, counts = ended.stdout.splitlines()
    hits, misses = map(int, counts.split())
    assert hits > 0
    assert misses == 0


def test_a_method_that_there_is_not_is_refused_before_anything_is_compiled():
    assert "did you mean 'swap'" in done("warmup", "--method", "swp", code=2).stderr


def test_an_interrupt_that_training_takes_for_its_end_ends_a_warm_up(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fwsvm.solvers.stochastic.wolfe.kernel_matrix", interrupted)
    assert "[1/" not in done("warmup", "--method", "wolfe", code=exit_codes.INTERRUPTED).stderr
