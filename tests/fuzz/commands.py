"""The command line on hostile inputs: what an answer of it is."""

from click.testing import CliRunner

from fwsvm.cli import main

CODES = (0, 2, 3, 4)
LONGEST = 2000


def answer(*arguments: str) -> None:
    """Run a command in this process; it must end with an exit code of conventions 3, and say why where that is not 0.

    Raises
    ------
    Exception
        Whatever the command lets through.
    AssertionError
        It ends otherwise, or says nothing, a traceback, or pages.
    """
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code in CODES, f"exit code {result.exit_code}"
    assert "Traceback" not in result.stderr, result.stderr[-3000:]
    if result.exit_code:
        said = [line for line in result.stderr.splitlines() if line.startswith(("fwsvm: ", "Error: "))]
        assert said, f"exit code {result.exit_code}, and no reason in {result.stderr[-500:]!r}"
        most = LONGEST + max(map(len, arguments))  # a word of the command may be quoted whole
        assert len(said[-1]) < most, f"{len(said[-1])} characters: {said[-1][:500]}"
