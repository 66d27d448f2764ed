"""Which sources name the folder of compiled code: all that machine code is made from."""

import importlib
import pkgutil
import re

from numba.core.dispatcher import Dispatcher

import fwsvm
from fwsvm.numerics.source_digest import FOUNDATION, JUDGING, PACKAGE, READING, SOLVING, compiled_sources

SOURCES = {
    file.relative_to(PACKAGE).as_posix(): file.read_bytes()
    for part in (*FOUNDATION, *READING, *SOLVING)
    for file in ([PACKAGE / part] if part.endswith(".py") else (PACKAGE / part).rglob("*.py"))
}
COMPILED = compiled_sources(SOURCES)


def test_every_module_with_a_compiled_function_or_an_implementation_is_among_them():
    seen = set()
    for module in pkgutil.walk_packages(fwsvm.__path__, "fwsvm."):
        if module.name.startswith(("fwsvm.kernels", "fwsvm.problems", "fwsvm.solvers", "fwsvm.data")):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Dispatcher):
                    seen.add(value.py_func.__code__.co_filename.removeprefix(f"{PACKAGE}/"))
    assert len(seen) > 20
    assert seen <= COMPILED
    assert {"solvers/frank_wolfe/swap_2o.py", "kernels/rbf.py"} <= COMPILED, "they add implementations"


def test_modules_beside_these_folders_that_compute_with_arrays_are_among_them():
    """What solvers call to pass over rows decides the order of sums, and with it the last digits."""
    beside = {
        f"{name}.py"
        for source in SOURCES.values()
        for name in re.findall(r"^from fwsvm(?:\.| import )(\w+)", source.decode(), re.MULTILINE)
        if (PACKAGE / f"{name}.py").is_file()
        if b"import numpy" in (PACKAGE / f"{name}.py").read_bytes()
    }
    assert {"_mapped.py", "_stretches.py", "_occurring.py"} <= beside
    assert beside <= {*FOUNDATION, *READING, *SOLVING, *JUDGING}


def test_what_they_import_is_among_them_and_what_only_calls_them_is_not():
    made = {
        "numerics/compile.py": b"",
        "kernels/a.py": b"from fwsvm.numerics.compile import njit\nfrom fwsvm.kernels.b import SIZE",
    }
    made |= {
        "kernels/b.py": b"from fwsvm.kernels import c",
        "kernels/c.py": b"",
        "kernels/d.py": b"import fwsvm.kernels.a",
    }
    assert compiled_sources(made) == {"numerics/compile.py", "kernels/a.py", "kernels/b.py", "kernels/c.py"}
    assert not {"solvers/fit.py", "solvers/c_path.py"} & COMPILED
