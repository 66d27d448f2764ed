"""Files and arrays: reading, fetching, verifying and splitting data sets; no kernel, problem or solver."""
