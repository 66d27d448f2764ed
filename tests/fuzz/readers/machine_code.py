"""What a folder of machine code says it is for, as a process reads it before it compiles anything."""

import json
import random
from dataclasses import asdict
from pathlib import Path

from fwsvm.files.folders import FACTS
from fwsvm.numerics import carried_code
from fwsvm.numerics.carried_code import facts_for, read_facts
from fwsvm.numerics.processor import native_target
from tests.fuzz.mutate import hostile, mutated


def generate(rng: random.Random, folder: Path) -> None:
    """Write changed bytes of a valid file, or valid JSON with other values."""
    facts = asdict(facts_for(native_target(), "0.5.0"))
    if rng.random() < 0.5:
        content = mutated(rng, json.dumps(facts, indent=2).encode())
    else:
        changed = {rng.choice([*facts, "other"]): hostile(rng) for _ in range(rng.randint(1, 3))}
        content = json.dumps(facts | changed).encode()
    (folder / FACTS).write_bytes(content)


def read(folder: Path) -> None:
    """Read the file and compare it with this process."""
    said = carried_code.unlike(read_facts(folder))
    assert said is None or said.isprintable()
