"""The papers' results as named checks, carried out on our cells and on the papers' printed numbers.

model       a claim, the facts that its check is made of, and the view of cells that checks use
checks      comparisons, speed-ups and tests of significance that checks are made of
evaluate    the claims of `fwsvm.analysis.papers` with their findings; show: as text
"""
