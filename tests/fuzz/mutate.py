"""Changes to valid inputs: of bytes, and of values inside structures."""

import random
from typing import Any

TOKENS = [
    b"0", b"-1", b"1", b"2147483647", b"2147483648", b"18446744073709551616", b"1e308", b"1e309", b"-1e-320", b"nan",
    b"inf", b"-inf", b"0x10", b"1_0", b"True", b"null", b"''", b"{}", b"[]", b":", b",", b"\n", b"\r\n", b"\t", b" ",
    b"#", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"%s", b"../..", b"/", b"=1+1", b"9" * 5000,
    b"\xd9\xa3", b"- ", b"? ", b"*a", b"&a", b"!!int", b"$\\frac{$", b"<script>", b'"', b"'",
]  # fmt: skip


def mutated(rng: random.Random, source: bytes, most: int = 6) -> bytes:
    """Return bytes with up to ``most`` changes, each at a random place."""
    data = bytearray(source)
    for _ in range(rng.randint(1, most)):
        at, length = rng.randint(0, len(data)), min(rng.choice((1, 1, 2, 8, 64)), len(data))
        match rng.randrange(7):
            case 0 if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:
                data[at:at] = rng.choice(TOKENS)
            case 2:
                data[at : at + length] = b""
            case 3:
                data[at:at] = data[rng.randint(0, len(data)) :][:length]
            case 4:
                data[at : at + length] = rng.choice(TOKENS)
            case 5:
                lines = bytes(data).split(b"\n")
                rng.shuffle(lines) if rng.random() < 0.3 else lines.insert(0, rng.choice(lines))
                data = bytearray(b"\n".join(lines))
            case _:
                del data[at:]
    return bytes(data)


def hostile(rng: random.Random, depth: int = 0) -> Any:
    """Return a value that a careless reader does not expect."""
    plain = [
        None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.0, -0.5, 1e308, 1e-320, float("nan"), float("inf"),
        "", " ", "nan", "1e309", "a\0b", "\ud7ff", "\u0663", "x" * 5000, "../../etc", "=1+1", "$\\frac{$", "<b>",
        [], {}, [[]], {"": ""},
    ]  # fmt: skip
    if depth < 3 and rng.random() < 0.2:
        return [hostile(rng, depth + 1) for _ in range(rng.randrange(4))]
    if depth < 3 and rng.random() < 0.2:
        return {str(rng.choice(plain))[:20]: hostile(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(plain)


def restructured(rng: random.Random, value: Any, chance: float = 0.15) -> Any:
    """Return a copy of a structure in which values are hostile, keys lost, doubled or renamed."""
    if rng.random() < chance / 3:
        return hostile(rng)
    if isinstance(value, dict):
        changed: dict[Any, Any] = {}
        for key, item in value.items():
            if rng.random() < chance / 4:
                continue
            name = rng.choice((key, f"{key}x", "", hostile(rng, 9))) if rng.random() < chance / 4 else key
            changed[name if isinstance(name, (str, int, float, bool, type(None))) else key] = restructured(
                rng, item, chance
            )
        return changed
    if isinstance(value, list):
        items = [restructured(rng, item, chance) for item in value]
        return items * 2 if rng.random() < chance / 6 else items
    return hostile(rng) if rng.random() < chance else value
