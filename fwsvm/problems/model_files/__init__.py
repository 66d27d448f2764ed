"""Trained models as text files that LIBSVM's and LIBLINEAR's programs read as well.

LIBSVM's format has kernel models, LIBLINEAR's linear ones. What these formats have no place for (labels that are not
whole numbers, ranges that rows are scaled by, column names, facts of the training) follows in lines ``#fwsvm {json}``,
which those programs ignore (`facts`).
"""

from fwsvm.problems.model_files.reading import is_model_file, read
from fwsvm.problems.model_files.writing import range_path, write

__all__ = ["is_model_file", "range_path", "read", "write"]
