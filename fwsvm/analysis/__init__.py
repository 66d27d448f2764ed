"""From result files to tables, tests, figures, claims and a report; a reader of CSV and of nothing else.

* `results` reads and checks result folders; `cells` averages their reported runs.
* `published` has the papers' printed numbers as the same kind of cells.
* `measures` says what a run is judged by; `tables`, `comparisons` (on `statistics`), `figures` and `claims`
  each take cells, ours or printed; `report` puts them on one page; `merge` joins folders of several machines.

Nothing here imports solvers, data or experiments: a CSV made elsewhere is as good as one's own.
"""
