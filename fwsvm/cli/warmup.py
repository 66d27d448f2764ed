"""``fwsvm warmup``: compile in advance what later runs need."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwsvm.solvers.registry import Method

ROWS, FEATURES, STEPS = 80, 4, 300
FIRST_SECONDS, SECONDS = (
    30,
    5,
)  # processor time of the first part, which all share, and of a further one, measured


@click.command()
@click.option(
    "--method", "-m", "methods", multiple=True, help="Only this one; may be repeated [default: all]."
)
@click.option("--kernel", "kernels", multiple=True,
              help="For this kernel, and without --method all methods that have it; may be repeated "
              "[default: rbf, or the method's only one].")  # fmt: skip
def command(methods: tuple[str, ...], kernels: tuple[str, ...]) -> None:
    """Compile everything now, so that later runs start at once.

    Without this command, solvers, kernels and the file reader are compiled when first used. The code is kept for every
    later process, until fwsvm itself changes.
    """
    from fwsvm.files.folders import code_folder
    from fwsvm.solvers import METHODS, method

    names = ["auto" if name == "nested" else name for name in methods or METHODS]  # nested runs auto's code
    chosen = [method(name) for name in dict.fromkeys(names)]
    asked = [(each, kernel) for each in chosen for kernel in _kernels(each, kernels, named=bool(methods))]
    jobs: list[tuple[str, Callable[[], None]]] = [("file reader", _read)]
    for each, kernel in asked:
        jobs += [(f"{each.name}, {label}", job) for label, job in _trainings(each, kernel)]
    about = FIRST_SECONDS + SECONDS * len(jobs)
    click.echo(f"{len(jobs)} parts; about {about} s of one processor where nothing is compiled yet", err=True)
    started = time.perf_counter()
    for number, (label, job) in enumerate(jobs, 1):
        began = time.perf_counter()
        job()
        click.echo(f"[{number}/{len(jobs)}] {label}: {time.perf_counter() - began:.1f} s", err=True)
    click.echo(f"Ready after {time.perf_counter() - started:.1f} s; compiled code is in {code_folder()}")


def _kernels(method: "Method", asked: tuple[str, ...], *, named: bool) -> list[str]:
    """Return the kernels to compile a method for; `UsageError` if one that was named supports none of those asked."""
    from fwsvm.errors import UsageError
    from fwsvm.kernels.kernel import family
    from fwsvm.solvers import FAMILIES

    known = FAMILIES[method.family]
    wanted = [family(name).name for name in asked] or [known.default_kernel]
    found = [name for name in wanted if known.kernels is None or name in known.kernels]
    if named and not found:
        raise UsageError(
            f"{method.name} works with the {' or '.join(known.kernels or ())} kernel, not with {', '.join(wanted)}"
        )
    return found


def _trainings(method: "Method", kernel: str) -> list[tuple[str, Callable[[], None]]]:
    """Return labelled training jobs: full and sampled search, and double precision, of columns and of factors."""
    from fwsvm.solvers import FAMILIES
    from fwsvm.solvers.second_compiler import WITH_NEWTON_STEPS

    jobs: list[tuple[str, Callable[[], None]]] = [(kernel, lambda: _train(method.name, kernel))]
    if FAMILIES[method.family].solve_at_once is not None:
        jobs.append((f"{kernel}, small problems", lambda: _train(method.name, kernel, max_iterations=None)))
    if "sampled" in FAMILIES[method.family].searches:
        jobs.append((f"{kernel}, sampled", lambda: _train(method.name, kernel, search="sampled")))
    if FAMILIES[method.family].searches:
        jobs.append((f"{kernel}, double precision", lambda: _train(method.name, kernel, tolerance=1e-15)))
    if method.name in WITH_NEWTON_STEPS:
        # C alone tells the rows apart: single precision holds no factor of theirs
        jobs.append((f"{kernel}, rows twice", lambda: _train(method.name, kernel, times=2, C=1e9)))
    return jobs


def _train(method: str, kernel: str, times: int = 1, **given: Any) -> None:
    """Compile runs on dense and on sparse rows, train on three small clusters, each row so many times, and predict."""
    import numpy as np

    from fwsvm.kernels.kernel import family
    from fwsvm.problems.precomputed import with_numbers
    from fwsvm.solvers import Settings, fit, resolve
    from fwsvm.solvers.warm_up import compile_runs

    codes = np.arange(ROWS) % 3
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES)) + codes[:, None]
    X, codes = np.repeat(X, times, axis=0), np.repeat(codes, times)
    if family(kernel).given:
        X = with_numbers(X @ X.T)
    settings = Settings(method=method, kernel=kernel, cache_mib=1, **{"max_iterations": STEPS} | given)
    mixed = np.vstack([np.ones(2 * FEATURES), np.eye(2 * FEATURES)])
    compile_runs(resolve(settings, mixed), mixed)
    fit(X, codes, ("1", "2", "3"), settings).model.predict(X)


def _read() -> None:
    """Write a small file in LIBSVM's format, and read it."""
    import numpy as np

    from fwsvm.data.formats import svmlight

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.svm")
        svmlight.write(file, np.eye(FEATURES), np.array([1.0, -1.0] * (FEATURES // 2)))
        svmlight.read(file)
