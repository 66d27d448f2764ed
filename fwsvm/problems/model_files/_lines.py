"""The lines of a model file, read one by one, and the refusal that names file and line."""

from collections.abc import Iterator
from pathlib import Path

from fwsvm.errors import ModelError


class Lines:
    """The lines of a text file without surrounding blanks; ``number`` is the line at hand, from 1."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.number = 0
        if not self.path.exists():
            raise ModelError(f"{path}: no such model file")
        if not self.path.is_file():
            raise ModelError(f"{path}: not a regular file")

    def __iter__(self) -> Iterator[str]:
        """Yield each line; `ModelError` for what is not text or cannot be read."""
        try:
            with self.path.open("rb") as stream:
                for raw in stream:
                    self.number += 1
                    try:
                        yield raw.decode("utf-8").strip()
                    except UnicodeDecodeError:
                        raise self.refusal("this is not text; is it a model file?") from None
        except OSError as error:
            raise ModelError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def refusal(self, why: str, number: int | None = None) -> ModelError:
        """Return the error that says what is wrong in a line, by default the one at hand; an empty file has none."""
        line = self.number if number is None else number
        return ModelError(f"{self.path}:{line}: {why}" if line else f"{self.path}: {why}")
