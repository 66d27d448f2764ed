"""How soon fwsvm starts: whole commands in fresh processes, the compiled cache warm, or empty.

    python benchmarks/starting.py [--repeat 11] [--cold 0] [--csv FILE]

`fwsvm --help`, and `fwsvm train` on 300 generated rows, by turns with `python -c 'import numba'`. Seconds of the wall,
and of the processor with child processes. The ratio is the time of the command / that of `import numba`. --cold N runs
`fwsvm train` N times with an empty cache as well, in which it compiles what it needs. Bytecode is kept, as it is by
default and as numba's own is.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import processes as bench

BASE, COLD = "import numba", "fwsvm train, empty cache"
TRAIN = bench.fwsvm("train", "synthetic:gaussians?rows=300&features=2&test=0")
KEPT = {"PYTHONDONTWRITEBYTECODE": ""}
COMMANDS = {BASE: [sys.executable, "-c", BASE], "fwsvm --help": bench.fwsvm("--help"), "fwsvm train": TRAIN}


def spent(command: bench.Command, **environment: str) -> dict[str, float]:
    """Return the seconds of a command."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | KEPT | environment)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor_seconds": processor}


def main() -> None:
    """Measure."""
    asked = bench.parser(__doc__, 11)
    asked.add_argument("--cold", type=int, default=0)
    given = asked.parse_intermixed_args()
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in COMMANDS}
    for turn in range(given.repeat + 2):
        for name, command in COMMANDS.items():
            found = spent(command)
            if turn >= 2:
                runs[name].append(found)
    for _ in range(given.cold):
        with tempfile.TemporaryDirectory() as folder:
            runs.setdefault(COLD, []).append(spent(TRAIN, FWSVM_CACHE=folder))
    base: Any = {kind: bench.median(runs[BASE], kind) for kind in ("seconds", "processor_seconds")}
    lines = []
    for name, mine in runs.items():
        medians = {kind: bench.median(mine, kind) for kind in base}
        lines.append(
            {"command": name} | medians | {f"{kind}_ratio": medians[kind] / base[kind] for kind in base}
        )
    bench.report(lines, given.csv)


if __name__ == "__main__":
    main()
