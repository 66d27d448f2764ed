"""Files packed by Unix ``compress`` (``.Z``), as UCI serves some: LZW with codes of 9 to 16 bits."""

from collections.abc import Iterator

from fwsvm.errors import DataError

MAGIC = b"\x1f\x9d"
CHUNK = 1 << 20


def decompress(packed: bytes, name: str) -> Iterator[bytes]:
    """Yield what the file holds, in pieces of about 1 MiB; codes are written in groups of eight (compress(1)).

    `DataError` names the file where it is not such a file, or is damaged. The format has no end mark: a file that
    is cut off between two codes cannot be told from a whole one.
    """
    if len(packed) < 3 or packed[:2] != MAGIC:
        raise DataError(f"{name}: not a file packed by compress")
    widest, block_mode = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 9 <= widest <= 16:
        raise DataError(f"{name}: codes of {widest} bits; compress writes 9 to 16")
    first_free = 257 if block_mode else 256
    words = [bytes([byte]) for byte in range(256)] + [b""] * (first_free - 256)
    out = bytearray()
    width, start, bit, previous = 9, 3, 0, b""
    while (start * 8) + bit + width <= len(packed) * 8:
        at = start + bit // 8
        code = (int.from_bytes(packed[at : at + 3], "little") >> (bit % 8)) & ((1 << width) - 1)
        bit += width
        if block_mode and code == 256:  # begin again with an empty table
            start, bit = start + _group_end(bit, width), 0
            del words[first_free:]
            width, previous = 9, b""
            continue
        if code < len(words):
            word = words[code]
        elif code == len(words) and previous:
            word = previous + previous[:1]
        else:
            raise DataError(f"{name}: damaged: invalid code at byte {at}; fetch it again")
        out += word
        if len(out) >= CHUNK:
            yield bytes(out)
            out.clear()
        if previous and len(words) < 1 << widest:
            words.append(previous + word[:1])
        previous = word
        if len(words) >= 1 << width and width < widest:
            start, bit = start + _group_end(bit, width), 0
            width += 1
    yield bytes(out)


def _group_end(bit: int, width: int) -> int:
    """Return the bytes of the groups of eight codes that ``bit`` bits have begun: ``width`` bytes a group."""
    return -(-bit // (8 * width)) * width
