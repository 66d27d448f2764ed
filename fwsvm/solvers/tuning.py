"""Tuning constants of the solvers: numbers that decide how a run goes and where it ends, never what is certified.

Each has its unit and its evidence: what was seen when it was chosen, or the benchmark in which a change would show.
"None" says that it was chosen by the reason given, or by none, and never measured. What a paper prescribes, bounds of
rounding and limits of memory stand where they are used.
"""

import numpy as np

# ---------------------------------------------------------------- the loop over a run

#: Seconds that a chunk of steps is to take. Evidence: none; an interrupt is answered between two chunks.
CHUNK_SECONDS = 0.05
#: Growth of a chunk at most. Evidence: none; the first chunk is one step, which may take a second.
CHUNK_GROWTH = 4
#: Growth of the steps between two trace points. Evidence: none; twenty points a decade fill a figure.
TRACE_SPACING = 1.12
#: Seconds of a run for each second that goes into looking at where it stands. Evidence: 20,000,000 rows by liblinear
#: (the benchmark), where looks took most of the time.
LOOKS_SHARE = 20.0
#: Seconds of looks for the trace that are no matter. Evidence: a9a by liblinear, where 0.1 was half the run.
FREE_LOOKS = 0.01
#: Seconds between two reports of progress. Evidence: none; what an eye follows.
WATCH_EVERY = 0.2

# ---------------------------------------------------------------- pairs of classes in compiled code

#: Times that a gap from scratch or Newton's steps, and steps in a row, may miss the goal before a pair is left to a run
#: of its own. Evidence: none.
PAIR_CHECKS = 8
#: Kernel values of the pairs that are solved before the first look at a clock without a limit. Evidence: none.
FIRST_VALUES = 1 << 20
#: n^3 divided by this and m is how many steps of swap-2o take as long as a factor of n rows in double precision.
#: Evidence: 27 Gflop/s of a factor, 1.2 ns a row of a step.
PAIR_FACTOR_RATE = 80
#: Rows of the largest factor in double precision. Evidence: a larger one takes as long as a run of its own, where
#: LAPACK factors in single precision.
LARGEST_FACTOR = 1024
#: Features of dense rows from which a path has all inner products at hand. Evidence: searches with 16 and 36 features
#: take as long without (letter, pendigits, satimage), those with 180 and 256 1.4 to 1.7 times as long (dna, usps).
KEPT_SUMS_FROM = 64

# ---------------------------------------------------------------- paths along C

#: Nanoseconds of `fwsvm.solvers.c_path.Run.work` after which deferred certificates are computed and rows recorded.
#: Evidence: a kill loses a second or two of work; the benchmark shows the effect.
CERTIFY_AFTER = 2e9

# ---------------------------------------------------------------- Frank-Wolfe methods

#: Steps between two recomputations of R, against the drift of its recursion. Evidence: none; never by chunks, whose
#: lengths follow the clock and would reach the last bits.
SETTLE_EVERY = 256
#: Share of the gap kept in reserve for the float64 check of a gap from float32 columns. Evidence: with it the first
#: check suffices where runs took a second one before; in time, 0.99 to 1.
MARGIN = 0.01
#: Rows for each active one up to which a scan of all rows beats a walk through the active ones. Evidence: 1.28 times
#: as fast as walks alone; scans alone are no slower where many rows are active.
SCAN_FROM = 6
#: Kernel values of a block of columns: a smaller block costs as much. Evidence: with 1 << 14 pendigits, letter, usps
#: and satimage at C = 64 took 1.13, 1.03, 1.11 and 1.14 times as long, one thread.
SMALLEST_BLOCK = 1 << 12
#: The same of a block that Python asks for, which takes some 50 microseconds more. Evidence: two classes of 6,000 rows
#: take 0.9 of the time with it.
FETCHED_BLOCK = 1 << 16
#: Rows of a class that sampled search has places for at first; they double as they are used up. Evidence: none.
FIRST_ROOM = 128
#: Steps within which a candidate that is prefetched should be drawn. Evidence: up to 30,000 rows qualify; without a
#: prefetch runs on 1,000 to 20,000 rows took four times the kernel values.
PREFETCH_WITHIN = 512
#: Cost of an update of an entry of q from a cached column, in kernel values of candidates. Evidence: with this and
#: the next two, fw on 50,000 adult-like rows took 11 s, before over 40 s.
UPDATE_COST = 1 / 16
#: Cost of an entry of a column that is computed alone, in the same. Evidence: of 64 columns computed at once each
#: costs an eighth.
LONE_COLUMN_COST = 8
#: Cost of an entry of a check in double precision, in the same. Evidence: as `UPDATE_COST`.
CHECK_COST = 4
#: Rows of a share of a scan: smaller shares cost more to hand out than they save. Evidence: docs/decisions/0006.
ROWS_A_THREAD = 2048

# ---------------------------------------------------------------- decomposition

#: Rows for each row of a working set. Evidence: 40,000 rows of cover type take 570 sets of 2,048 rows, but 120 of
#: 4,096: two thirds of the kernel values. Sets of 8,192 take as many values, and longer steps.
ROWS_A_SET = 10
#: Part of the largest gain in a working set down to which it is solved. Evidence: none; a later set moves the same
#: rows again.
INNER_SHARE = 0.1
#: Steps a row of a working set at most. Evidence: none; as above.
INNER_STEPS = 8

# ---------------------------------------------------------------- samples within a time limit

#: Share of the time left into which a forecast has to fit. Evidence: none; a run that is cut has no certificate.
SAFE_SHARE = 0.8
#: Growth of samples at most and at least, in rows. Evidence: none; a forecast over a larger jump is less exact, and a
#: smaller one gains nothing.
LARGEST_JUMP = 4.0
SMALLEST_JUMP = 1.15

# ---------------------------------------------------------------- Newton's method

#: Steps of swap-2o for each active row before Newton's first. A row comes by one, and its weight is right after some
#: more. Evidence: problems made at random (700 to 1,500 rows) are solved by five to eight at C = 8; at C = 64 a half of
#: the rows is wrong after two, some per cent after six.
FIRST_SWAPS = 6
#: n^3 divided by this and m is how many steps of swap-2o take as long as a factor and a half of n rows. Evidence:
#: times of both on a5a, one thread.
FACTOR_RATE = 220.0
#: Rows of steps of swap-2o, all together, that take about as long as what else a few Newton steps are. Evidence: a
#: millisecond of the interpreter, 1.2 ns a row.
NEWTON_OVERHEAD = 1 << 20
#: Share of the active rows on the wrong side, up to which systems are solved exactly. Evidence: a5a at
#: C = 256: 0.6 s (swap-2o alone 1.6 s) with this, `FACTOR_RATE` and the residuals below.
FEW_WRONG = 0.01
#: Residual of a linear system, as a part of 1, while more than few rows are on the wrong side. Evidence: as
#: `FEW_WRONG`.
ROUGH_RESIDUAL = 1e-3
#: Residual of a linear system as a part of the goal's relative gap. Evidence: as `FEW_WRONG`.
RESIDUAL_SHARE = 0.05
#: How often residuals are asked for a thousand times smaller. Evidence: none; sums in float64 have little to add
#: below.
MOST_SHARPENINGS = 2
#: Share of the factored rows that may change before a new factor is made. Evidence: n / 3 columns of a border cost
#: what a new factor of n rows does; 1.17 times as fast as without a border.
BORDER_SHARE = 1 / 8
#: Conjugate gradient steps before a better factor is worth more. Evidence: as `FEW_WRONG`.
MOST_REFINEMENTS = 12
#: Rows of the smallest problem that has a machine of low rank. Evidence: compiled code solves smaller ones alone.
FEWEST_RANKED = 1024
#: Steps of swap-2o for each active row, each root of C K_ii and each digit of the relative gap. Evidence: 0.7 to 1.4 on
#: three sets with C from 1 to 64 and gaps of 1e-1 to 1e-5.
SWAPS_A_DIGIT = 0.8
#: Conjugate gradient steps of a whole run at least, and for each root of C tr(K - P'P). Evidence: runs on four sets
#: took 10 + 2.3 times that root.
FEWEST_CG_STEPS = 10.0
CG_STEPS_A_ROOT = 2.3
#: Active rows a step of swap-2o, in a conjugate gradient step. Evidence: a value of a column takes 0.27 ns in a sum and
#: 1.4 in a step, one thread.
CG_RATE = 5.4
#: k^2 divided by this, and k times the next, is how many steps of swap-2o take as long as a kernel of rank k and its
#: machine. Evidence: ranks of 65 to 957 took 620, 2,050, 8,300 and 31,000 steps (inf20, magic, cover type).
RANK_RATE = 40.0
RANK_STEPS = 8.0
#: Share of the steps that may be spared which a higher rank may cost where it does not pay by the forecast. Evidence:
#: none; what a first block leaves of a kernel says little about the next.
TRIAL_SHARE = 1 / 8
#: Accuracy of a step along a line, as a part of it. Evidence: none; the next step goes on from there.
LINE_ACCURACY = 1e-3
#: Share of the column cache that may be held at once. Evidence: none; eviction is random and must find a free slot
#: soon.
HELD_COLUMNS = 0.75
#: Rows of a factor from which on BLAS has several threads. Evidence: with fewer, BLAS's threads wait for each other
#: where others use the cores.
SHARED_FACTOR = 4096

# ---------------------------------------------------------------- chunking

#: Share of each class in the first chunk. Evidence: the benchmark shows the effect on shuttle; no figure
#: kept.
FIRST_CHUNK = 1 / 8
#: Rows of the first chunk at most: those of a mapped file or a cluster have to fit in memory. Evidence: none.
MOST_FIRST_ROWS = 1 << 16
#: Rows of a class of which the first chunk leaves none out. Evidence: none.
SMALL_CLASS = 64
#: Rows of a chunk for each row that matters. Evidence: as `FIRST_CHUNK`.
CHUNK_SPARE = 1.5
#: Share of the rows above which a chunk is all of them. Evidence: none.
LARGEST_CHUNK = 1 / 2

# ---------------------------------------------------------------- dual coordinate descent

#: Visits ahead that a row's values are prefetched. Evidence: without this and the next two, liblinear and avsf at C = 1
#: took 1.4 to 2.7 times as long on a9a, w7a, sector and news20, one thread of a busy machine.
ROWS_AHEAD = 3
#: Visits ahead that what is known of a row is prefetched. Evidence: as above.
RECORDS_AHEAD = 8
#: Values of a row that are prefetched; the hardware prefetches the rest by itself. Evidence: as above.
MAX_PREFETCHED_VALUES = np.uint64(256)
#: Growth of the sweeps after which there is a survey at the latest, if there are `SURVEY_INCREMENT` more. Evidence:
#: the benchmark shows the effect; no figure kept.
SURVEY_GROWTH = 1.5
#: Sweeps since the last survey after which there may be one at the latest. Evidence: as above.
SURVEY_INCREMENT = 10
#: Goals that the gap of w may be above the goal for a multiple of w to be tried. Evidence: as above; large C asks for
#: it.
MULTIPLE_TRY_FACTOR = 1000.0
#: Times what w has moved that a row could rest on before a survey leaves it at rest; above 1. Evidence: avsf on sector
#: and news20 at C = 1 takes 1.07 and 1.06 times as long without.
REST_MARGIN = 2.0
#: Times the goal at which the gap is awaited to be surveyed. Evidence: near the goal a survey costs less than a sweep
#: too many.
EARLY_SURVEY_FACTOR = 2.0
#: Visits a row that a survey would have spared; it spares those to come, too. Evidence: a survey of all rows cost
#: half of a sweep.
IDLE_VISITS_FOR_SURVEY = 0.125
#: Surveys in a row with D unchanged and a gap no better than before, which end the run. Evidence: of 400 seeds 39
#: were called stalled at a gap of 1e-9 that they would have reached; with 40, none.
MAX_SURVEYS_AT_REST = 40
#: Certificates that may miss the tracked gap, after which alpha stands. Evidence: none.
MAX_MISSES = 3

# ---------------------------------------------------------------- stochastic methods

#: Share of the known gap that |d|^2 / (2 lambda) must still promise, or d is made of subgradients from too far away.
#: Evidence: none.
SHORT_FRACTION = 1e-3
#: Resets in a row after which neither value nor bound has moved: nothing is left at this precision. Evidence: none.
FRUITLESS_RESETS = 20
