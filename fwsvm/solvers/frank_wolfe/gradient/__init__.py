"""How much of the gradient q = K~ alpha a run keeps, one storage mode a file.

`full` keeps q over all m rows; a step reads one or two kernel columns, and the gap is exact. `sampled` (003 section
4.2) looks at some rows drawn at random and keeps q on the active set alone: the kernel values it needs, between the
candidates and the active set, do not depend on m, and its gap proves nothing. `tracked` draws the same candidates but
reads their q off, for it keeps q over all rows as `full` does: what `sampled` becomes once that is cheaper
(`fwsvm.solvers.frank_wolfe.run`). The points are the same but for rounding.

`interface` says what the engine asks of a storage mode, and `storage` is what a run has. Kernel values are computed
outside the compiled loop, which comes back with ``now.stop`` when it misses some; so it is compiled once for all
kernels.
"""
