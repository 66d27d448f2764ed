"""Large penalties: the fastest of our exact methods against plain `swap-2o`, to a certified relative gap of 1e-3.

    python benchmarks/large_c.py [--mirror FOLDER] [--repeat 3] [--threads 1] [--methods newton] [--csv FILE]
                                 [SET:C ...]

A fresh process each, by turns; rbf with gamma = 1/(2D). The ratio is swap-2o's time / the method's.
"""

from typing import Any

import side_by_side as bench
from training import OURS

SETS = ("a5a:256", "a5a:4096")
BASE = "swap-2o"


def main() -> None:
    """Measure, print a line a set and method, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 3)
    asked.add_argument("sets", nargs="*", default=SETS, metavar="SET:C")
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--methods", nargs="+", default=["newton"])
    given = bench.parse(asked)
    rows = []
    for name, _, C in (text.rpartition(":") for text in given.sets):
        commands = {
            method: bench.python(OURS, name, C, method, given.threads) for method in (BASE, *given.methods)
        }
        found = bench.by_turns(commands, given.repeat)
        for method in given.methods:
            row: dict[str, Any] = {"set": name, "C": C, "threads": given.threads, "method": method}
            for said, who in ((BASE, BASE), ("method", method)):
                runs = found[who]
                row |= {f"{said}_seconds": bench.median(runs), f"{said}_gap": runs[-1]["relative_gap"],
                        f"{said}_accuracy": runs[-1]["accuracy"], f"{said}_all": bench.spread(runs)}  # fmt: skip
            row["ratio"] = row[f"{BASE}_seconds"] / row["method_seconds"]
            rows.append(row)
            bench.show(row)
            bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
