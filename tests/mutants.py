"""Measure what share of small faults in the code the tests find: ``python -m tests.mutants``, or ``make mutants``.

cosmic-ray makes the faults (mutants): one operator, number or condition changed. A sample of them, fixed by a seed and
equal for each group, is run, each against the tests that reach it, until one fails. Nothing on disk is changed: a
mutant takes the place of its module when that is imported. Machine code is compiled anew for it and for what is built
on it; the rest is read from the cache. Results are appended to a file: a second run continues the first.
"""

import ast
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parent.parent
VARIABLE = (
    "FWSVM_MUTANT"  # in the environment of a test run: module, file of its mutated source, layers to compile
)
#: Layers of compiled code from the lowest; each is compiled into those after it.
LAYERS = ("numerics", "kernels", "problems", "solvers")

#: For each group, the sources that are mutated and the tests that reach them, the quickest first.
METHODS = "solvers/test_simplex.py solvers/test_contract.py solvers/test_path.py"
GROUPS = {
    "engine": ("solvers/frank_wolfe/engine.py solvers/frank_wolfe/run.py", METHODS),
    "moves": ("solvers/frank_wolfe/moves.py solvers/frank_wolfe/*swap*.py", METHODS),
    "simplex certificate": (
        "problems/simplex_qp.py",
        "problems/test_simplex_qp.py solvers/test_contract.py solvers/test_newton.py test_where_rows_are.py",
    ),
    "box certificate": (
        "problems/box*.py",
        "problems/test_box_qp.py problems/test_multiple.py solvers/test_linear.py solvers/test_contract.py",
    ),
    "hinge certificate": ("problems/hinge.py", "solvers/test_stochastic.py solvers/test_contract.py"),
    "chunking": (
        "solvers/chunking/*.py",
        "solvers/test_chunking.py solvers/test_contract.py test_where_rows_are.py",
    ),
    "store": (
        "experiments/store.py",
        "experiments/test_store.py experiments/test_resume.py cli/test_grid.py",
    ),
    "plan": ("experiments/plan.py", "experiments/test_plan.py experiments/test_resume.py"),
    "svmlight": ("data/formats/svmlight*.py", "data/test_svmlight.py data/test_parsed.py"),
    "model files": ("problems/model_files.py", "problems/test_model_files.py"),
}
#: Operators of cosmic-ray that change no result: of annotations, and of decorators.
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
        tree, places = get_ast(source.read_text("utf-8")), {}
        for name in sorted(n for n in operator_names() if not n.startswith(VOID)):
            positions = (p for node in ast_nodes(tree) for p in get_operator(name)().mutation_positions(node))
            for occurrence, (start, _) in enumerate(positions):
                mutant = Mutant(group, source.relative_to(ROOT).as_posix(), name, occurrence, start[0])
                places.setdefault(start, []).append(mutant)
        yield from places.values()


def layers_to_compile(mutant: Mutant) -> tuple[str, ...]:
    """Return the packages whose machine code may hold the mutated line: one in no function for Python alone.

    Those have annotations here, and no decorator.
    """
    nodes = ast.walk(ast.parse((ROOT / mutant.source).read_text("utf-8")))
    every = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    python = [node for node in every if node.returns is not None and not node.decorator_list]
    if any(node.lineno <= mutant.line <= (node.end_lineno or 0) for node in python):
        return ()
    layer = mutant.source.split("/")[1]
    return LAYERS[LAYERS.index(layer) :] if layer in LAYERS else (layer,)


def run(mutant: Mutant, seconds: int) -> str:
    """Return "killed", "survived", "endless" or "broken" (the tests could not run)."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    code = mutate_code(
        (ROOT / mutant.source).read_text("utf-8"), get_operator(mutant.operator)(), mutant.occurrence
    )
    module = mutant.source.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    tests = [f"tests/{path}" for path in GROUPS[mutant.group][1].split()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-xqq",
        "-p",
        "tests.mutants",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(code)
        file.flush()
        given = os.environ | {VARIABLE: " ".join((module, file.name, *layers_to_compile(mutant)))}
        limited = ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh", *command]
        done = subprocess.run(
            limited, cwd=ROOT, env=given, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    return {0: "survived", 1: "killed", 2: "killed", 4: "broken"}.get(
        done.returncode, "endless" if done.returncode < 0 else "killed"
    )


def pytest_load_initial_conftests() -> None:
    """Import the mutant in place of its module, and read no machine code of the layers built on it."""
    if VARIABLE not in os.environ:
        return
    module, file, *layers = os.environ[VARIABLE].split()

    class Finder:
        @staticmethod
        def find_spec(name: str, *_given: object) -> object:
            if name != module:
                return None
            sys.meta_path.remove(Finder)
            spec = importlib.util.find_spec(name)
            place = spec.origin
            spec.loader.get_code = lambda _name: compile(Path(file).read_text("utf-8"), place, "exec")
            return spec

    sys.meta_path.insert(0, Finder)
    from fwsvm.numerics.compile import _Cache as Cache

    load, save = Cache.load_overload, Cache.save_overload
    prefixes = tuple(f"fwsvm.{layer}." for layer in layers)

    def is_stale(cache: Cache) -> bool:
        return bool(layers) and cache._module.startswith(prefixes)

    Cache.load_overload = lambda self, *given: None if is_stale(self) else load(self, *given)
    Cache.save_overload = lambda self, *given: None if is_stale(self) else save(self, *given)


@click.command()
@click.option("--size", default=250, show_default=True, help="Number of mutants, equally many of each group.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--seconds", default=300, show_default=True, help="Processor time after which tests count as endless."
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
        for mutant, result in zip(left, threads.map(lambda mutant: run(mutant, seconds), left), strict=True):
            known[str(mutant)] = result
            file.write(f"{mutant}\t{result}\n")
            file.flush()
    for group in (*GROUPS, ""):
        found = Counter(known[str(m)] for m in sample if m.group == group or not group)
        click.echo(f"{group or 'all':20} {dict(found)}, {1 - found['survived'] / found.total():.0%} found")


if __name__ == "__main__":
    main()
