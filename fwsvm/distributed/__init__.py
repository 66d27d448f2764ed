"""Training on a Dask cluster: rows stay with the workers, the working set is with the coordinator.

    block           a worker's rows: what it reads, and what it computes with them
    look            a worker's part of a look at all rows: q, and what it says of certificate and next chunk
    sums            how far rows are apart and the ranges of features, from the parts of partitions
    cluster         the connection: tasks sent, errors of workers as sentences, versions compared
    table           the coordinator's view of all rows: which partition has which, and questions to all of them
    pair_rows       all rows of two classes: drawn from, looked at, certified
    working_set     the rows that the coordinator has
    folds           parts of the rows that are held out in turn
    run             a `Solver`: the rounds of `fwsvm.solvers.chunking` with rows on workers
    machine_parts   a machine sent to the workers
    fit             data and settings to a certified machine

Partitions are tasks of Dask's: those of a worker that dies are read again by another, as Dask sees fit.
"""
