"""What is minimised, what a point of it is worth, and what comes of it.

One file a problem, with its objective, its bound and so its gap, recomputed from scratch in double precision:
`simplex_qp` (fw, mfw, swap, swap-2o, cvm, newton, chunking, decomposition, auto), `box_qp` (liblinear, avsf) and
`hinge` (wolfe, pegasos, scs). `machines` are what a solution predicts with, `model_files` how it is kept.
"""
