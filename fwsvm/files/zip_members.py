"""What any zip archive may be refused for."""

import struct
import zipfile
import zlib

ENCRYPTED = 0x1  # bit of a member's flags
#: What the zipfile module raises for damaged or malicious archives.
DAMAGE = (
    zipfile.BadZipFile, EOFError, LookupError, OSError, OverflowError, RuntimeError, ValueError, struct.error,
    zlib.error,
)  # fmt: skip
