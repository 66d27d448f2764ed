"""Training on a Dask cluster: rows stay with the workers, the working set is with the coordinator.

    block           a worker's rows: what it reads, and what it computes with them
    cluster         the connection: tasks sent, errors of workers as sentences, versions compared
    table           the coordinator's view of all rows: questions to all partitions, and a `RowSource`
    fit             data and settings to a certified machine

Partitions are tasks of Dask's: those of a worker that dies are read again by another, as Dask sees fit.
"""
