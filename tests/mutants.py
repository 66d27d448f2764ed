"""Measure what share of small faults in the code the tests find: ``python -m tests.mutants``, or ``make mutants``.

cosmic-ray makes the faults (mutants): one operator, number or condition changed. A sample of them, fixed by a seed and
equal for each group, is run, each against the tests that reach it, until one fails. Nothing on disk is changed: a
mutant takes the place of its module when that is imported. Machine code that holds it is compiled anew; the rest is
read from the cache. Results are appended to a file: a second run continues the first.
"""

import ast
import importlib.util
import multiprocessing
import os
import random
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import click
import pytest

ROOT = Path(__file__).parent.parent
#: Each mutant's process begins as a copy of one that has imported what takes long and holds no mutant.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["numba", "pandas", "scipy.optimize", "scipy.stats", "sklearn.svm"])

#: For each group, the sources that are mutated, the tests that reach them, the quickest first, and for which methods
#: those tests run that have a method as parameter.
METHODS = "solvers/test_simplex.py solvers/test_contract.py solvers/test_path.py"
FRANK_WOLFE = "cvm fw mfw swap swap-2o"
GROUPS = {
    "engine": (
        "solvers/frank_wolfe/engine.py solvers/frank_wolfe/run.py",
        f"{METHODS} solvers/test_newton.py",
        f"{FRANK_WOLFE} newton",
    ),
    "moves": ("solvers/frank_wolfe/moves.py solvers/frank_wolfe/*swap*.py", METHODS, FRANK_WOLFE),
    "simplex certificate": (
        "problems/simplex_qp.py",
        "problems/test_simplex_qp.py solvers/test_contract.py solvers/test_newton.py solvers/test_chunking.py",
        f"{FRANK_WOLFE} newton chunking",
    ),
    "box certificate": (
        "problems/box*.py",
        "problems/test_box_qp.py solvers/test_linear.py solvers/test_contract.py",
        "avsf liblinear",
    ),
    "hinge certificate": (
        "problems/hinge.py",
        "solvers/test_stochastic.py solvers/test_contract.py",
        "pegasos scs wolfe",
    ),
    "chunking": (
        "solvers/chunking/*.py",
        "solvers/test_chunking.py solvers/test_contract.py test_where_rows_are.py solvers/test_path.py",
        "chunking",
    ),
    "store": (
        "experiments/store.py",
        "experiments/test_store.py experiments/test_resume.py cli/test_grid.py",
        "",
    ),
    "plan": (
        "experiments/plan.py",
        "experiments/test_plan.py experiments/test_selection.py experiments/test_resume.py cli/test_grid.py",
        "",
    ),
    "svmlight": (
        "data/formats/svmlight*.py",
        "data/test_svmlight.py data/test_parsed.py cli/test_file_tools.py",
        "",
    ),
    "model files": (
        "problems/model_files.py",
        "problems/test_model_files.py problems/test_model_scaling.py cli/test_predict.py",
        "",
    ),
}
#: Operators of cosmic-ray that change no result: of annotations, decorators and names.
VOID = ("core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr", "core/Variable", "core/ExceptionReplacer")


class Mutant(NamedTuple):
    """One change of one source."""

    group: str
    source: str
    operator: str
    occurrence: int
    line: int

    def __str__(self) -> str:
        return "\t".join(map(str, self))


def mutants_of(group: str) -> Iterator[list[Mutant]]:
    """Yield the mutants of a group, those of one place in the source together."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    for source in sorted(p for pattern in GROUPS[group][0].split() for p in (ROOT / "fwsvm").glob(pattern)):
        text, places = source.read_text("utf-8"), {}
        tree, nodes = get_ast(text), ast.walk(ast.parse(text))
        # what a decorator is given says how a function is compiled, no number that it computes
        decorators = [each for node in nodes for each in getattr(node, "decorator_list", ())]
        void = {line for each in decorators for line in range(each.lineno, each.end_lineno + 1)}
        for name in sorted(n for n in operator_names() if not n.startswith(VOID)):
            positions = (p for node in ast_nodes(tree) for p in get_operator(name)().mutation_positions(node))
            for occurrence, (start, _) in enumerate(positions):
                mutant = Mutant(group, source.relative_to(ROOT).as_posix(), name, occurrence, start[0])
                if mutant.line not in void:
                    places.setdefault(start, []).append(mutant)
        yield from places.values()


def compiled_parts(mutant: Mutant) -> set[str]:
    """Return the names of the compiled function, or of constants and those made of them, that a line is part of.

    None for a function for Python alone, which has annotations here, and no decorator.
    """
    parts: set[str] = set()
    for node in ast.parse((ROOT / mutant.source).read_text("utf-8")).body:
        here = node.lineno <= mutant.line <= node.end_lineno
        if isinstance(node, ast.FunctionDef) and here and (node.returns is None or node.decorator_list):
            parts.add(node.name)
        if isinstance(node, ast.Assign):
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            parts |= names if here or names & parts else set()
    return parts - {"np"}


def run(group: str, seconds: int, mutant: Mutant | None = None) -> str:
    """Return how the tests of a group end: "survived", "killed", "endless" or "broken" (they could not run)."""
    given: tuple = ()
    if mutant is not None:
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        source = (ROOT / mutant.source).read_text("utf-8")
        code = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
        module = mutant.source.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        given = (module, code, compiled_parts(mutant))
    process = FORKS.Process(target=_run_tests, args=(group, seconds, *given))
    process.start()
    process.join(10 * seconds)  # one that waits for ever takes no processor time
    process.kill()
    process.join()
    return {0: "survived", 4: "broken"}.get(process.exitcode, "endless" if process.exitcode < 0 else "killed")


def _run_tests(group: str, seconds: int, *mutant: object) -> None:
    """Run the tests of a group in this process, with a mutant if there is one."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # a shell has what runs in the background ignore Ctrl-C, which some tests send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    os.chdir(ROOT)
    if mutant:
        _put_in_place(*mutant)
    _, tests, methods = GROUPS[group]
    paths = [f"tests/{path}" for path in tests.split()]
    sys.exit(pytest.main(["-xqq", "-p", "no:cacheprovider", *paths], [Chosen(methods)]))


class Chosen:
    """A plug-in of pytest that leaves out tests for methods of other groups."""

    def __init__(self, methods: str) -> None:
        self.methods = methods.split()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave them out."""
        from fwsvm.solvers import METHODS

        others = METHODS.keys() - self.methods if self.methods else set()
        calls = [(item, getattr(item, "callspec", None)) for item in items]
        items[:] = [
            item for item, call in calls if not call or others.isdisjoint(map(str, call.params.values()))
        ]


def _put_in_place(module: str, code: str, parts: set[str]) -> None:
    """Import a mutant in place of its module, and read no machine code that holds it."""

    class Finder:
        @staticmethod
        def find_spec(name: str, *_given: object) -> object:
            if name != module:
                return None
            sys.meta_path.remove(Finder)
            spec = importlib.util.find_spec(name)
            spec.loader.get_code = lambda _name: compile(code, spec.origin, "exec")
            return spec

    sys.meta_path.insert(0, Finder)
    from fwsvm.numerics.compile import _Cache as Cache

    made, load, save = Cache.__init__, Cache.load_overload, Cache.save_overload

    def begin(cache: Cache, function: FunctionType) -> None:
        made(cache, function)
        cache.is_stale = _holds(function, parts, set())

    Cache.__init__ = begin
    Cache.load_overload = lambda cache, *given: None if cache.is_stale else load(cache, *given)
    Cache.save_overload = lambda cache, *given: None if cache.is_stale else save(cache, *given)


def _holds(function: object, parts: set[str], seen: set[object]) -> bool:
    """Return whether machine code of a function, with those that it calls, holds one of the parts."""
    function = getattr(function, "__dict__", {}).get("py_func", function)
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    registry = getattr(function, "registry", {})  # of a generic function
    names = {function.__name__, *function.__code__.co_names}
    used = [function.__globals__.get(name) for name in names] + list(registry.values())
    return not parts.isdisjoint(names) or any(_holds(each, parts, seen) for each in used)


@click.command()
@click.option("--size", default=200, show_default=True, help="Number of mutants, equally many of each group.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--seconds", default=100, show_default=True, help="Processor time after which tests count as endless."
)
@click.option("--out", type=Path, default=ROOT / ".cache/mutants.tsv", show_default=True)
def main(size: int, seed: int, seconds: int, out: Path) -> None:
    """Run a sample of mutants, or the rest of it; print the share killed."""
    rng, sample = random.Random(seed), []
    for group in GROUPS:
        places = list(mutants_of(group))
        sample += [rng.choice(place) for place in rng.sample(places, min(size // len(GROUPS), len(places)))]
    rng.shuffle(sample)
    out.parent.mkdir(parents=True, exist_ok=True)
    known = dict(line.rsplit("\t", 1) for line in out.read_text().splitlines()) if out.exists() else {}
    left = [mutant for mutant in sample if str(mutant) not in known]
    with ThreadPoolExecutor(os.cpu_count()) as threads, out.open("a") as file:
        for group, result in zip(GROUPS, threads.map(lambda group: run(group, 600), GROUPS), strict=True):
            if result != "survived":
                raise click.ClickException(f"tests of {group} fail without a mutant")
        results = threads.map(lambda mutant: run(mutant.group, seconds, mutant), left)
        for mutant, result in zip(left, results, strict=True):
            known[str(mutant)] = result
            file.write(f"{mutant}\t{result}\n")
            file.flush()
    for group in (*GROUPS, ""):
        found = Counter(known[str(m)] for m in sample if m.group == group or not group)
        click.echo(f"{group or 'all':20} {dict(found)}, {1 - found['survived'] / found.total():.0%} found")


if __name__ == "__main__":
    main()
