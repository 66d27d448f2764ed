"""The hypotheses that 003 tests, and the layouts of its tables."""

from fwsvm.analysis.comparisons.design import Design, two_hypotheses
from fwsvm.analysis.tables.layout import Layout, per_dataset
from fwsvm.analysis.tables.sizes import KERNEL_COLUMNS, SizesTable

METHODS = ("cvm", "fw", "mfw")
DESIGN = Design(
    "003, section 5.6 and Table 4",
    METHODS,
    ("time", "accuracy"),
    (
        *two_hypotheses("fw", "cvm", "less", "less"),
        *two_hypotheses("mfw", "cvm", "less", "less"),
        *two_hypotheses("fw", "mfw", "two-sided", "less"),
    ),
)
LAYOUTS = {
    "003-2": Layout("003, Table 2: test accuracy (%)", "003", METHODS, "rbf", ("accuracy",), per_dataset),
    "003-3": Layout("003, Table 3: training time (s)", "003", METHODS, "rbf", ("time",), per_dataset),
    "003-8": Layout("003, Table 8: quadratic kernel, test accuracy (%) and training time (s)", "003",
                    ("fw", "mfw"), "quadratic", ("accuracy", "time"), per_dataset),
}  # fmt: skip
SIZES = {"003-1": SizesTable("003", KERNEL_COLUMNS)}
