"""Experiments: a YAML file becomes cells, each cell one run, each run one row of runs.csv.

    config_files  experiment files: those shipped, their keys, and how files, profiles and entries override one another
    config        keys to an `experiment`: data sets x methods, settings, parameter selection
    samples       a data set's name to rows: subsampled, split into training and test rows, parts held out in turn
    plan          an experiment to chains of cells, each with a run id, what a search selects, and what is left to do
    run           one cell, or a chain along C, to results and rows
    record        one run to one row, with machine and software columns
    runner        parameter search, then reported runs; skips finished chains, stores each record as it arrives
    executors     where chains run: in this process, in worker processes, on a Dask cluster
    store         runs.csv, traces/ and log.jsonl, safe against kills; runs reused from other folders

`cross_validation`, `probability` and `prediction` are ``fwsvm cv`` and ``easy``, ``train --probability`` and
``predict``; `cluster_training` has the rows of ``--scheduler``.
"""
