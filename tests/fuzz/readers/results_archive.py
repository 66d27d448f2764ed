"""An archive of results, as `fwsvm merge` reads it: some damaged, some renamed inside, some made to fill the memory."""

import io
import json
import random
import struct
import zipfile
from pathlib import Path

from fwsvm.cli import merge
from fwsvm.errors import FwsvmError
from fwsvm.results import archives
from tests.fuzz import results_folder
from tests.fuzz.mutate import hostile, mutated

SHORT = 60
SECONDS = 60.0
NAMES = ("../out", "/etc/passwd", "traces/../../x.csv", "traces/.csv", "traces/a/b.csv", "RUNS.CSV", "traces/\n.csv",
         "C:\\x", "runs.csv/", "traces/", "x" * 60_000)  # fmt: skip


def generate(rng: random.Random, folder: Path) -> None:
    """Write an archive, and change members, manifest, headers or bytes."""
    (folder / "results").mkdir()
    results_folder.generate(rng, folder / "results")
    packed = folder / "packed.zip"
    try:
        archives.write(folder / "results", packed, {"environment.json": b"{}"})
    except FwsvmError:  # of a folder that is damaged itself
        packed.write_bytes(b"")
    if rng.random() < 0.7 and packed.stat().st_size:
        packed.write_bytes(_repacked(rng, packed))
    content = bytearray(packed.read_bytes())
    if rng.random() < 0.3:
        for magic, length in ((b"PK\1\2", 46), (b"PK\3\4", 30), (b"PK\5\6", 22)):
            if (at := content.rfind(magic)) >= 0 and rng.random() < 0.5:
                place = at + rng.randrange(4, length - 3)
                content[place : place + 4] = struct.pack(
                    "<I", rng.choice((0, 1, 2**31, 2**32 - 1, rng.getrandbits(32)))
                )
    if rng.random() < 0.3:
        content = bytearray(mutated(rng, bytes(content), 3))
    packed.write_bytes(bytes(content))


def _repacked(rng: random.Random, packed: Path) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == archives.MANIFEST and rng.random() < 0.3:
                content = _changed_manifest(rng, content)
            elif rng.random() < 0.1:
                content = mutated(rng, content)
            if rng.random() < 0.95:
                new.writestr(name if rng.random() < 0.95 else rng.choice(NAMES), content)
        if rng.random() < 0.05:
            new.writestr("log.jsonl", bytes(1 << 26))
    return stream.getvalue()


def _changed_manifest(rng: random.Random, content: bytes) -> bytes:
    said = json.loads(content)
    where = rng.choice(("format", "files", "runs.csv", "sha256"))
    if where in said:
        said[where] = hostile(rng)
    elif where == "sha256":
        said["files"]["runs.csv"]["sha256"] = hostile(rng)
    else:
        said["files"][where] = hostile(rng)
    return json.dumps(said, default=str).encode()


def read(folder: Path) -> None:
    """Join it with nothing else; what comes out is inside the folder named."""
    before = {path for path in folder.rglob("*") if (folder / "out") not in path.parents}
    results_folder.call(merge.command, folder / "packed.zip", "--out", folder / "out")
    after = {path for path in folder.rglob("*") if (folder / "out") not in path.parents}
    assert after - before <= {folder / "out"}
