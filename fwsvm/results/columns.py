"""The columns of runs.csv, which are the keys of ``--json`` too: every name, in order, with its kind and sentence."""

from dataclasses import dataclass
from typing import Literal

from fwsvm.status import Status

#: The schema of the rows that this version writes. Rows without a schema are of schema 1.
SCHEMA = 4

Kind = Literal["text", "number", "truth"]
TEXT: Kind = "text"
NUMBER: Kind = "number"
TRUTH: Kind = "truth"
STATUSES = tuple(map(str, Status))
Variability = Literal["asked", "found", "volatile"]
FOUND: Variability = "found"
VOLATILE: Variability = "volatile"


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    kind : {"text", "number", "truth"}
        What its fields hold: text, a number (empty: NaN), or true and false.
    sentence : str
    since : int
        The first schema that has it.
    variability : {"asked", "found", "volatile"}
        Whether it says which run this is and on what data; what the run came to, which rounding may change; or time,
        place, versions, memory and company, in which two runs alike to the last bit differ.
    """

    kind: Kind
    sentence: str
    since: int = 1
    variability: Variability = "asked"


def _found(kind: Kind, sentence: str) -> Column:
    return Column(kind, sentence, variability=FOUND)


def _volatile(kind: Kind, sentence: str, since: int = 1) -> Column:
    return Column(kind, sentence, since, VOLATILE)


#: Name of each column, in the order written, and what stands in it. Empty where it does not apply.
COLUMNS: dict[str, Column] = {
    "run_id": Column(
        TEXT, "Hash of all that decides the numbers: data set, settings, limits, seeds and fold."
    ),
    "experiment": Column(TEXT, "Name of the experiment."),
    "profile": Column(TEXT, "Size at which the experiment ran."),
    "role": Column(TEXT, "select: a run of the parameter search; final: a reported run."),
    "status": _found(TEXT, f"How the run ended: {', '.join(STATUSES)}."),
    "message": _volatile(TEXT, "The status in a sentence, with its particulars."),
    "dataset": Column(TEXT, "Name of the data set, or its path."),
    "data_sha256": Column(TEXT, "Digest of the raw bytes and of the split, scaling and subsample applied."),
    "rows": Column(NUMBER, "Training rows m; those of the sample where flags has trained_on_sample."),
    "features": Column(NUMBER, "Features n."),
    "classes": Column(NUMBER, "Number of classes."),
    "subproblems": Column(NUMBER, "Two-class problems solved."),
    "method": Column(TEXT, "Name of the method."),
    "kernel": Column(TEXT, "Name of the kernel."),
    "gamma": Column(NUMBER, "The kernel's gamma."),
    "sigma2": Column(NUMBER, "sigma^2 = 1 / (2 gamma), for rbf."),
    "width_rule": Column(
        TEXT,
        "Rule by which gamma follows from the training rows; held-out where rows held out decided; empty where "
        "gamma was given.",
    ),
    "degree": Column(NUMBER, "Degree of the polynomial kernel."),
    "coef0": Column(NUMBER, "Constant of the polynomial kernel."),
    "C": Column(NUMBER, "Penalty C."),
    "lambda": Column(NUMBER, "lambda = 1 / (C m)."),
    "search": Column(TEXT, "How simplex methods look for the ascent vertex: full or sampled."),
    "stop": Column(TEXT, "Stopping rule."),
    "tolerance": Column(NUMBER, "Tolerance of the stopping rule."),
    "seed": Column(NUMBER, "Seed of the start and of the sampling."),
    "fold": Column(NUMBER, "Which part was held out in the parameter search, counted from 0."),
    "repetition": Column(NUMBER, "Which repetition this is, counted from 0."),
    "objective": _found(
        NUMBER, "What the method minimises, by its family (R, or the primal), summed over subproblems."
    ),
    "gap": _found(NUMBER, "Bound on how far the objective is from the optimum, summed over subproblems."),
    "relative_gap": _found(NUMBER, "gap / objective; the largest over subproblems."),
    "gap_kind": _found(
        TEXT,
        "exact (from scratch, all points), sampled, estimate (with standard error) or none.",
    ),
    "certified": _found(TRUTH, "Whether the gap is exact and within the tolerance."),
    "primal": _found(NUMBER, "Primal objective of the standard form, from scratch."),
    "dual": _found(NUMBER, "Dual objective of the standard form, from scratch."),
    "support_vectors": _found(
        NUMBER,
        "Training rows with a non-zero weight; in one-versus-rest models a row counts once for each class.",
    ),
    "iterations": _found(NUMBER, "Iterations."),
    "steps": _found(NUMBER, "Steps taken: iterations that changed the point, or coordinates visited."),
    "kernel_evaluations": _found(NUMBER, "Kernel values computed."),
    "cache_hit_rate": _volatile(
        NUMBER, "Part of the requested kernel columns that were in the cache, 0 to 1."
    ),
    "protocol": Column(TEXT, "Protocol of a method that samples rows or stops by the MEB rule.", 4),
    "parameters": Column(TEXT, "JSON of the parameters that are not the method's defaults.", 4),
    "chosen": Column(TEXT, "The methods that auto chose.", 4, FOUND),
    "flags": _volatile(
        TEXT,
        "Words: weak_guarantee, below_majority, not_finite, trained_on_sample, train_unmeasured, "
        "test_unmeasured, first_use.",
        4,
    ),
    "time_limit": Column(NUMBER, "Limit of the algorithm's seconds.", 4),
    "max_iterations": Column(NUMBER, "Limit of the iterations.", 4),
    "test_accuracy": _found(
        NUMBER, "Part of the test rows (in the search: of the rows held out) predicted right, 0 to 1."
    ),
    "train_accuracy": _found(
        NUMBER,
        "Part of the training rows predicted right, 0 to 1; empty above 5e9 kernel values, and for samples.",
    ),
    "load_seconds": _volatile(NUMBER, "Reading, parsing and scaling; on first use also compiling."),
    "compile_seconds": _volatile(NUMBER, "Compiling, or loading compiled code."),
    "train_seconds": _volatile(NUMBER, "The algorithm alone."),
    "predict_seconds": _volatile(
        NUMBER, "Predicting the test rows; of runs predicted together, each run's share."
    ),
    "peak_memory_mib": _volatile(NUMBER, "Most memory the process held during the run, in MiB."),
    "threads": _volatile(NUMBER, "Threads of the run."),
    "cache_mib": _volatile(NUMBER, "Memory for kernel columns, in MiB."),
    "parallel_cells": _volatile(NUMBER, "How many runs could run in parallel."),
    "shared": _volatile(TRUTH, "Whether kernel values or a warm start came from another run."),
    "machine": _volatile(TEXT, "Name of the computer."),
    "cpu": _volatile(TEXT, "Its processor."),
    "blas": _volatile(TEXT, "The matrix library under numpy."),
    "python": _volatile(TEXT, "Version of Python."),
    "numpy": _volatile(TEXT, "Version of numpy."),
    "numba": _volatile(TEXT, "Version of numba."),
    "fwsvm": _volatile(TEXT, "Version of fwsvm."),
    "commit": _volatile(TEXT, "Commit of the checkout that fwsvm ran from."),
    "started_utc": _volatile(TEXT, "When the run started, ISO 8601, UTC."),
    "schema": _volatile(
        NUMBER, "Version of the set of columns when the row was written; empty in rows older than schemas.", 2
    ),
    "source": Column(TEXT, "The source of the data set, in datasets.lock, that its files are from.", 3),
}

#: Without these a row cannot be placed or judged; all others may be absent, and are empty then.
REQUIRED = (
    "run_id",
    "experiment",
    "profile",
    "role",
    "status",
    "dataset",
    "data_sha256",
    "rows",
    "method",
    "kernel",
    "C",
    "tolerance",
    "seed",
    "fold",
    "repetition",
    "test_accuracy",
    "train_seconds",
    "support_vectors",
)
#: Columns of traces/<run id>.csv.
TRACE_COLUMNS: dict[str, Column] = {
    "seconds": Column(NUMBER, "On the clock of the algorithm."),
    "iteration": Column(NUMBER, "Iterations so far."),
    "objective": Column(NUMBER, "As tracked by the method."),
    "gap": Column(NUMBER, "As tracked by the method; empty where it does not know one."),
    "support_vectors": Column(NUMBER, "Rows with a non-zero weight."),
}
