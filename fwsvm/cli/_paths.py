"""Types of arguments that name files and folders.

None asks whether a file may be read: the reader refuses it by a sentence and the exit code of its kind, where click has
an error of usage.
"""

from pathlib import Path

import click

ANY = click.Path(path_type=Path, readable=False)
FILE = click.Path(path_type=Path, readable=False, dir_okay=False)
FOLDER = click.Path(path_type=Path, readable=False, file_okay=False)
