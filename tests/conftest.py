"""What all tests share: an environment of their own, machine code compiled once, and results that many tests read.

Tests read no cache, configuration or ``FWSVM_*`` of the user: their home and cache lie in ``.cache/tests``. What is
compiled is kept there, for all processes and later runs. Nothing may write into what the session's fixtures return.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
OWN = ROOT / ".cache" / "tests"
KEPT = {
    "FWSVM_MIRROR",
    "FWSVM_INSTALL",
    "FWSVM_MUTANT",
    "FWSVM_WRITE_GOLDEN",
}  # of the variables of fwsvm: they choose tests
FOLDERS = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")

for variable in [name for name in os.environ if name.startswith(("FWSVM_", "NUMBA_")) and name not in KEPT]:
    del os.environ[variable]
(OWN / "home").mkdir(parents=True, exist_ok=True)
os.environ |= dict.fromkeys(FOLDERS, str(OWN / "home")) | {"FWSVM_CACHE": str(OWN / "cache")}
#: For the processes that xdist starts: glibc gives arrays of a megabyte back as soon as they go.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(1 << 20))

#: Ten examples, the same each time; `--hypothesis-profile=nightly` draws many others.
EVERYWHERE = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("fwsvm", max_examples=10, derandomize=True, **EVERYWHERE)
settings.register_profile("nightly", max_examples=200, print_blob=True, **EVERYWHERE)
settings.load_profile("fwsvm")

#: Methods that two processes compile before tests run in several: each takes about as long as the other.
WARM_UP = (
    ("fw", "mfw", "swap", "swap-2o", "cvm", "chunking"),
    ("auto", "newton", "decomposition", "liblinear", "avsf", "wolfe", "pegasos", "scs"),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile what most tests need before several processes run them, which would each compile the same."""
    sources = sorted((ROOT / "fwsvm").rglob("*.py"))
    digest = sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
    ready = OWN / f"warm-{digest[:16]}"
    if ready.exists():
        return
    sys.stderr.write("compiling what the tests need (once)\n")
    running = [
        subprocess.Popen([sys.executable, "-m", "tests.warm_up", *names], cwd=ROOT, stderr=subprocess.DEVNULL)
        for names in WARM_UP
    ]
    codes = [process.wait() for process in running]
    if not any(codes):
        ready.touch()


@pytest.fixture(scope="session")
def data_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 80 rows in LIBSVM's format: two classes 1 and -1, four features, half of the values zero."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.where(rng.random(80) < 0.4, 1, -1)
    X = (rng.normal(size=(80, 4)) + y[:, None]) * (rng.random((80, 4)) < 0.5)
    path = tmp_path_factory.mktemp("data") / "rows.svm"
    lines = [
        " ".join([f"{c:+d}", *(f"{j + 1}:{v:.6g}" for j, v in enumerate(x) if v)])
        for c, x in zip(y, X, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


@pytest.fixture(scope="session")
def model_file(data_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the model that ``fwsvm train --method swap-2o`` makes of `data_file`."""
    path = tmp_path_factory.mktemp("model") / "rows.model"
    _run("train", "--method", "swap-2o", "--model", path, data_file)
    return path


@pytest.fixture(scope="session")
def experiment_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of the shipped experiment quickstart in its profile smoke: wdbc, five methods, C selected."""
    path = tmp_path_factory.mktemp("results") / "quickstart"
    _run("grid", ROOT / "configs" / "quickstart.yaml", "--profile", "smoke", "--out", path)
    return path


def _run(*words: object) -> None:
    from click.testing import CliRunner

    from fwsvm.cli import main

    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
