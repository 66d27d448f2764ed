"""The program ``fwsvm``, also as ``python -m fwsvm``: Ctrl-C and errors that nobody foresaw end it by one sentence."""

import os
import sys

from fwsvm import __version__, exit_codes


def main() -> None:
    """Run the command line of `sys.argv`."""
    try:
        from fwsvm.cli import main as command_line

        try:
            command_line(prog_name="fwsvm")
        except SystemExit as ended:
            if ended.code == exit_codes.INTERRUPTED:  # else Python waits for code that is being compiled
                sys.stdout.flush()
                os._exit(exit_codes.INTERRUPTED)
            raise
    except KeyboardInterrupt:  # while main imports modules; commands that run answer it themselves
        print("fwsvm: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(exit_codes.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the one door for the unexpected
        from fwsvm.errors import kind_and_words

        said = kind_and_words(error)
        print(f"fwsvm: unexpected {said}; please report it with {_write_log()}", file=sys.stderr)  # noqa: T201
        sys.exit(exit_codes.FAILED)


def _write_log() -> str:
    """Write command line, versions and traceback of the present error to a new file; return its path."""
    import shlex
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="fwsvm-", suffix=".log", encoding="utf-8", delete=False
    ) as log:
        log.write(
            f"{shlex.join(sys.argv)}\nfwsvm {__version__}, Python {sys.version}\n{traceback.format_exc()}"
        )
    return log.name


if __name__ == "__main__":
    main()
