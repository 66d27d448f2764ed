"""The benchmarks run, and what they say of a machine is true."""
