"""The form of a results folder, for `fwsvm.experiments`, which writes it, and `fwsvm.analysis`, which reads it.

columns      every column of runs.csv and of a trace: its kind, the schema that brought it, its sentence
reading      runs.csv and traces by pandas, as text and typed; folders that are never written to
schemas      rows of older schemas as rows of this one
writing      a row as fields of runs.csv and as JSON
"""
