"""A part of an experiment: some of its methods on some of its data sets."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from fwsvm.errors import UsageError, nearest, shown
from fwsvm.experiments.experiment import Experiment, Trial

COLUMNS: dict[str, Callable[[Trial], str]] = {
    "method": lambda trial: trial.finals.base.method,
    "dataset": lambda trial: trial.data.name,
}


def only(experiment: Experiment, conditions: Sequence[str]) -> Experiment:
    """Return the experiment with the trials that the conditions admit.

    A condition is ``COLUMN=VALUE``, several with commas between them; the columns are method and dataset, and a value
    may have the wildcards ``*`` and ``?``. Several values of one column admit each of them. The runs of the parameter
    search stay those of the whole experiment, so that the runs admitted are the same as in it.

    Raises
    ------
    UsageError
        A condition that is none, or that no method or data set of the experiment meets.
    """
    trials = experiment.trials
    admitted: dict[str, list[str]] = {}
    for condition in (part.strip() for given in conditions for part in given.split(",")):
        column, equals, value = condition.partition("=")
        if not equals or column not in COLUMNS:
            raise UsageError(f"--only {condition}: give method=NAME or dataset=NAME")
        names = list(dict.fromkeys(map(COLUMNS[column], trials)))
        if not any(fnmatchcase(name, value) for name in names):
            hint = nearest(value, names, f"it has {', '.join(names[:12])}")
            raise UsageError(
                f"--only {column}={shown(value)}: {experiment.name} has no {column} of that name; {hint}"
            )
        admitted.setdefault(column, []).append(value)
    left = tuple(
        trial
        for trial in trials
        if all(any(fnmatchcase(COLUMNS[c](trial), value) for value in some) for c, some in admitted.items())
    )
    if not left:
        raise UsageError(
            f"--only {','.join(conditions)}: {experiment.name} has no such method on such a data set"
        )
    return replace(experiment, trials=left)
