"""Machine code that ``fwsvm warmup --to`` made: found elsewhere by a package at another path, and only read."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

from fwsvm.cli import _carrying, main
from fwsvm.files.folders import FACTS
from fwsvm.numerics import processor
from fwsvm.numerics.source_digest import PACKAGE

LEVEL = "x86-64-v2"  # of any x86-64 processor that this is tested on, and less than any of them has
pytestmark = pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="levels are x86-64's")

#: Runs a command line and says on the last line of stderr what numba compiles for, and how many functions it compiled.
COUNTED = """
import sys
from numba.core import event
from fwsvm.cli import main

class Count(event.Listener):
    count = 0
    def on_start(self, event):
        self.count += 1
    def on_end(self, event):
        pass

count = Count()
with event.install_listener("numba:compile", count):
    try:
        main(sys.argv[1:])
    finally:
        from fwsvm.numerics.processor import target
        print(target().processor, count.count, file=sys.stderr)
"""


def run(*words: str, code: int = 0, **environment: str):
    result = CliRunner().invoke(main, words, env=environment)
    assert result.exit_code == code, result.output
    return result


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of everything below a folder."""
    found = {str(path.relative_to(folder)): path.stat() for path in folder.rglob("*")}
    return {name: (about.st_size, about.st_mtime_ns) for name, about in found.items()}


class Elsewhere(NamedTuple):
    """Another machine: the carried folder, a home without a cache, the package at another path, and some rows."""

    carried: Path
    home: Path
    package: Path
    rows: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command line there."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "FWSVM_"))}
        there = {"HOME": str(self.home), "PYTHONPATH": str(self.package), "FWSVM_CACHE": str(self.carried)}
        return subprocess.run(
            [sys.executable, "-c", COUNTED, *words],
            env=clean | there | {"PYTHONUTF8": "1"},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=True,
        )

    def train(self) -> tuple[dict, list[str], str, int]:
        """Return the row of a run, what was said beside it, what was compiled for, and how many functions."""
        done = self.run("train", "--method", "liblinear", "--json", str(self.rows))
        *said, last = done.stderr.splitlines()
        return json.loads(done.stdout), said, last.split()[0], int(last.split()[1])

    def compiled(self) -> set[str]:
        """Return the functions whose code is kept in this user's own cache."""
        return {path.name.partition(".cpython")[0] for path in self.home.rglob("*.nbc")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that was warmed up for liblinear and `LEVEL`."""
    folder = tmp_path_factory.mktemp("made") / "folder"
    result = run("warmup", "--method", "liblinear", "--to", str(folder), "--processor", LEVEL)
    assert f"code for {LEVEL} is in {folder / 'numba'}" in result.stdout
    assert "[2/2] liblinear, linear: " in result.stderr
    assert [path.name for path in folder.iterdir()] == ["numba"]
    assert any(folder.rglob("fwsvm.data.formats.delimited_parser.parse_fields.*.nbc")), "tables are read, too"
    return folder


@pytest.fixture
def elsewhere(made: Path, tmp_path: Path) -> Elsewhere:
    there = Elsewhere(*(tmp_path / name for name in ("carried", "home", "package", "rows.svm")))
    shutil.copytree(made, there.carried)
    there.home.mkdir()
    shutil.copytree(PACKAGE, there.package / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    normal = np.random.default_rng(0).normal(size=(60, 2))
    lines = [f"{1 if x > 0 else -1} 1:{x:.3f} 3:{z:.3f}" for x, z in normal]
    there.rows.write_text("\n".join(lines) + "\n")
    return there


@pytest.mark.slow
def test_a_first_run_elsewhere_compiles_nothing_and_writes_nothing_to_the_code(elsewhere):
    before = listing(elsewhere.carried / "numba")
    row, said, made_for, compiled = elsewhere.train()
    assert (made_for, compiled) == (LEVEL, 0)
    assert not any("compil" in line and "seconds" not in line for line in said)
    assert row["certified"]
    assert listing(elsewhere.carried / "numba") == before
    assert elsewhere.compiled() == set()
    known = elsewhere.home / ".cache/fwsvm/numba/sources"
    assert not known.exists(), "digests of the sources are carried, too"


@pytest.mark.slow
def test_what_is_missing_or_damaged_is_compiled_into_the_users_own_cache_with_a_sentence_for_each(elsewhere):
    (code,) = (path.parent for path in elsewhere.carried.rglob("fwsvm.kernels.rows._store.*.nbc"))
    for path in code.glob("fwsvm.problems.multiple.best_multiple.*"):
        path.unlink()
    (cut,) = code.glob("fwsvm.kernels.rows._store.*.nbc")
    (index,) = code.glob("fwsvm.problems.box_qp.weights_of.*.nbi")
    cut.write_bytes(cut.read_bytes()[:-10])
    index.write_bytes(b"\x80\x04cno.such.module\nname\n.")
    before = listing(elsewhere.carried / "numba")
    row, said, made_for, compiled = elsewhere.train()
    assert made_for == LEVEL
    assert compiled > 0
    assert row["certified"]
    sentences = [line for line in said if line.startswith("fwsvm: compiled code: ")]
    assert [
        any(str(path) in line and "is damaged" in line for line in sentences) for path in (cut, index)
    ] == [True] * 2
    assert len(sentences) == 2
    assert listing(elsewhere.carried / "numba") == before
    asked = {
        "fwsvm.kernels.rows._store",
        "fwsvm.problems.box_qp.weights_of",
        "fwsvm.problems.multiple.best_multiple",
    }
    assert asked <= elsewhere.compiled()
    *_, again = elsewhere.train()
    assert again == 0


@pytest.mark.slow
def test_code_for_another_version_is_said_once_and_not_used(elsewhere):
    file = elsewhere.carried / "numba" / FACTS
    file.write_text(file.read_text().replace('"numba": "', '"numba": "0.'))
    done = elsewhere.run("info", "--json")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("fwsvm: ")]
    assert "it was made by numba '0.0." in line
    facts = json.loads(done.stdout)
    assert facts["code_made_for"] == processor.native_target().processor
    assert facts["code_kept_in"] == str(elsewhere.home / ".cache/fwsvm/numba")


# ------------------------------------------------------------------ what --to refuses, and how it writes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the process that compiles only write a file named after the method it is asked for."""

    def compiled(root: Path, _facts: object, words: list[str]) -> None:
        (root / "numba" / "code").mkdir(parents=True, exist_ok=True)
        for word in words:
            (root / "numba" / "code" / word.partition("=")[2]).write_text("code")
        if "--method=fw" in words:
            raise KeyboardInterrupt

    monkeypatch.setattr(_carrying, "_compile", compiled)
    return tmp_path / "to"


def warm(folder: Path, *words: str, method: str = "liblinear", code: int = 0):
    return run("warmup", "--method", method, "--to", str(folder), *words, code=code)


def test_a_second_call_adds_to_the_folder_and_one_that_is_interrupted_leaves_it_as_it_was(folder):
    warm(folder)
    warm(folder, method="avsf")
    assert {path.name for path in (folder / "numba" / "code").iterdir()} == {"liblinear", "avsf"}
    before = listing(folder / "numba")
    warm(folder, method="fw", code=130)
    assert listing(folder / "numba") == before
    assert [path.name for path in folder.iterdir()] == ["numba"]


def test_code_for_another_processor_or_another_content_is_not_mixed_in(folder):
    warm(folder)
    said = warm(folder, "--processor", LEVEL, code=2).stderr
    assert said.startswith(
        f"fwsvm: {folder / 'numba'} has code for {processor.native_target().processor} by fwsvm "
    )
    (folder / "numba" / FACTS).unlink()
    said = warm(folder, code=2).stderr
    assert said.startswith(f"fwsvm: {folder / 'numba'} has what `fwsvm warmup --to` did not make")


def test_the_cache_in_use_is_no_folder_to_carry(folder):
    result = run("warmup", "--to", str(folder), code=2, FWSVM_CACHE=str(folder))
    assert result.stderr.startswith(f"fwsvm: {folder / 'numba'} is the cache in use, ")


def test_a_level_that_this_processor_lacks_is_refused_before_anything_is_compiled(folder, monkeypatch):
    monkeypatch.setattr(processor.binding, "get_host_cpu_features", lambda: {"sse3": True})
    said = warm(folder, "--processor", LEVEL, code=2).stderr
    assert said.startswith(f"fwsvm: code for {LEVEL} cannot be made here, because the processor here (")
    assert said.endswith(") lacks cx16, popcnt, sahf, sse4.1, sse4.2, ssse3\n")
    assert not folder.exists()


def test_a_processor_without_a_folder_is_refused():
    said = run("warmup", "--processor", LEVEL, code=2).stderr
    assert (
        said == "fwsvm: --processor goes with --to: this machine's own code is made for its own processor\n"
    )


def test_the_command_offers_each_level_there_is():
    from fwsvm.cli.warmup import PROCESSORS

    assert [processor.NATIVE, *processor.LEVELS] == PROCESSORS


@pytest.mark.slow
def test_a_process_that_fails_to_compile_ends_the_command_with_its_words(tmp_path):
    """It is told of a kernel that there is not, which the command itself would have refused."""
    facts = _carrying._facts(processor.NATIVE)
    with pytest.raises(_carrying.WarmupError, match="ended with 2"):
        _carrying._compile(tmp_path, facts, ["--kernel=gauss"])
