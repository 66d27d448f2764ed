"""Run an experiment on a SLURM cluster: each job is one Dask worker, and `fwsvm grid` hands its rows to them.

    python slurm.py --jobs 8 --cores 4 --memory 16GB --walltime 04:00:00 -- web --out results/web

Start it on a computer that submits jobs and that they can reach; what follows ``--`` is what `fwsvm grid` takes. With
``--print`` it shows the job script and submits nothing. It needs dask-jobqueue and the extra ``distributed``.
"""

import argparse
import shutil
import subprocess
import sys

from dask_jobqueue import SLURMCluster
from distributed import Client


def arguments(words: list[str]) -> argparse.Namespace:
    """Return the options, and the words after ``--``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=4, help="jobs to submit; each makes one run at a time")
    parser.add_argument(
        "--cores", type=int, default=4, help="processors of a job, which are the threads of a run"
    )
    parser.add_argument("--memory", default="8GB", help="of a job")
    parser.add_argument("--walltime", default="04:00:00", help="of a job; jobs that end are replaced")
    parser.add_argument("--queue", help="the partition")
    parser.add_argument("--account")
    parser.add_argument("--interface", help="the network that the jobs reach this computer by, such as ib0")
    parser.add_argument(
        "--directive", action="append", default=[], help="a further #SBATCH line; may be repeated"
    )
    parser.add_argument(
        "--first", action="append", default=[], help="a line to run first, such as 'module load python'"
    )
    parser.add_argument("--print", action="store_true", help="show the job script and submit nothing")
    parser.add_argument("grid", nargs="*", help="what `fwsvm grid` takes")
    return parser.parse_args(words)


def cluster(given: argparse.Namespace) -> SLURMCluster:
    """Return a cluster without jobs; its scheduler runs here."""
    return SLURMCluster(
        cores=1,  # runs that a worker makes at a time: beside each other their times would mean nothing
        processes=1,
        job_cpu=given.cores,
        memory=given.memory,
        walltime=given.walltime,
        queue=given.queue,
        account=given.account,
        interface=given.interface,
        job_extra_directives=given.directive,
        job_script_prologue=given.first,
        worker_extra_args=["--no-dashboard"],
        scheduler_options={"dashboard_address": None},
        python=sys.executable,
    )


def main() -> int:
    """Return the exit code of `fwsvm grid`."""
    given = arguments(sys.argv[1:])
    if not given.print and shutil.which("sbatch") is None:
        print(
            "there is no sbatch here: start this where jobs are submitted, or look at one with --print",
            file=sys.stderr,
        )
        return 2
    with cluster(given) as jobs:
        if given.print:
            print(jobs.job_script())
            return 0
        jobs.adapt(minimum_jobs=given.jobs, maximum_jobs=given.jobs)
        print("waiting for the first job to start", file=sys.stderr)
        with Client(jobs) as client:
            client.wait_for_workers(1)
        command = [sys.executable, "-m", "fwsvm", "grid", "--threads", str(given.cores), *given.grid]
        return subprocess.run([*command, "--scheduler", jobs.scheduler_address], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
