"""Kernels: numbers only, all compiled; what a kernel is stands in `kernel`, how values are computed in `blocks`.

A kernel is one file here; every module of the folder is imported and may register some.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
