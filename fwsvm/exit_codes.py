"""The exit codes of the command line; `docs/reference/command-line.md` says what each tells a script."""

WORSE = 1  # a comparison found something worse, as in diff and grep
USAGE = 2  # as in click; also what cannot be done here: training beyond memory, a cluster that is gone
DATA = 3  # data, a model or a file that is missing, damaged, or too large
FAILED = 4  # a run failed at work: memory ran out, a disk is full, a process died
INTERRUPTED = 130  # what a shell returns for a program that Ctrl-C ended
