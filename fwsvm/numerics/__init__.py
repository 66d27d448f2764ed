"""Compiling, SIMD, atomics, threads and random numbers: all that touches LLVM or numba's internals.

`compile` has the package's one ``njit`` and its dispatch by type, `simd` eight numbers in one register, `atomics` and
`threads` what threads need of each other, `call_by_address` calls between functions that are compiled apart.
"""
