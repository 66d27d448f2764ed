"""Experiments: what exactly is run, and how each run becomes a row that stays.

    config       a YAML file           ->  experiment   data sets x methods, settings, how parameters are chosen
    samples      a data set's name     ->  rows, thinned, divided for validation, by seed and class
    plan         an experiment         ->  cells, each one run with an identity; forecast: what is left of them
    execute      cells, C after C      ->  records: train, predict, measure; whatever fails says so
    executors    many cells            ->  in this process, in workers (of the `nursery`), on a Dask cluster, all alike
    selection    rows of a search      ->  C and the width; ties to the smallest C, then the largest sigma^2
    runner       search, then reported runs, cold and one by one; every row written as its run ends
    store        runs.csv, traces/, log.jsonl, experiment.yaml; a kill costs what was not finished
    columns      every column of a row, with its sentence; record fills them, environment says where it ran
    summary      the table in the end

`training` and `cross_validation` are the same for one setting, without a file: what `fwsvm train` and `fwsvm cv` do.
"""
