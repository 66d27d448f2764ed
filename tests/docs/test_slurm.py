"""The recipe for SLURM: the job script that it submits, and a whole run where sbatch runs the script at once."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import done, rows

pytestmark = pytest.mark.slow

pytest.importorskip("dask_jobqueue")

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs" / "examples" / "slurm.py"
SBATCH = """\
#!/bin/sh
# Takes the place of SLURM's: runs the job at once, with what the job may not read from this test, and says its number.
for script; do :; done
cp "$script" "$JOBS/$$.sh"
setsid sh "$JOBS/$$.sh" >"$JOBS/$$.log" 2>&1 &
echo "$!" >"$JOBS/$$.pid"
echo "Submitted batch job $$"
"""
SCANCEL = """\
#!/bin/sh
for job; do kill -- -"$(cat "$JOBS/$job.pid")"; done
"""
EXPERIMENT = (
    "name: tiny\ndatasets: ['synthetic:checkerboard?rows=60&test=0']\nmethods: [swap, fw]\nC: [1, 10]\n"
)


def started(folder: Path, *words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run the recipe where the commands of ``folder`` are SLURM's."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "JOBS": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, str(RECIPE), *words], capture_output=True, text=True, timeout=timeout, env=given,
        cwd=folder, check=False,
    )  # fmt: skip


def test_the_job_script_asks_for_what_was_given_and_starts_one_worker(tmp_path: Path) -> None:
    words = ("--print", "--cores", "6", "--memory", "12GB", "--walltime", "01:30:00", "--queue", "short")
    done = started(tmp_path, *words, "--directive=--exclusive", "--first", "module load python")
    assert done.returncode == 0, done.stderr
    (tmp_path / "job").write_text(done.stdout)
    assert subprocess.run(["bash", "-n", str(tmp_path / "job")], check=False).returncode == 0
    lines = done.stdout.splitlines()
    asked = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")}
    assert {"-n 1", "--cpus-per-task=6", "--mem=12G", "-t 01:30:00", "-p short", "--exclusive"} <= asked
    assert lines.index("module load python") < len(lines)
    (worker,) = (shlex.split(line) for line in lines if "dask" in line and sys.executable in line)
    assert worker[:3] == [sys.executable, "-m", "distributed.cli.dask_worker"]
    assert worker[worker.index("--nthreads") + 1] == "1"
    assert worker[3].startswith("tcp://")


@pytest.mark.skipif(shutil.which("sbatch") is not None, reason="SLURM is here")
def test_without_slurm_it_ends_with_a_sentence(tmp_path: Path) -> None:
    done = started(tmp_path, "--jobs", "1", "--", "tiny.yaml")
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert said.startswith("there is no sbatch here")


def test_a_run_comes_to_the_rows_that_a_run_here_comes_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    ended = started(tmp_path, "--jobs", "1", "--memory", "1GB", "--", "tiny.yaml", "--out", "there")
    logs = "\n".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert ended.returncode == 0, f"{ended.stderr}\n{logs}"
    monkeypatch.chdir(tmp_path)
    done("grid", "tiny.yaml", "--out", "here")
    there, here = (
        {row["run_id"]: (row["status"], row["objective"]) for row in rows(tmp_path / folder)}
        for folder in ("there", "here")
    )
    assert there == here
    assert len(here) == 4
