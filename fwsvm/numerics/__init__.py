"""Compiling, SIMD, atomics, threads and random numbers: all that touches LLVM or numba's internals.

`compile` has the package's one ``njit`` and its dispatch by type, `simd` vectors of numbers, `machine`
atomics and calls between functions that are compiled apart, `threads` pools and the threads of BLAS.
"""
