"""Names that a shell completes: data sets, methods, kernels, experiments; each beside the files there are."""

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[Any]]


def _from(names: Callable[[], Iterable[str]], *, files: bool = False) -> Complete:
    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in sorted(names()) if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")] if files else found

    return complete


def _datasets() -> Iterable[str]:
    from fwsvm.data import lockfile

    return lockfile.read().entries


def _experiments() -> Iterable[str]:
    from fwsvm.experiments.shipped import shipped_names

    return shipped_names()


def _methods() -> Iterable[str]:
    from fwsvm.solvers import METHODS

    return METHODS


def _kernels() -> Iterable[str]:
    from fwsvm.kernels.kernel import KERNELS

    return KERNELS


datasets, experiments = _from(_datasets, files=True), _from(_experiments, files=True)
methods, kernels = _from(_methods), _from(_kernels)
