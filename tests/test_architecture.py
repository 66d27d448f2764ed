"""What holds for the package as a whole: help, imports, layers, one method a file, compiled code kept."""

import importlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.solvers import FAMILIES, METHODS

ROOT = Path(__file__).parents[1]
HEAVY = (
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "matplotlib",
    "yaml",
    "rich",
    "joblib",
    "requests",
    "pooch",
    "dask",
    "sklearn",
)


def commands(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and group below a group, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


COMMANDS = dict(commands(main))
MOST_IN_A_SUMMARY = 66  # characters beside the longest name, on a terminal of 80 columns


def python(code: str, folder: Path = ROOT) -> str:
    """Run code in a new interpreter that stands in ``folder`` and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words", [words for words, command in COMMANDS.items() if isinstance(command, click.Group)]
)
def test_no_summary_of_a_command_is_cut(words):
    group = COMMANDS[words]
    result = CliRunner().invoke(main, [*words, "--help"], terminal_width=80)
    text = " ".join(result.output.split())
    context = click.Context(group)
    for name in group.list_commands(context):
        assert f"{name} {group.get_command(context, name).get_short_help_str(1000)}" in text
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_explained(words):
    command = COMMANDS[words]
    summary = command.get_short_help_str(1000)
    assert summary.strip(), f"{' '.join(words)} has no help"
    assert len(summary) <= MOST_IN_A_SUMMARY, summary
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []
    for flag in ("--help", "-h"):
        result = CliRunner().invoke(main, [*words, flag])
        assert result.exit_code == 0
        assert "Usage: " in result.output


def test_the_commands_of_the_conventions_are_there():
    work = "train predict cv grid data scale check subset summary methods info warmup"
    results = "table stats plot claims report merge"
    assert set(f"{work} {results}".split()) <= {words[0] for words in COMMANDS}


@pytest.mark.slow
def test_help_imports_the_commands_and_next_to_nothing_else():
    code = (
        "import sys; from fwsvm.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    imported = python(code).splitlines()[-1].split()
    light = {
        "fwsvm",
        "fwsvm.errors",
        "fwsvm.exit_codes",
        "fwsvm.phases",
        "fwsvm.plugins",
        "fwsvm.settings",
        "fwsvm.status",
        "fwsvm.numerics",
        "fwsvm.numerics.threads",
    }
    ours = {name for name in imported if name.split(".")[0] == "fwsvm" and name.split(".")[1:2] != ["cli"]}
    assert ours == light
    assert not {*HEAVY, "importlib.metadata", "concurrent.futures"} & set(imported)


@pytest.mark.slow
def test_help_of_a_command_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from fwsvm.cli import main\n"
        f"for words in {[*map(list, COMMANDS)]!r}:\n"
        "    assert CliRunner().invoke(main, [*words, '--help']).exit_code == 0, words\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    assert python(code).split() == []


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy():
    names = (*HEAVY, "fwsvm.api")
    code = f"import sys, fwsvm; print(*[name for name in {names!r} if name in sys.modules])"
    assert python(code).split() == []


def test_a_method_is_one_file_of_its_own_name():
    files = Counter(method.rule.__module__ for method in METHODS.values())
    assert [file for file, count in files.items() if count > 1] == []
    for name, method in METHODS.items():
        if method.rule.__module__.startswith("fwsvm."):
            assert method.rule.__module__.rpartition(".")[2] == name.replace("-", "_")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_says_its_problem_its_paper_and_when_it_stops(name):
    method = METHODS[name]
    assert method.family in FAMILIES
    text = f"{importlib.import_module(method.rule.__module__).__doc__}\n{method.rule.__doc__}"
    assert re.search(r"\bProblem\b|\bminimi[sz]|\bmin\b", text, re.IGNORECASE), "which problem?"
    assert re.search(r"\bstop", text, re.IGNORECASE), "when does it stop?"
    assert re.search(r"\b00[0-4]\b|\bours\b|[12][0-9]{3}", f"{method.paper} {text}"), "whose paper?"
    assert method.tolerance.strip()
    assert method.summary.endswith(".")


#: Trains, and prints how many functions were read from the cache, and how many were compiled.
TRAIN = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from fwsvm.solvers import METHODS, Settings, fit
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
codes = (X[:, 0] < 0.3 * rng.normal(size=60)).astype(np.int32)
for method in ("swap-2o", "cvm"):
    result = fit(X, codes, ("1", "-1"), Settings(method=method, threads=1))
    assert result.certified
    result.model.predict(X)
compiled = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
ours = [each.stats for each in compiled if each.py_func.__module__.startswith("fwsvm.")]
hits = sum(sum(each.cache_hits.values()) for each in ours)
misses = sum(sum(each.cache_misses.values()) for each in ours)
print(hits, misses)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_unless_a_kernel_was_edited(tmp_path):
    python(TRAIN)
    hits, misses = map(int, python(TRAIN).split())
    assert hits > 0
    assert misses == 0
    shutil.copytree(ROOT / "fwsvm", tmp_path / "fwsvm", ignore=shutil.ignore_patterns("__pycache__"))
    kernel = tmp_path / "fwsvm" / "kernels" / "rbf.py"
    source = kernel.read_text("utf-8")
    assert "own_x + own_z" in source
    kernel.write_text(source.replace("own_x + own_z", "own_z + own_x", 1), "utf-8")  # the same values
    _, misses = map(int, python(TRAIN, folder=tmp_path).split())
    assert misses > 0
