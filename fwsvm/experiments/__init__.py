"""Experiments: a YAML file becomes cells, each cell one run, each run one row of runs.csv.

    config        a YAML file to an `experiment`: data sets x methods, settings, parameter selection
    shipped       experiments that come with fwsvm; only: a part of an experiment
    samples       a data set's name to rows: subsampled and split for validation, stratified and seeded
    plan          an experiment to cells, each with a run id, and to tasks; forecast: the state of each cell
    method_labels names of methods in rows: what was changed, and what tells two alike apart
    runner        parameter search, then reported runs; skips finished cells, stores each record as it arrives
    executors     where tasks run: in this process, in worker processes, on a Dask cluster
    forkserver    the process that workers are forked from
    execute       a task to records: train along C, certify, predict
    accuracy      of the machine on test and training rows; scores, probability: what else is said of predictions
    record        one run to one row; environment: machine and software columns
    store         runs.csv, traces/ and log.jsonl, safe against kills; runs reused from other folders
    written_config  experiment.yaml beside them
    selection     rows of a search to C and width; ties to the smallest C, then the largest sigma^2
    racing        the runs of a search; in a race candidates that cannot win leave early
    summary       the final table; time_left: how long the rest takes

`training`, `cross_validation`, `width_and_penalty` and `prediction` are `fwsvm train`, `cv`, `easy` and `predict`;
`cluster_training`, `cluster_validation` and `cluster_prediction` are those with `--scheduler`.
"""
