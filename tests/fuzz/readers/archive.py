"""Compressed files and zip archives, some damaged, some made to fill the memory, read as the catalogue reads them."""

import bz2
import gzip
import io
import lzma
import random
import struct
import zipfile
from pathlib import Path

from fwsvm.data import formats
from fwsvm.data.fetching.digests import file_sha256
from tests.data.test_uci_files import compress
from tests.fuzz.mutate import TOKENS, mutated

SVMLIGHT = b"1 1:0.5 3:-2\n-1 2:1e3\n1 1:1 2:0.25\n"
CSV = b"1,2.5,yes\n-3,4e1,no\n"
MINIBOONE = b" 2 1\n 1.0 2.0\n 3.0 -0.999E+03\n 5 6\n"
RECORD = b"0,tcp,http,SF,181,5450,0" + b",0" * 4 + b",1" + b",0" * 10 + b",8" + b",0.5" * 18
KDD99 = RECORD + b",normal.\n" + RECORD.replace(b"http", b"icmp") + b",smurf.\n"
CONTENTS = ((SVMLIGHT, "svmlight"), (CSV, "csv"), (MINIBOONE, "miniboone"), (KDD99, "kdd99"))
PACKERS = (gzip.compress, bz2.compress, lzma.compress, compress)
NAMES = (
    "rows.txt",
    "in/rows.txt",
    "../../rows.txt",
    "/rows.txt",
    "rows\n.txt",
    "x" * 300,
    "..",
    "C:\\rows.txt",
)


def warm_up(folder: Path) -> None:
    """Compile what reads."""
    for content, kind in (*CONTENTS, (b"yes 1:1\nno 2:1e-320\n", "svmlight")):
        (folder / "rows").write_bytes(content)
        formats.read(folder / "rows", file_sha256(folder / "rows"), {"format": kind})


def generate(rng: random.Random, folder: Path) -> None:
    """Write a packed file: valid, damaged, followed by something, packed twice, or a bomb."""
    content, kind = rng.choice(CONTENTS)
    member = ""
    if rng.random() < 0.02:
        packed = _bomb(rng.choice((b"1 1:1\n", b"\n", b"1,", b"0" * 64, content)), rng.choice((1, 32)))
    else:
        packed = mutated(rng, content) if rng.random() < 0.3 else content
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            packed = rng.choice(PACKERS)(packed)
            if rng.random() < 0.2:
                packed += rng.choice((packed, b"\0" * 4, b"\0" * 20000, b"x", rng.choice(TOKENS), packed[:7]))
    if rng.random() < 0.5:
        packed = _zipped(rng, packed if rng.random() < 0.5 else content)
        member = rng.choice(("*rows.txt", "*rows.txt", "*", "rows.txt", "*x*", "[", "../*"))
    damage = rng.random()
    if damage < 0.35:
        packed = mutated(rng, packed, 3)
    elif damage < 0.55:
        packed = packed[: rng.randrange(len(packed) + 1)]
    (folder / "rows").write_bytes(packed)
    (folder / "how").write_text(f"{kind} {member}", "utf-8")


def _bomb(line: bytes, mib: int) -> bytes:
    """Return so many MiB of one line, packed piece by piece."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1) as file:
        for _ in range(mib):
            file.write(line * (2**20 // len(line)))
    return stream.getvalue()


def _zipped(rng: random.Random, content: bytes) -> bytes:
    stream = io.BytesIO()
    method = rng.choice(
        (zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name in {rng.choice(NAMES) for _ in range(rng.choice((1, 1, 2, 3)))}:
            archive.writestr(name, content)
    packed = bytearray(stream.getvalue())
    if rng.random() < 0.3:  # a field of a header: sizes, method, flags, offsets
        for magic, length in ((b"PK\1\2", 46), (b"PK\3\4", 30), (b"PK\5\6", 22)):
            at = packed.find(magic)
            if at >= 0 and rng.random() < 0.5:
                where = at + rng.randrange(4, length - 1)
                packed[where : where + 2] = struct.pack("<H", rng.choice((0, 1, 8, 9, 14, 255, 65535)))
    return bytes(packed)


def read(folder: Path) -> None:
    """Read the rows."""
    kind, _, member = (folder / "how").read_text("utf-8").partition(" ")
    path = folder / "rows"
    formats.read(path, file_sha256(path), {"format": kind}, member)
