"""The exit codes of the command line; `docs/reference/command-line.md` says what each tells a script."""

WORSE = 1  # a comparison found something worse, as in diff and grep
USAGE = 2  # as in click
DATA = 3  # data, a model or a file that is missing or damaged
FAILED = 4  # a run failed, or what it needs (memory, disk, another process) is not to be had
INTERRUPTED = 130  # what a shell returns for a program that Ctrl-C ended
