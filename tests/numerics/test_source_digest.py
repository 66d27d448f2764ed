"""Which sources name the folder of compiled code: all that machine code is made from."""

import importlib
import pkgutil

from numba.core.dispatcher import Dispatcher

import fwsvm
from fwsvm.numerics.source_digest import FOUNDATION, PACKAGE, READING, SOLVING, compiled_sources

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
