"""``datasets.lock``: what each data set is, where its files come from, and their digests.

entry      what the lock says of a data set, its sources and their files
lockfile   where the lock and the user's overlay are, and reading both
parsing    YAML values to entries; `values` gives typed access that names file, line and key
editing    writing to the overlay or the checkout's lock
pinning    files taken in by hand, and digests recorded
"""
