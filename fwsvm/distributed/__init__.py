"""Training on a Dask cluster: rows stay with the workers, the working set is with the coordinator.

    block           a worker's rows: what it reads, what it computes with them, and parts that are held out
    sums            how far rows are apart and the ranges of features, from the parts of partitions
    cluster         the connection: tasks sent, errors of workers as sentences, versions compared
    table           the coordinator's view of all rows: which partition has which, and questions to all of them
    source          all rows of some classes as a `RowSource`
    fit             data and settings to a certified machine

Partitions are tasks of Dask's: those of a worker that dies are read again by another, as Dask sees fit.
"""
