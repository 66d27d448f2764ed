"""The least time of each solver on each data set, from a result file of benchopt.

    python benchmarks/benchmark_utils/summary.py RUNS.parquet TABLE.csv

A line has the data set, C, the package, its threads, the form of its rows, the least seconds over repetitions and
forms, accuracy and gap. Times of one thread are those of the processor, which other work on the computer hardly
changes; those of more threads are of the wall. `docs/pictures/peers.py` draws the table.
"""

import sys

import pandas as pd

PACKAGES = {"sklearn": "SVC", "sklearnex": "scikit-learn-intelex"}


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each data set, package and number of threads."""
    package = runs["p_solver_package"].map(PACKAGES).fillna(runs["solver_name"].str.partition("[")[0])
    seconds = runs["objective_processor_seconds"].where(runs["p_solver_threads"] == 1, runs["time"])
    table = pd.DataFrame(
        {
            "data": runs["p_dataset_data"],
            "C": runs["p_dataset_C"],
            "package": package,
            "threads": runs["p_solver_threads"].astype(int),
            "rows": runs["p_solver_rows"],
            "seconds": seconds.round(5),
            "test_accuracy": runs["objective_test_accuracy"].round(5),
            "relative_gap": runs["objective_relative_gap"],
            "chosen": runs["objective_chosen"],
            "cpu": runs["system-processor"],
            "date": runs["run_date"],
        }
    )
    keys = ["data", "C", "package", "threads"]
    return table.loc[table.groupby(keys, sort=False)["seconds"].idxmin()].reset_index(drop=True)


if __name__ == "__main__":
    summary(pd.read_parquet(sys.argv[1])).to_csv(sys.argv[2], index=False)
