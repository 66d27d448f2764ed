"""Experiments: a YAML file becomes cells, each cell one run, each run one row of runs.csv.

    config_files  the keys of an experiment file, and how files, profiles and entries override one another
    config        keys to an `experiment`: data sets x methods, settings, parameter selection
    shipped       experiments that come with fwsvm; only: a part of an experiment
    samples       a data set's name to rows: subsampled, and split into training and test rows
    validation    rows held out in turn
    plan          an experiment to chains of cells, each with a run id; forecast: what is left to do
    run           one cell, or a chain along C, to results and rows
    runner        parameter search, then reported runs; skips finished chains, stores each record as it arrives
    executors     where chains run: in this process, in worker processes, on a Dask cluster
    accuracy      of a model on test and training rows; scores, probability: what else is said of predictions
    record        one run to one row; environment: machine and software columns
    store         runs.csv, traces/ and log.jsonl, safe against kills; runs reused from other folders
    written_config  experiment.yaml beside them
    selection     rows of a search to C and width; ties to the smallest C, then the largest sigma^2
    summary       the final table

`cross_validation`, `width_and_penalty` and `prediction` are ``fwsvm cv``, ``easy`` and ``predict``; `cluster_training`,
`cluster_validation` and `cluster_prediction` are those with ``--scheduler``.
"""
