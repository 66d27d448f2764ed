"""Hostile inputs for the readers of data files, models, experiments and locks.

Each input is read by a command, which must end with an exit code of the conventions and, unless that is 0, one
sentence. ``make fuzz`` tries thousands, the test suite a few. An input that was found is kept in ``.cache/fuzz``.
"""
