"""Training on a cluster of this machine's processes: 1, 2 and 4 workers beside one process, and the bytes of a round.

    python benchmarks/cluster.py [--set kdd99-10pc] [--rows N] [--workers 1 2 4] [-C 1] [--cache-mb 8192]
                                     [--kill] [--csv FILE]

The training rows of the set are written to a file in LIBSVM's format, and trained on by chunking: in one process with
two threads, and on clusters of a Dask scheduler and worker processes of one thread each, with two threads here. On a
machine of two cores more workers take no less time; they show what the division costs. Processor seconds are those of
this process, the scheduler and all workers, from the start of the run on, with what Dask's processes take while they
wait: 0.013 s of the scheduler and 0.02 s of a worker each second. With --kill a worker of each
cluster is killed after the first look, so that from two workers on the others read its rows again.
"""

import argparse
import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from fwsvm import data
from fwsvm.data.formats import svmlight
from fwsvm.distributed import pair_rows
from fwsvm.distributed.fit import for_cluster, resolve
from fwsvm.experiments import cluster_training, training
from fwsvm.solvers.settings import Settings

COLUMNS = (
    "workers", "killed", "rows", "features", "seconds", "processor_seconds", "train_seconds", "check_seconds", "status",
    "relative_gap", "objective", "support_vectors", "looks", "sent_bytes", "received_bytes", "train_accuracy", "commit",
)  # fmt: skip


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Start a scheduler and workers of one thread; give the address, and the workers' processes."""
    from distributed import Client

    file = folder / f"scheduler-{workers}.json"
    running = [_dask("scheduler", "--port", "0", "--scheduler-file", str(file))]
    try:
        while not (file.exists() and "}" in file.read_text("utf-8")):
            time.sleep(0.1)
        address = json.loads(file.read_text("utf-8"))["address"]
        local = ("--local-directory", str(folder))
        running += [_dask("worker", "--nthreads", "1", "--no-nanny", *local, address) for _ in range(workers)]
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
        yield address, running
    finally:
        for process in running:
            process.kill()
            process.wait()


def _dask(what: str, *options: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Looks:
    """Counts looks at all rows, and kills a process after the first."""

    def __init__(self, victim: "subprocess.Popen[bytes] | None") -> None:
        self.count, self.victim, self.plain = 0, victim, pair_rows.PairRows.survey

    def __enter__(self) -> Self:
        def counted(rows: pair_rows.PairRows, *given: Any) -> pair_rows.LookAtAll:
            found = self.plain(rows, *given)
            self.count += 1
            if self.victim is not None:
                os.kill(self.victim.pid, signal.SIGKILL)
                self.victim = None
            return found

        pair_rows.PairRows.survey = counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_error: object) -> None:
        pair_rows.PairRows.survey = self.plain  # type: ignore[method-assign]


def processor_seconds(others: list["subprocess.Popen[bytes]"]) -> float:
    """Return the seconds of the processor that this process and others that are there have taken."""
    import psutil

    found = time.process_time()
    for process in others:
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(process.pid).cpu_times()
            found += times.user + times.system
    return found


def there(path: Path, settings: Settings, workers: int, *, kill: bool) -> dict[str, Any]:
    """Return the line of a run on a cluster."""
    with (
        cluster(path.parent, workers) as (address, processes),
        Looks(processes[1] if kill else None) as looks,
    ):
        started, before = time.perf_counter(), processor_seconds(processes)
        asked = for_cluster(settings)
        with cluster_training.opened(address, str(path), None, zero_based=False) as remote:
            result, row = cluster_training.train(remote, asked, resolve(remote.table, asked))
            sent, received = remote.table.cluster.traffic
        seconds, used = time.perf_counter() - started, processor_seconds(processes) - before
    more = {"looks": looks.count, "sent_bytes": sent, "received_bytes": received, "killed": int(kill)}
    measured = {"seconds": seconds, "processor_seconds": None if kill else used}
    return row | more | measured | {"workers": workers, "check_seconds": result.check_seconds}


def here(path: Path, settings: Settings) -> dict[str, Any]:
    """Return the line of a run in this process."""
    started, before = time.perf_counter(), processor_seconds([])
    result, row = training.train(data.load(path), settings)
    measured = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": processor_seconds([]) - before,
    }
    return row | measured | {"workers": 0, "killed": 0, "check_seconds": result.check_seconds}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", default="kdd99-10pc")
    parser.add_argument("--rows", type=int, help="only the first of them, drawn with seed 0")
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[0, 1, 2, 4], help="0: one process, no cluster"
    )
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--cache-mb", type=int, default=8192)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    settings = Settings("chunking", C=given.C, threads=2, cache_mib=given.cache_mb)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        found = data.load(given.set).train
        svmlight.write(path, found.X, found.labels)
        if given.rows is not None:
            whole = path.rename(Path(folder) / "whole.svm")
            command = [sys.executable, "-m", "fwsvm", "subset", str(whole), str(given.rows), str(path)]
            subprocess.run(command, check=True)
        lines = []
        for workers in given.workers:
            line = (
                there(path, settings, workers, kill=given.kill and workers > 1)
                if workers
                else here(path, settings)
            )
            lines.append({name: line.get(name) for name in COLUMNS})
            print(json.dumps(lines[-1]), flush=True)
    if given.csv is not None:
        with given.csv.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
