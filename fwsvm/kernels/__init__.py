"""Kernels of two rows, compiled: `kernel` says what one is, `tables` whose values are computed.

A kernel is one file here; every module of the folder is imported and may register some. So may modules of other
installed packages (entry point group ``fwsvm.kernels``).
"""

import importlib
import pkgutil

from fwsvm.kernels.kernel import KERNELS
from fwsvm.plugins import load_plugins

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

load_plugins("fwsvm.kernels", "kernel", KERNELS)
