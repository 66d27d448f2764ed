"""The wheel and the source archive: what is in them, and that the wheel alone runs in an empty folder."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from fwsvm import __version__

ROOT = Path(__file__).parents[1]
pytest.importorskip("hatchling", reason="needs hatchling, which builds the package")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel and the source archive, built from this checkout without a network."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


def wheel_of(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the wheel installs, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel_of(built)) as archive:
        archive.extractall(folder)  # noqa: S202 - built here
    return folder


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a Python that finds fwsvm in the wheel before any other."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def metadata(built: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel_of(built)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_runs_alone_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = run(installed, tmp_path, "-c", "import fwsvm; print(fwsvm.__file__, fwsvm.__version__)").stdout
    assert where.split() == [str(installed / "fwsvm" / "__init__.py"), __version__]
    for words in (
        ("grid", "--list"),
        ("grid", "quickstart", "--profile", "smoke", "--only", "method=swap-2o"),
        ("table", "results/quickstart"),
        ("train", "wdbc", "--method", "swap-2o", "--model", "wdbc.model"),
        ("predict", "wdbc.model", "wdbc", "labels"),
        ("data", "list"),
    ):
        done = run(installed, tmp_path, "-m", "fwsvm", *words)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout or words[0] == "predict"


@pytest.mark.skipif(
    "FWSVM_INSTALL" not in os.environ, reason="needs a package registry and minutes: make versions"
)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_installs_into_a_new_environment_of_each_python(
    built: Path, tmp_path: Path, version: str
) -> None:
    found = shutil.which(f"python{version}")
    asked = found and subprocess.run(
        [found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=False
    )
    if not asked or asked.returncode:
        pytest.skip(f"there is no python{version}")
    python = asked.stdout.strip()  # what was found may be a script that needs the environment of a user
    bare = {"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"}
    bare |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    empty = tmp_path / "empty"
    empty.mkdir()

    def call(*words: str) -> str:
        done = subprocess.run(words, cwd=empty, env=bare, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    call(python, "-m", "venv", str(tmp_path / "env"))
    own = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    call(str(own / "python"), "-m", "pip", "install", "--quiet", str(wheel_of(built)))
    assert re.search(rf"^python +{version}\.", call(str(own / "fwsvm"), "info"), re.MULTILINE)
    assert "(certified: recomputed from scratch)" in call(
        str(own / "fwsvm"), "train", "wdbc", "--model", "model"
    )
    call(str(own / "fwsvm"), "predict", "model", "wdbc", "labels")
    call(str(own / "fwsvm"), "grid", "quickstart", "--profile", "smoke", "--only", "method=swap-2o")


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="needs a checkout, which says what is ours",
)
def test_the_wheel_has_the_package_its_lock_and_experiments_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(wheel_of(built)) as archive:
        names = archive.namelist()
    # what is new and not committed yet is ours too
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "fwsvm", "configs"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    ours = {name for name in told if (ROOT / name).is_file()}
    package = {name for name in ours if name.startswith("fwsvm/")}
    experiments = {f"fwsvm/experiments/{name}" for name in ours - package}
    about = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    said = {f"fwsvm-{__version__}.dist-info/{name}" for name in about}
    assert sorted(names) == sorted(package | experiments | said | {"fwsvm/data/datasets.lock"})
    assert {"fwsvm/py.typed", "fwsvm/experiments/configs/quickstart.yaml"} <= set(names)


def test_the_source_archive_makes_the_same_wheel_and_has_no_results(built: Path, tmp_path: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not before Python 3.11.4
        archive.extractall(tmp_path, **safely)  # noqa: S202 - built here
    (unpacked,) = tmp_path.iterdir()
    assert not (unpacked / "results" / "reference").exists()
    assert (unpacked / "tests" / "conftest.py").exists()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")],
        cwd=unpacked, check=True, capture_output=True,
    )  # fmt: skip
    with zipfile.ZipFile(wheel_of(built)) as first, zipfile.ZipFile(wheel_of(tmp_path / "again")) as second:
        members = [{info.filename: info.CRC for info in one.infolist()} for one in (first, second)]
    assert members[0] == members[1]


def test_the_metadata_names_versions_and_addresses(built: Path) -> None:
    said = metadata(built)
    classifiers = said.get_all("Classifier", [])
    versions = {c.rpartition(" ")[2] for c in classifiers if re.search(r":: 3\.\d+$", c)}
    assert versions == {"3.11", "3.12", "3.13", "3.14"}
    assert said["Requires-Python"] == ">=3.11.2"
    addresses = [entry.rpartition(", ")[2] for entry in said.get_all("Project-URL", [])]
    cited = set(re.findall(r"arXiv:([\d.]+)", (ROOT / "CITATION.cff").read_text("utf-8")))
    assert {address.rpartition("/")[2] for address in addresses} == cited
    assert set(said.get_all("Provides-Extra", [])) >= {"plots", "distributed", "sklearn"}


def test_what_a_registry_shows_of_the_readme_needs_no_file_beside_it(built: Path) -> None:
    shown = str(metadata(built).get_payload())
    assert "![" not in shown
    assert re.findall(r"\]\((?!https?:|#)", shown) == []
    assert "## Install" in shown


BLOCKED = "import sys; sys.modules[{0!r}] = None; from fwsvm.cli import main; main({1!r}, prog_name='fwsvm')"


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("matplotlib", ["plot", str(ROOT / "results" / "reference" / "adult"), "--out", "figures"], "plots"),
        (
            "distributed",
            ["grid", "quickstart", "--profile", "smoke", "--scheduler", "tcp://localhost:1"],
            "distributed",
        ),
    ],
)
def test_an_extra_that_is_not_there_is_a_sentence(
    installed: Path, tmp_path: Path, module: str, words: list[str], extra: str
) -> None:
    done = run(installed, tmp_path, "-c", BLOCKED.format(module, words))
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("fwsvm: ")
    assert f"pip install 'fwsvm[{extra}]'" in last
