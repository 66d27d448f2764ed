"""The verified files of a data set: from the package, the cache, a mirror, other files, or the network.

obtaining           the files of an entry, from the first source that has all of them
file_search         one file: cache, mirror, derivation, URLs in turn; what does not match its digest is refused
download            one URL to one ``.part`` file, with retries; `http_response` says which responses are accepted
connections         sockets that a deadline closes, whatever the server does
digests             sizes and digests of files, compared with the lock
complement, draw    files derived from others: the lines that another lacks, or lines drawn by seed
cache_paths         where the files lie; `cache_maintenance` verifies and prunes them
"""
