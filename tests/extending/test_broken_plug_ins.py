"""What comes from other packages: found by entry point, left out with a warning if broken, never stale."""

import pytest

from tests.extending.packages import install, python

pytestmark = pytest.mark.slow

GROUP = "fwsvm.solvers"
RULE = """
from typing import NamedTuple
from fwsvm.solvers.frank_wolfe.engine import choose
from fwsvm.solvers.frank_wolfe.moves import {moves}
from fwsvm.solvers.registry import register

@register("{name}", family="{family}", paper="a test", tolerance="the gap")
class Stranger(NamedTuple):
    "A method from elsewhere."

@choose.implements(Stranger)
def _choose(rule, s, i):
    return {move}
"""
FW = {"moves": "toward", "move": "toward(s, i)"}
SWAPS = {"moves": "swap, worst_active", "move": "swap(s, i, worst_active(s))"}
TRAIN = """
import gc, sys, warnings
import numpy as np
import fwsvm
from numba.core.dispatcher import Dispatcher
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] > 0.3 * rng.normal(size=60), 1, -1)
settings = dict(threads=1, tolerance=1e-2, kernel="linear")
asked, known = (fwsvm.train(X, y, method=name, **settings) for name in sys.argv[1:3])
stats = [each.stats for each in gc.get_objects() if isinstance(each, Dispatcher)]
misses = sum(sum(each.cache_misses.values()) for each in stats)
print(asked.certified, (asked.objective, asked.iterations) == (known.objective, known.iterations), misses)
"""
KERNEL = "from typing import NamedTuple\nfrom fwsvm.kernels.kernel import register\n"
LINE = '@register("{name}", "<x, z>"{more})\nclass Line(NamedTuple):\n    {field}\n'
WRONG_LOCK = """
from pathlib import Path
from fwsvm.data.lockfile import add_lock
path = Path(__file__).with_suffix(".lock")
path.write_text("datasets: {odd: {title: Odd}}")
add_lock(path)
"""
#: Entry point group, word for the thing, its module, and what the user reads.
CLASHES = {
    "kernel": ("fwsvm.kernels", "kernel", KERNEL + LINE.format(name="rbf", more="", field="scale: float = 1.0"),
               "ValueError: a kernel named 'rbf' is registered already"),
    "kernel of an old version": ("fwsvm.kernels", "kernel",
                                 KERNEL + LINE.format(name="line", more=", colour=3", field="scale: float = 1.0"),
                                 "unexpected keyword argument 'colour'"),
    "module that leaves": ("fwsvm.kernels", "kernel", "raise SystemExit('no licence')\n", "SystemExit: no licence"),
    "lock that is wrong": ("fwsvm.datasets", "data set", WRONG_LOCK, "datasets.odd.sources: Expected `object`"),
    "method that stops halfway": ("fwsvm.solvers", "solver",
                                  RULE.format(name="half", family="simplex", **FW) + "1 / 0\n", "ZeroDivisionError"),
    "method of no family": ("fwsvm.solvers", "solver", RULE.format(name="lost", family="nobody", **FW),
                            "of the family 'nobody'"),
    "no module": ("fwsvm.solvers", "solver", "import no_such_module_anywhere\n", "no_such_module_anywhere"),
}  # fmt: skip


def test_the_command_line_says_in_a_line_each_what_is_left_out_and_works_on(tmp_path):
    install(tmp_path, GROUP, "whole", "stranger", RULE.format(name="strange", family="simplex", **FW))
    for number, (group, _, code, _) in enumerate(CLASHES.values()):
        install(tmp_path, group, f"theirs_{number}", f"faulty_{number}", code)
    done = python(tmp_path, "-m", "fwsvm", "train", "wdbc", warn="default")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "plug-in" in line]
    assert len(lines) == len(CLASHES)
    for number, (what, (_, word, _, reason)) in enumerate(CLASHES.items()):
        package = f"theirs_{number}"
        named = (
            f"fwsvm: the {word} plug-in '{package}' of the package {package} (faulty_{number}) is left out"
        )
        (said,) = [line for line in lines if line.startswith(named)]
        assert reason in said, what
    assert "converged" in done.stdout
    names = python(
        tmp_path, "-c", "from fwsvm.solvers import METHODS; print(*METHODS)", warn="ignore"
    ).stdout.split()
    assert "strange" in names
    assert not {"half", "lost"} & set(names)


def test_an_edit_compiles_anew_no_edit_does_not_and_removal_harms_nobody(tmp_path):
    first, second = (RULE.format(name="strange", family="simplex", **kind) for kind in (FW, SWAPS))

    def train(method: str, like: str) -> list[str]:
        done = python(tmp_path, "-c", TRAIN, method, like)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    install(tmp_path, GROUP, "ours", "stranger", first)
    assert train("strange", "fw")[:2] == ["True", "True"]
    assert train("strange", "fw") == ["True", "True", "0"]

    install(tmp_path, GROUP, "ours", "stranger", second)
    assert train("strange", "fw")[:2] == ["True", "False"]

    (tmp_path / "stranger.py").unlink()
    (tmp_path / "ours-1.0.dist-info" / "entry_points.txt").write_text("")
    assert train("fw", "fw") == ["True", "True", "0"]
