"""Constants that decide how fast a run on a cluster is, and nothing else."""

#: Bytes of a message of support vectors; Dask warns from 10 MB on.
MESSAGE_BYTES = 8e6
#: Copies of a working set's rows at a time, in the inner run, in both precisions, and while the next one is gathered.
COPIES = 5
