"""Training on files larger than the memory that the process may have, and what that costs beside all in memory.

    python benchmarks/out_of_core.py [--folder FOLDER] [--limit MIB] [--scale 0.1] [--only dense/liblinear] [--csv FILE]
    python benchmarks/out_of_core.py --ratio [--folder FOLDER] [--csv FILE]
    python benchmarks/out_of_core.py --tools [--folder FOLDER] [--limit MIB] [--scale 0.1]

Rows come from `out_of_core_rows.py`: 20,000,000 x 100 dense float32 (8 GB) and 10,800,000 rows of text (6.1 GB), or
with --scale a part of them; 100,000 others are for testing. Clear rows are of classes that hardly overlap, so that
support vectors are few, as methods on the simplex need: these hold them in memory, and compute as many kernel values a
row and look at all rows. Each line is one `fwsvm train` in a process of its own,
from reading the file to the certificate, under a limit of memory; the first on text parses it and keeps the copy, which
those after it find.

The limit is a control group's where one can be made (version 2, or 1): it counts the pages of mapped files and cached
ones, and takes these back or ends the process. What the system has of the files from before is dropped. Elsewhere data
and stack of the process are limited (RLIMIT_DATA), and the process is ended when its resident memory passes the limit.
`limited_by` says which it was.

--ratio compares files that fit into memory (2,000,000 dense rows, 600,000 of text): the same command as it is, and with
everything read into memory, by turns. --tools runs the commands that are no training under the limit.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GROUPS = Path("/sys/fs/cgroup")
DENSE, TEXT, TESTED = (20_000_000, 100), (10_800_000, 500), 100_000
SCS = ["--method", "scs", "--cache-mb", "512", "--lambda", "1e-4", "--max-iterations", "60"]
PEGASOS = ["--method", "pegasos", "--cache-mb", "512", "--lambda", "1e-4", "--max-iterations", "20000"]
METHODS = {
    "scs": SCS,
    "pegasos": PEGASOS,
    "liblinear": ["--method", "liblinear", "-C", "1e-5"],
    "avsf": ["--method", "avsf", "-C", "1e-5"],
}
EXACT = ["-C", "1", "--cache-mb", "512"]
ON_CLEAR = {
    "chunking": ["--method", "chunking", *EXACT],
    "sampled": ["--method", "swap-2o", "--search", "sampled", *EXACT],
    "avsf": ["--method", "avsf", "-C", "1e-5"],
}
RUNS = {
    **{f"{kind}/{name}": options for kind in ("text", "dense") for name, options in METHODS.items()},
    **{f"clear-{kind}/{name}": options for kind in ("text", "dense") for name, options in ON_CLEAR.items()},
}
COMPARED = (
    "text/scs", "text/liblinear", "text/avsf", "dense/scs", "dense/liblinear", "dense/avsf",
    "clear-text/chunking", "clear-text/sampled", "clear-dense/chunking", "clear-dense/sampled",
)  # fmt: skip
IN_MEMORY = """
import sys
from fwsvm import _mapped
from fwsvm.data import parsed_copies
_mapped.LARGE = parsed_copies.MAPPED_FROM = 1 << 62
"""
FROM_FILES = """
import sys
from fwsvm import _mapped
_mapped.LARGE = 1 << 20
"""
RUN = """
from fwsvm.cli import main
main()
"""
KEPT = (
    "status", "rows", "features", "train_accuracy", "test_accuracy", "objective", "gap", "relative_gap", "gap_kind",
    "certified", "support_vectors", "iterations", "load_seconds", "compile_seconds", "train_seconds", "predict_seconds",
    "peak_memory_mib",
)  # fmt: skip


@contextmanager
def limited(mib: int) -> Iterator[tuple[str, Path | None]]:
    """Give the name of a way to limit a process's memory, and the group to enter where it is one."""
    name = f"fwsvm-{os.getpid()}"
    for root, limit in ((GROUPS, "memory.max"), (GROUPS / "memory", "memory.limit_in_bytes")):
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / limit).exists():
                (group / limit).write_text(str(mib << 20))
                yield f"control group ({limit})", group
                return
        except OSError:
            pass
        finally:
            group.rmdir()
    yield "RLIMIT_DATA and resident memory watched", None


def run(command: list[str], mib: int | None, env: dict[str, str], cold: list[Path]) -> dict[str, Any]:
    """Return what a command said, ``out``, and its seconds; what the system has of ``cold`` files is dropped before."""
    if mib is None:
        return _watched(command, None, None, env, cold) | {"limited_by": "nothing"}
    with limited(mib) as (how, group):
        return _watched(command, mib, group, env, cold) | {"limited_by": how, "limit_mib": mib}


def _watched(
    command: list[str], mib: int | None, group: Path | None, env: dict[str, str], cold: list[Path]
) -> dict[str, Any]:
    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        elif mib is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (mib << 20, mib << 20))

    for file in cold:  # pages that the system still has of it would be charged to whoever read it before
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    begun = time.perf_counter()
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": env}
    process = subprocess.Popen(command, preexec_fn=enter, **how)  # noqa: PLW1509  (there are no threads here)
    while group is None and mib is not None and process.poll() is None:
        if _resident(process.pid) > mib:
            process.kill()
        time.sleep(0.05)
    out, err = process.communicate()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = {"seconds": time.perf_counter() - begun, "exit": process.returncode}
    found["processor_seconds"] = used.ru_utime + used.ru_stime
    if process.returncode:
        found["message"] = err.strip().splitlines()[-1] if err.strip() else "ended by the system"
    return found | {"out": out}


def _resident(pid: int) -> int:
    """Return the MiB of memory that a process has."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS:"))


def _size(kind: str) -> tuple[int, int]:
    """Return rows and features of a kind of file."""
    return DENSE if kind.endswith("dense") else TEXT


def made(folder: Path, kind: str, rows: int, features: int) -> tuple[Path, Path]:
    """Return files of rows to train on and to test on, made where they are not there yet."""
    ending = "npy" if kind.endswith("dense") else "svm"
    train, test = (folder / f"{kind}-{rows}{part}.{ending}" for part in ("", "-test"))
    for path, numbers in ((train, [rows, features, 0, 0]), (test, [TESTED, features, 0, 1_000_000])):
        if not path.exists():
            part = path.with_suffix(f".part.{ending}")
            script = str(HERE / "out_of_core_rows.py")
            subprocess.run([sys.executable, script, kind, str(part), *map(str, numbers)], check=True)
            if ending == "npy":
                part.with_suffix(".labels.npy").rename(path.with_suffix(".labels.npy"))
            part.rename(path)
    return train, test


def measured(
    name: str, size: tuple[int, int], given: argparse.Namespace, *, in_memory: bool = False
) -> dict[str, Any]:
    """Return the line of one training."""
    kind, _, method = name.partition("/")
    train, test = made(given.folder, kind, *size)
    scale = size[0] / _size(kind)[0]
    options = list(RUNS[name])
    if "-C" in options:  # C m stays what it is
        at = options.index("-C") + 1
        options[at] = repr(float(options[at]) / scale)
    script = (IN_MEMORY if in_memory else FROM_FILES) + RUN
    command = [
        sys.executable, "-c", script, "train", *options, "--threads", str(given.threads), "--json",
        "--test", str(test), str(train),
    ]  # fmt: skip
    env = os.environ | {"FWSVM_CACHE": str(given.folder / "cache")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    copies = [] if given.ratio else [train, *(given.folder / "cache" / "parsed").rglob("*.npy")]
    found = run(command, None if in_memory or given.ratio else given.limit, env, copies)
    found["processor_seconds"] -= before.ru_utime + before.ru_stime
    out = found.pop("out")
    if not found["exit"]:
        said = json.loads(out)
        found |= {key: said[key] for key in KEPT}
    line = {
        "method": method, "source": kind, "file_mb": round(train.stat().st_size / 1e6),
        "path": "in memory" if in_memory else "mapped", **found,
    }  # fmt: skip
    print({key: value for key, value in line.items() if value is not None}, flush=True)
    return line


def tools(given: argparse.Namespace) -> None:
    """Run the commands that are no training on a file of each kind, and say how each ended."""
    for kind in ("text", "dense"):
        rows, features = _size(kind)
        train, _ = made(given.folder, kind, int(rows * given.scale), features)
        made_here = given.folder / f"{kind}-made.svm"
        asked = [
            ["summary", str(train)],
            ["subset", str(train), "1000", str(made_here)],
            ["scale", "-o", str(made_here), str(train)],
            ["cv", "--method", "scs", "--folds", "3", str(train)],
        ]
        if kind == "text":
            asked.insert(0, ["check", str(train)])
        for words in asked:
            command = [sys.executable, "-c", FROM_FILES + RUN, *words]
            env = os.environ | {"FWSVM_CACHE": str(given.folder / "cache")}
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = run(command, given.limit, env, [train])
            seconds = found["processor_seconds"] - before.ru_utime - before.ru_stime
            made_here.unlink(missing_ok=True)
            said = found.get("message", "")
            print(
                f"{words[0]} {train.name} ({train.stat().st_size >> 20} MiB, limit {given.limit} MiB): exit "
                f"{found['exit']}, {seconds:.1f} s of the processor, {found['limited_by']} {said}",
                flush=True,
            )


def main() -> None:
    """Measure, print a line a run, and write them as CSV if asked to."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--folder", type=Path, default=Path("out-of-core"))
    asked.add_argument("--limit", type=int, default=4096, help="MiB")
    asked.add_argument("--scale", type=float, default=1.0)
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--only", nargs="+", default=list(RUNS))
    asked.add_argument("--ratio", action="store_true")
    asked.add_argument("--tools", action="store_true")
    asked.add_argument("--repeat", type=int, default=1)
    asked.add_argument("--csv", type=Path)
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.tools:
        tools(given)
        return
    lines: list[dict[str, Any]] = []
    for name in given.only:
        rows, features = _size(name.partition("/")[0])
        if not given.ratio:
            lines.append(measured(name, (int(rows * given.scale), features), given))
        elif name in COMPARED:
            size = (2_000_000 if rows == DENSE[0] else 600_000), features
            for _ in range(given.repeat):
                pair = [measured(name, size, given, in_memory=in_memory) for in_memory in (False, True)]
                for what in ("seconds", "processor_seconds", "train_seconds"):
                    print(
                        f"{name}: {what} {pair[0][what] / pair[1][what]:.2f} of those in memory", flush=True
                    )
                lines += pair
        _write(given.csv, lines)


def _write(path: Path | None, lines: list[dict[str, Any]]) -> None:
    if path is None:
        return
    names = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
