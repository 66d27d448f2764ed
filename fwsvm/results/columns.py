"""The columns of runs.csv, which are the keys of ``--json`` too: every name, in order, with its kind and sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fwsvm.plugins import add_to_registry
from fwsvm.results.kinds import Identity, Kind, Number, Text, Truth, Word
from fwsvm.status import Status

#: The schema of the rows that this version writes. Rows without a schema are of schema 1.
SCHEMA = 3

COUNT, FRACTION, REAL = Number(0, 1e18), Number(0, 1), Number()
SECONDS, MEBIBYTES = Number(0, 1e12), Number(0, 1e12)
Variability = Literal["asked", "found", "volatile"]
FOUND: Variability = "found"
VOLATILE: Variability = "volatile"
STATUSES = tuple(map(str, Status))


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    kind : Kind
        What its fields may hold.
    sentence : str
    since : int
        The first schema that has it.
    variability : {"asked", "found", "volatile"}
        Whether it says which run this is and on what data; what the run came to, which rounding may change; or time,
        place, versions, memory and company, in which two runs alike to the last bit differ.
    measure : callable (`fwsvm.solvers.Result`, mapping of the other columns) -> value, or None
        What stands in it for a result; None where the package fills it in itself.
    """

    kind: Kind
    sentence: str
    since: int = 1
    variability: Variability = "asked"
    measure: Callable[[Any, Mapping[str, Any]], Any] | None = None


#: Name of each column, in the order written, and what stands in it. Empty where it does not apply.
COLUMNS: dict[str, Column] = {
    "run_id": Column(
        Identity(), "Hash of all that decides the numbers: data, settings, limits, seeds, fold and code."
    ),
    "experiment": Column(Text(), "Name of the experiment."),
    "profile": Column(Text(), "Size at which the experiment ran."),
    "role": Column(
        Word(("select", "final")), "select: a run of the parameter search; final: a reported run."
    ),
    "status": Column(
        Word(STATUSES, filled=True),
        f"How the run ended: {', '.join(STATUSES[:-1])} or error.",
        variability=FOUND,
    ),
    "message": Column(Text(20_000), "The status in a sentence, with its particulars.", variability=VOLATILE),
    "dataset": Column(Text(), "Name of the data set, or its path."),
    "data_sha256": Column(Text(), "Digest of the raw bytes and of the split, scaling and subsample applied."),
    "rows": Column(
        Number(1, 1e18), "Training rows m; of a sample where the method says that the machine is of one."
    ),
    "features": Column(COUNT, "Features n."),
    "classes": Column(COUNT, "Number of classes."),
    "subproblems": Column(COUNT, "Two-class problems solved."),
    "method": Column(
        Text(),
        "Name of the method, with those of its parameters that were set; in brackets what auto chose.",
    ),
    "kernel": Column(Text(), "Name of the kernel."),
    "gamma": Column(REAL, "The kernel's gamma."),
    "sigma2": Column(REAL, "sigma^2 = 1 / (2 gamma), for rbf."),
    "width_rule": Column(
        Text(),
        "Rule by which gamma follows from the training rows; held-out where rows held out decided; empty where "
        "gamma was given.",
    ),
    "degree": Column(REAL, "Degree of the polynomial kernel."),
    "coef0": Column(REAL, "Constant of the polynomial kernel."),
    "C": Column(REAL, "Penalty C."),
    "lambda": Column(REAL, "lambda = 1 / (C m)."),
    "search": Column(Text(), "How simplex methods look for the ascent vertex: full or sampled."),
    "stop": Column(Text(), "Stopping rule."),
    "tolerance": Column(REAL, "Tolerance of the stopping rule."),
    "seed": Column(Number(0, 1e40), "Seed of the start and of the sampling."),
    "fold": Column(COUNT, "Which part was held out in the parameter search, counted from 0."),
    "repetition": Column(COUNT, "Which repetition this is, counted from 0."),
    "objective": Column(
        REAL,
        "What the method minimises, by its family (R, or the primal), summed over subproblems.",
        variability=FOUND,
    ),
    "gap": Column(
        REAL,
        "Bound on how far the objective is from the optimum, summed over subproblems.",
        variability=FOUND,
    ),
    "relative_gap": Column(REAL, "gap / objective; the largest over subproblems.", variability=FOUND),
    "gap_kind": Column(
        Word(("exact", "sampled", "estimate", "none")),
        "exact (from scratch, all points), sampled, estimate (with standard error) or none.",
        variability=FOUND,
    ),
    "certified": Column(Truth(), "Whether the gap is exact and within the tolerance.", variability=FOUND),
    "primal": Column(REAL, "Primal objective of the standard form, from scratch.", variability=FOUND),
    "dual": Column(REAL, "Dual objective of the standard form, from scratch.", variability=FOUND),
    "support_vectors": Column(
        COUNT,
        "Training rows with a non-zero weight; of one-versus-rest machines one counts for each class.",
        variability=FOUND,
    ),
    "iterations": Column(COUNT, "Iterations.", variability=FOUND),
    "steps": Column(
        COUNT, "Steps taken: iterations that changed the point, or coordinates visited.", variability=FOUND
    ),
    "kernel_evaluations": Column(COUNT, "Kernel values computed.", variability=FOUND),
    "cache_hit_rate": Column(
        FRACTION, "Part of the kernel columns asked for that were at hand, 0 to 1.", variability=VOLATILE
    ),
    "test_accuracy": Column(
        FRACTION,
        "Part of the test rows (in the search: of the rows held out) predicted right, 0 to 1.",
        variability=FOUND,
    ),
    "train_accuracy": Column(
        FRACTION,
        "Part of the training rows predicted right, 0 to 1; empty above 5e9 kernel values, and for samples.",
        variability=FOUND,
    ),
    "load_seconds": Column(
        SECONDS,
        "Reading, parsing and scaling; at first compiling, too.",
        variability=VOLATILE,
    ),
    "compile_seconds": Column(SECONDS, "Compiling, or loading compiled code.", variability=VOLATILE),
    "train_seconds": Column(SECONDS, "The algorithm alone.", variability=VOLATILE),
    "predict_seconds": Column(
        SECONDS,
        "Predicting the test rows; of runs predicted together, each run's share.",
        variability=VOLATILE,
    ),
    "peak_memory_mib": Column(
        MEBIBYTES, "Most memory the process held during the run, in MiB.", variability=VOLATILE
    ),
    "threads": Column(COUNT, "Threads of the run.", variability=VOLATILE),
    "cache_mib": Column(MEBIBYTES, "Memory for kernel columns, in MiB.", variability=VOLATILE),
    "parallel_cells": Column(
        COUNT, "How many runs could be going on beside each other.", variability=VOLATILE
    ),
    "shared": Column(
        Truth(), "Whether kernel values or a warm start came from another run.", variability=VOLATILE
    ),
    "machine": Column(Text(), "Name of the computer.", variability=VOLATILE),
    "cpu": Column(Text(), "Its processor.", variability=VOLATILE),
    "blas": Column(Text(), "The matrix library under numpy.", variability=VOLATILE),
    "python": Column(Text(), "Version of Python.", variability=VOLATILE),
    "numpy": Column(Text(), "Version of numpy.", variability=VOLATILE),
    "numba": Column(Text(), "Version of numba.", variability=VOLATILE),
    "fwsvm": Column(Text(), "Version of fwsvm.", variability=VOLATILE),
    "commit": Column(Text(), "Commit of the checkout that fwsvm ran from.", variability=VOLATILE),
    "started_utc": Column(Text(), "When the run started, ISO 8601, UTC.", variability=VOLATILE),
    "schema": Column(
        COUNT,
        "Which columns there were when the row was written; empty before there were schemas.",
        2,
        variability=VOLATILE,
    ),
    "source": Column(Text(), "Which of the sources of the data set its files are of.", 3),
}


def register(name: str, column: Column) -> None:
    """Add a column after those there are; ValueError where the name is taken."""
    add_to_registry(COLUMNS, "column", name, column)


#: Without these a row cannot be placed or judged; all others may be absent, and are empty then.
REQUIRED = (
    "run_id", "experiment", "profile", "role", "status", "dataset", "data_sha256", "rows", "method", "kernel", "C",
    "tolerance", "seed", "fold", "repetition", "test_accuracy", "train_seconds", "support_vectors",
)  # fmt: skip
#: Columns of traces/<run id>.csv.
TRACE_COLUMNS: dict[str, Column] = {
    "seconds": Column(SECONDS, "On the clock of the algorithm."),
    "iteration": Column(COUNT, "Iterations so far."),
    "objective": Column(REAL, "As tracked by the method."),
    "gap": Column(REAL, "As tracked by the method; empty where it does not know one."),
    "support_vectors": Column(COUNT, "Rows with a non-zero weight."),
}
