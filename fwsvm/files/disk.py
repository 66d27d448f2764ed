"""Space on disk, asked before a large file is written."""

import shutil
from pathlib import Path

from fwsvm._memory import said
from fwsvm.errors import UsageError


def require(path: Path, least: int, what: str, remedy: str) -> None:
    """Refuse to write a file that does not fit on its disk.

    Parameters
    ----------
    path : Path
        The file that is written.
    least : int
        Bytes that it has at least.
    what : str
        The file, as the subject of the sentence.
    remedy : str
        What to do instead.

    Raises
    ------
    UsageError
        It says the need, the space left and the remedy.
    """
    folder = path.absolute().parent
    if not folder.is_dir():  # whoever writes there says so
        return
    free = shutil.disk_usage(folder).free
    if least > free:
        raise UsageError(
            f"{what} would take {said(least)} or more; {said(free)} are left on the disk; {remedy}"
        )
