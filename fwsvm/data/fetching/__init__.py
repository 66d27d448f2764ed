"""The verified files of a data set: from the package, the cache, a mirror, other files, or the network.

obtaining      the files of an entry, from the first source that has all of them
download       one URL to one ``.part`` file, within its size and time; `FetchOptions`
derived        files made of others: the lines that another lacks, or lines drawn by seed
first_use      what a file without a published digest must be, and its record
recording      digests that the user records: ``fwsvm data lock`` and ``fwsvm data add``
cached_files   where the files lie, and whether they are what the lock says
maintenance    verifying the cache again, and pruning it
"""
