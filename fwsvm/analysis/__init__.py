"""Tables, statistical tests, figures, claims and a report, from result files alone.

    results        reads and checks result folders; `configuration` their experiment.yaml
    cells          averages over the reported runs of one data set, method and setting
    published      the papers' printed numbers, as cells
    measures       the measured quantities: column, unit, which end is better
    papers         each paper's claims, design of tests, and tables
    claims         checks the papers' claims on cells
    comparisons    tests hypotheses over data sets, by `statistics`
    tables, figures, report     draw cells; `merge` joins result folders

Nothing here imports solvers, data or experiments, so results may come from another machine.
"""
