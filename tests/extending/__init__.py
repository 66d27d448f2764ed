"""What others add: the pages of docs/adding run as they stand, from packages that an entry point names."""
