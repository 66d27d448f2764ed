"""The form of a results folder, for `fwsvm.experiments`, which writes it, and `fwsvm.analysis`, which reads it.

    kinds        what a field may hold: text, a word of a list, a number within bounds; read strictly
    columns      every column of runs.csv and of a trace: its kind, the schema that brought it, its sentence
    files        a file of the folder: regular, inside it, of bounded size
    agreement    whether two rows of one run can both be honest: columns that may differ, and certificates
    writing      a row as fields of runs.csv and as JSON
    reading      a table line by line, every field checked; a refusal names file, line and column

A folder may come from anyone: nothing in it is trusted, and nothing is repaired silently.

Other packages add columns by entry points (group ``fwsvm.columns``, docs/adding/column.md).
"""

from fwsvm.plugins import load_plugins
from fwsvm.results.columns import COLUMNS

load_plugins("fwsvm.columns", "column", COLUMNS)
