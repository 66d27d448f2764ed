"""Files packed by Unix ``compress`` (``.Z``), as UCI serves some: LZW with codes of 9 to 16 bits."""

MAGIC = b"\x1f\x9d"


def decompress(packed: bytes) -> bytes:
    """Return what a packed file holds; codes are written in groups of eight (compress(1)).

    `OSError` where the file is damaged. The format has no end mark: a file that is cut off between two codes cannot be
    told from a whole one.
    """
    widest, block_mode = (packed[2] & 0x1F, bool(packed[2] & 0x80)) if len(packed) > 2 else (0, False)
    if not 9 <= widest <= 16:
        raise OSError(f"codes of {widest} bits")
    first_free = 257 if block_mode else 256
    words = [bytes([byte]) for byte in range(256)] + [b""] * (first_free - 256)
    out = bytearray()
    width, start, bit, previous = 9, 3, 0, b""
    while start * 8 + bit + width <= len(packed) * 8:
        at = start + bit // 8
        code = (int.from_bytes(packed[at : at + 3], "little") >> (bit % 8)) & ((1 << width) - 1)
        bit += width
        if block_mode and code == 256:  # begin again with an empty table
            start, bit = start + _group_bytes(bit, width), 0
            del words[first_free:]
            width, previous = 9, b""
            continue
        if code > len(words) or (code == len(words) and not previous):
            raise OSError(f"invalid code at byte {at}")
        word = words[code] if code < len(words) else previous + previous[:1]
        out += word
        if previous and len(words) < 1 << widest:
            words.append(previous + word[:1])
        previous = word
        if len(words) >= 1 << width and width < widest:
            start, bit = start + _group_bytes(bit, width), 0
            width += 1
    return bytes(out)


def _group_bytes(bits: int, width: int) -> int:
    """Return the bytes of the groups of eight codes that so many bits have begun: ``width`` bytes a group."""
    return -(-bits // (8 * width)) * width
