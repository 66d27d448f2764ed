"""The columns of runs.csv, which are the keys of ``--json`` too: every name, in order, with its sentence."""

from fwsvm.status import Status

#: The schema of the rows that this version writes. Rows without a schema are of schema 1.
SCHEMA = 4

#: Name of each column, in the order written, and what stands in it. Empty where it does not apply.
COLUMNS = {
    "run_id": "Hash of all that decides the numbers: data set, settings, limits, seeds and fold.",
    "experiment": "Name of the experiment.",
    "profile": "Size at which the experiment ran.",
    "role": "select: a run of the parameter search; final: a reported run.",
    "status": f"How the run ended: {', '.join(map(str, Status))}.",
    "message": "The status in a sentence, with its particulars.",
    "dataset": "Name of the data set, or its path.",
    "data_sha256": "Digest of the raw bytes and of the split, scaling and subsample applied.",
    "rows": "Training rows m; those of the sample where flags has trained_on_sample.",
    "features": "Features n.",
    "classes": "Number of classes.",
    "subproblems": "Two-class problems solved.",
    "method": "Name of the method.",
    "kernel": "Name of the kernel.",
    "gamma": "The kernel's gamma.",
    "sigma2": "sigma^2 = 1 / (2 gamma), for rbf.",
    "width_rule": "Rule by which gamma follows from the training rows; held-out where those decided.",
    "degree": "Degree of the polynomial kernel.",
    "coef0": "Constant of the polynomial kernel.",
    "C": "Penalty C.",
    "lambda": "lambda = 1 / (C m).",
    "search": "How simplex methods look for the ascent vertex: full or sampled.",
    "stop": "Stopping rule.",
    "tolerance": "Tolerance of the stopping rule.",
    "seed": "Seed of the start and of the sampling.",
    "fold": "Which part was held out in the parameter search, counted from 0.",
    "repetition": "Which repetition this is, counted from 0.",
    "objective": "What the method minimises, by its family (R, or the primal), summed over subproblems.",
    "gap": "Bound on how far the objective is from the optimum, summed over subproblems.",
    "relative_gap": "gap / objective; the largest over subproblems.",
    "gap_kind": "exact (from scratch, all points), sampled, estimate (with standard error) or none.",
    "certified": "Whether the gap is exact and within the tolerance.",
    "primal": "Primal objective of the standard form, from scratch.",
    "dual": "Dual objective of the standard form, from scratch.",
    "support_vectors": "Training rows with a non-zero weight; in one-versus-rest models once for each class.",
    "iterations": "Iterations.",
    "steps": "Steps taken: iterations that changed the point, or coordinates visited.",
    "kernel_evaluations": "Kernel values computed.",
    "cache_hit_rate": "Part of the requested kernel columns that were in the cache, 0 to 1.",
    "protocol": "Protocol of a method that samples rows or stops by the MEB rule.",
    "parameters": "JSON of the parameters that are not the method's defaults.",
    "chosen": "The methods that auto chose.",
    "flags": "weak_guarantee below_majority not_finite trained_on_sample train_unmeasured test_unmeasured first_use.",
    "time_limit": "Limit of the algorithm's seconds.",
    "max_iterations": "Limit of the iterations.",
    "test_accuracy": "Part of the test rows (in the search: of the rows held out) predicted right, 0 to 1.",
    "train_accuracy": "Part of the training rows predicted right, 0 to 1; empty above 5e9 kernel values.",
    "load_seconds": "Reading, parsing and scaling; on first use also compiling.",
    "compile_seconds": "Compiling, or loading compiled code.",
    "train_seconds": "The algorithm alone.",
    "predict_seconds": "Predicting the test rows; of runs predicted together, each run's share.",
    "peak_memory_mib": "Most memory the process held during the run, in MiB.",
    "threads": "Threads of the run.",
    "cache_mib": "Memory for kernel columns, in MiB.",
    "parallel_cells": "How many runs could run in parallel.",
    "shared": "Whether kernel values or a warm start came from another run.",
    "machine": "Name of the computer.",
    "cpu": "Its processor.",
    "blas": "The matrix library under numpy.",
    "python": "Version of Python.",
    "numpy": "Version of numpy.",
    "numba": "Version of numba.",
    "fwsvm": "Version of fwsvm.",
    "commit": "Commit of the checkout that fwsvm ran from.",
    "started_utc": "When the run started, ISO 8601, UTC.",
    "schema": "Version of the set of columns when the row was written; empty in rows older than schemas.",
    "source": "The source of the data set, in datasets.lock, that its files are from.",
}
#: Columns whose fields are text, and true or false; those of all others are numbers (empty: NaN).
TEXTS = frozenset(
    """
    run_id experiment profile role status message dataset data_sha256 method kernel width_rule
    search stop gap_kind protocol parameters chosen flags machine cpu blas python numpy numba fwsvm
    commit started_utc source
    """.split()  # noqa: SIM905
)
TRUTHS = frozenset(("certified", "shared"))
#: Without these a row cannot be placed or judged; all others may be absent, and are empty then.
REQUIRED = """
    run_id experiment profile role status dataset data_sha256 rows method kernel C tolerance seed
    fold repetition test_accuracy train_seconds support_vectors
""".split()  # noqa: SIM905
#: Columns of traces/<run id>.csv.
TRACE_COLUMNS = {
    "seconds": "On the clock of the algorithm.",
    "iteration": "Iterations so far.",
    "objective": "As tracked by the method.",
    "gap": "As tracked by the method; empty where it does not know one.",
    "support_vectors": "Rows with a non-zero weight.",
}
