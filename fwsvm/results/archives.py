"""A results folder in one zip (`fwsvm archive`): rows, configuration, data lock, environment and checksums.

A zip from elsewhere is hostile until proven otherwise: names come from a fixed list and are never used as paths beyond
it, sizes are counted while unpacking, and every byte has the checksum that the manifest says.
"""

import atexit
import functools
import hashlib
import json
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwsvm.errors import ResultsError, shown
from fwsvm.files.atomic import replacing
from fwsvm.files.zip_members import DAMAGE, ENCRYPTED
from fwsvm.results.files import no_results, opened, present, refuse_link, unreadable
from fwsvm.results.reading import runs_table

SUFFIX = ".zip"
FORMAT = "fwsvm results archive 1"
MANIFEST = "manifest.json"
OF_FOLDER = ("runs.csv", "experiment.yaml", "log.jsonl")
ADDED = ("datasets.lock", "datasets.own.lock", "environment.json")
FURTHER = re.compile(r"experiment-[1-9][0-9]{0,3}\.yaml")  # configurations of a folder's other experiments
TRACE = re.compile(r"traces/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}\.csv")
MAX_ARCHIVE = 1 << 30  # bytes, packed
MAX_INSIDE = 1 << 32  # bytes of all members
MAX_EXPANSION, ALWAYS = (
    200,
    1 << 24,
)  # how many times the archive its members may have, and bytes they may have anyhow
MAX_MEMBERS = 250_000
MAX_LIST = 256 * MAX_MEMBERS  # bytes of the list of members: a record and a name each
END, LOCATOR_64, END_64 = 22, 20, 56  # bytes of the records that end a zip, from the last one back
MAX_MANIFEST = 1 << 26
PIECE = 1 << 20
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip: the same folder makes the same bytes


def is_archive(path: Path) -> bool:
    """Return whether a path is that of an archive: a file whose name ends in .zip."""
    try:
        return path.suffix.lower() == SUFFIX and path.is_file()
    except OSError:
        return False


def write(folder: Path, out: Path, added: Mapping[str, bytes]) -> int:
    """Write a results folder as an archive and return the number of its runs.

    ``added`` are files of `ADDED`, by name.

    Raises
    ------
    ResultsError
        The folder has no rows that can be read, a torn last line, or the archive cannot be written (`WriteError`).
    """
    if not present(folder / "runs.csv"):
        raise no_results(folder)
    try:
        table = runs_table(folder / "runs.csv", folder)
        rows = sum(1 for _ in table)
    except FileNotFoundError as error:  # a link that leads nowhere
        raise unreadable(folder / "runs.csv", error) from None
    if table.torn:
        raise ResultsError(
            f"{folder / 'runs.csv'}: the last line is incomplete; run that experiment again first"
        )
    names = [name for name in OF_FOLDER if present(folder / name)]
    names += sorted(file.name for file in folder.iterdir() if FURTHER.fullmatch(file.name))
    if present(folder / "traces"):
        refuse_link(folder / "traces", folder)
        try:
            traces = [f"traces/{file.name}" for file in (folder / "traces").iterdir()]
        except OSError as error:
            raise unreadable(folder / "traces", error) from None
        names += sorted(filter(TRACE.fullmatch, traces))
    files: dict[str, dict[str, Any]] = {}
    with (
        replacing(out, binary=True) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in names:
            with opened(folder / name, folder, MAX_INSIDE) as file:
                files[name] = _add(archive, name, file.read())
        for name, content in added.items():
            files[name] = _add(archive, name, content)
        manifest = {"format": FORMAT, "runs": rows, "files": files}
        _add(archive, MANIFEST, json.dumps(manifest, indent=1).encode())
    return rows


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> dict[str, Any]:
    archive.writestr(zipfile.ZipInfo(name, FIRST_DATE), content, zipfile.ZIP_DEFLATED)
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def unpacked(path: Path) -> Path:
    """Return a folder with the files of an archive, which is there until the process ends.

    Raises
    ------
    ResultsError
        It is no archive of results, damaged, altered, or too large when unpacked.
    """
    held = path.stat()
    return _unpacked(path, held.st_mtime_ns, held.st_size)


@functools.cache
def _unpacked(path: Path, _changed: int, size: int) -> Path:
    if size > MAX_ARCHIVE:
        raise ResultsError(f"{path}: {size >> 20:,} MiB, and at most {MAX_ARCHIVE >> 20:,} MiB are read")
    root = Path(tempfile.mkdtemp(prefix="fwsvm-archive-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = root / (re.sub(r"[^\w.-]", "_", path.stem)[:80].strip(".") or "results")
    folder.mkdir()
    (folder / "traces").mkdir()
    try:
        _refuse_long_list(path, size)
        with zipfile.ZipFile(path) as archive:
            _unpack(path, archive, folder, min(MAX_INSIDE, ALWAYS + MAX_EXPANSION * size))
    except DAMAGE as error:
        raise ResultsError(f"{path}: not a whole zip archive: {shown(str(error))}") from None
    return folder


def _refuse_long_list(path: Path, size: int) -> None:
    """Refuse an archive whose list of members, of which zipfile makes objects at once, is longer than `MAX_LIST`.

    Its length is in the last record, before which a zip of many members has two more. They must be the file's last
    bytes: else zipfile may read another end than the one looked at here.
    """
    with path.open("rb") as file:
        file.seek(max(0, size - END_64 - LOCATOR_64 - END))
        last = file.read()
    end, locator, end_64 = last[-END:], last[-END - LOCATOR_64 : -END], last[: -END - LOCATOR_64]
    is_64 = locator.startswith(b"PK\x06\x07")
    # the last two bytes are the length of the comment that follows
    ours = end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")
    if is_64:
        at = struct.unpack_from("<Q", locator, 8)[0]
        ours = ours and end_64.startswith(b"PK\x06\x06") and at == size - len(last)
    if not ours:
        whole = b"PK\x05\x06" in last
        wrong = (
            "it ends in a comment, which `fwsvm archive` does not write"
            if whole
            else "not a whole zip archive"
        )
        raise ResultsError(f"{path}: {wrong}")
    listed = struct.unpack_from("<Q", end_64, 40)[0] if is_64 else struct.unpack_from("<L", end, 12)[0]
    if listed > MAX_LIST:
        raise ResultsError(
            f"{path}: its list of files has {listed:,} bytes, and at most {MAX_LIST:,} are read; "
            "`fwsvm archive` writes no such archive"
        )


def _unpack(path: Path, archive: zipfile.ZipFile, folder: Path, most: int) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise ResultsError(f"{path}: {len(members):,} files, and at most {MAX_MEMBERS:,} are read")
    names = {member.filename: member for member in members}
    if len(names) < len(members):
        raise ResultsError(
            f"{path}: two files inside it have one name; `fwsvm archive` writes no such archive"
        )
    for member in members:
        known = member.filename in {MANIFEST, *OF_FOLDER, *ADDED}
        if not (known or FURTHER.fullmatch(member.filename) or TRACE.fullmatch(member.filename)):
            raise ResultsError(f"{path}: {shown(member.filename)} inside it is no file of a results archive")
        if member.flag_bits & ENCRYPTED or member.compress_type not in {
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        }:
            raise ResultsError(
                f"{path}: {shown(member.filename)} inside it is encrypted or packed in another way"
            )
    files = _manifest(path, archive, names)
    if set(files) != set(names) - {MANIFEST}:
        odd = min(set(files) ^ (set(names) - {MANIFEST}))
        raise ResultsError(f"{path}: {shown(odd)} is in its list of files or inside it, but not both")
    for name, digest in files.items():
        most -= _extract(path, archive, names[name], folder / name, digest, most)


def _manifest(path: Path, archive: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo]) -> dict[str, str]:
    """Return the sha256 of each file that the manifest lists."""
    if MANIFEST not in names or "runs.csv" not in names:
        raise ResultsError(f"{path}: no archive that `fwsvm archive` wrote: it lacks {MANIFEST} or runs.csv")
    with archive.open(names[MANIFEST]) as stream:
        content = stream.read(MAX_MANIFEST + 1)
    try:
        said: Any = json.loads(content) if len(content) <= MAX_MANIFEST else None
        if said["format"] != FORMAT:
            raise ResultsError(
                f"{path}: its format is {shown(said['format'])}, and this version reads {FORMAT!r}"
            )
        files = {name: facts["sha256"] for name, facts in said["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ResultsError(f"{path}: its {MANIFEST} is damaged") from None
    return files


def _extract(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, digest: object, most: int
) -> int:
    """Write a member to a file that is not there yet and return its bytes, at most ``most``."""
    found, count = hashlib.sha256(), 0
    with archive.open(member) as packed, target.open("xb") as file:
        while piece := packed.read(PIECE):
            count += len(piece)
            if count > most:
                raise ResultsError(f"{path}: too large when unpacked: more than {most >> 20} MiB")
            found.update(piece)
            file.write(piece)
    if found.hexdigest() != digest:
        raise ResultsError(f"{path}: {shown(member.filename)} inside it is not what its checksum says")
    return count
