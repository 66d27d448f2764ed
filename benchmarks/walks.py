"""The way of a command to compiled code: the modules on the call stack there, outermost first, at commits side by side.

    python benchmarks/walks.py [COMMIT ...]

``C`` is the way of `fwsvm train --method swap-2o -C 10` to the compiled loop, ``cell`` that of a grid's cell to `fit`.
A module that is left and entered again counts again. Without commits: HEAD.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import side_by_side as bench

EXPERIMENT = "{name: one, datasets: [wdbc], methods: [swap-2o], C: [1, 10]}\n"

WALK = """
import runpy, sys
root, reached, under = sys.argv[1:4]
sys.path.insert(0, root)
import fwsvm
assert fwsvm.__file__.startswith(root)
longest = []

def see(frame, event, _):
    global longest
    if event != "call" or not frame.f_globals.get("__name__", "").startswith(reached):
        return
    stack = []
    while frame:
        stack.insert(0, (frame.f_globals.get("__name__", ""), frame.f_code.co_name))
        frame = frame.f_back
    own = [module.removeprefix("fwsvm.") for module, _ in stack if module.startswith("fwsvm.")]
    walk = [module for module, before in zip(own, ["", *own]) if module != before and module != "cli"]
    if under in [function for _, function in stack] and not any("warm" in each for each in walk):
        longest = max(longest, walk, key=len)

sys.argv = ["fwsvm", *sys.argv[4:]]
sys.setprofile(see)
try:
    runpy.run_module("fwsvm", run_name="__main__")
except SystemExit:
    pass
finally:
    sys.setprofile(None)
    print(len(longest), *longest)
"""


def walk(root: Path, reached: str, under: str, *command: str) -> str:
    """Return the modules under a call of the function ``under`` when a module whose name begins so is called."""
    environment = {**os.environ, "FWSVM_CACHE": str(root / "cache")}
    done = subprocess.run(
        bench.python(WALK, root, reached, under, *command),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Print two lines a commit."""
    for commit in sys.argv[1:] or ["HEAD"]:
        with tempfile.TemporaryDirectory() as scratch:
            root, config = Path(scratch), Path(scratch) / "one.yaml"
            packed = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(root, filter="data")
            config.write_text(EXPERIMENT)
            train = ("train", "--method", "swap-2o", "-C", "10", "wdbc")
            grid = ("grid", str(config), "--workers", "1", "--out", str(root / "out"))
            print(commit, "C:", walk(root, "fwsvm.solvers.frank_wolfe", "advance", *train))
            print(commit, "cell:", walk(root, "fwsvm.solvers.fit", "train", *grid))


if __name__ == "__main__":
    main()
