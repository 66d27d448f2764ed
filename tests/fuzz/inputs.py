"""Valid files and random changes to them: of bytes, of lines, and of values inside structures."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TOKENS = (
    b"0", b"-1", b"1", b"2147483647", b"2147483648", b"18446744073709551616", b"1e308", b"1e309", b"-1e-320", b"nan",
    b"-inf", b"0x10", b"1_0", b"null", b"''", b"{}", b"[]", b":", b",", b"\n", b"\r\n", b"\t", b" ", b"#", b"\0",
    b"\xff", b"\xef\xbb\xbf", b"%s", b"../..", b"9" * 5000, b"\xd9\xa3", b"- ", b"? ", b"*a", b"&a", b"!!int", b'"',
)  # fmt: skip
VALUES = (
    None, True, 0, -1, 2**31, 10**400, -0.5, 1e308, 1e-320, float("nan"), float("inf"), "", "nan", "a\0b", "\u0663",
    "x" * 5000, "../../etc", [], {}, [[]], {"": ""},
)  # fmt: skip
SVMLIGHT = b"1 1:0.5 3:-2\n-1 2:1e3 # words\n+1 qid:3 1:1\n-1\n1 5:0.25 7:1e-8\n"
KERNEL_MODEL = b"""\
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.5 -1 0.25
label 1 -1 3
nr_sv 2 1 1
SV
1 0.5 1:0.25 3:-1
-0.5 1 2:1e-3
0.25 -1 1:1 2:1 3:1
-1 0.125 1:2
"""
LINEAR_MODEL = (
    b"solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n0.5 \n-1 \n0 \n1 \n"
)
FACTS = {
    "features": 3,
    "classes": ["1", "-1", "3"],
    "facts": {"method": "swap", "objective": 1.5, "scaling": {"lower": -1, "upper": 1}},
}
EXPERIMENT = {
    "name": "trial",
    "datasets": ["wdbc", {"name": "synthetic:gaussians?rows=200&features=3", "test_rows": 20, "C": 2}],
    "methods": ["fw", {"name": "swap", "kernel": "rbf"}, {"name": "mfw", "C": 4}],
    "kernel": "poly",
    "degree": 2,
    "coef0": 0.5,
    "tolerance": [1e-3, "1e-4"],
    "limits": {"time_seconds": 5, "iterations": 100},
    "repetitions": 2,
    "test_fraction": 0.25,
    "select": {"folds": 3, "method": "fw", "C": {"from": 1, "to": "2^3", "step": "log2"}, "sigma2": [4, 8]},
    "seed": 1,
    "profiles": {"smoke": {"rows": 0.5, "repetitions": 1}, "small": {"gamma": 0.5}},
}


def changed_bytes(rng: random.Random, source: bytes) -> bytes:
    """Return bytes with one to six changes, each at a random place."""
    data = bytearray(source)
    for _ in range(rng.randint(1, 6)):
        at, length = rng.randint(0, len(data)), rng.choice((1, 1, 2, 8, 64))
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                data[at : at + rng.choice((0, length))] = rng.choice(TOKENS)
            case 2:
                del data[at : at + length]
            case 3:
                lines = bytes(data).split(b"\n")
                lines.insert(rng.randint(0, len(lines)), rng.choice(lines))
                data = bytearray(b"\n".join(lines))
            case _:
                del data[at + length * 8 :]
    return bytes(data)


def changed_values(rng: random.Random, value: Any, chance: float) -> Any:
    """Return a copy of a structure of YAML or JSON with hostile values, and keys lost or renamed."""
    if rng.random() < chance / 3:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if rng.random() > chance / 4}
        return {
            f"{key}x" if rng.random() < chance / 4 else key: changed_values(rng, item, chance)
            for key, item in kept.items()
        }
    if isinstance(value, list):
        return [changed_values(rng, item, chance) for item in value]
    return rng.choice(VALUES) if rng.random() < chance else value


def written_yaml(rng: random.Random, value: Any) -> bytes:
    """Return YAML of a structure with changed values, or changed bytes."""
    if rng.random() < 0.6:
        value = changed_values(rng, value, rng.choice((0.02, 0.05, 0.2)))
        return yaml.safe_dump(value, sort_keys=False).encode()
    return changed_bytes(rng, yaml.safe_dump(value, sort_keys=False).encode())


def data_file(rng: random.Random, folder: Path) -> list[list[object]]:
    """Write a data file; return the commands that read it."""
    content = changed_bytes(rng, SVMLIGHT)
    if rng.random() < 0.1:
        content += rng.choice(TOKENS) * rng.choice((100, 10_000))
    (folder / "rows").write_bytes(content)
    return [["summary", folder / "rows"], ["check", folder / "rows"]]


def model(rng: random.Random, folder: Path) -> list[list[object]]:
    """Write a model and rows that fit the one it was; return the command that predicts."""
    content = rng.choice((KERNEL_MODEL, LINEAR_MODEL))
    if rng.random() < 0.5:
        facts = json.dumps(changed_values(rng, FACTS, rng.choice((0.0, 0.1, 0.4))))
        content += f"#fwsvm {facts}\n".encode("utf-8", "replace")
    (folder / "model").write_bytes(changed_bytes(rng, content) if rng.random() < 0.8 else content)
    (folder / "rows").write_bytes(b"1 1:0.5 3:-2\n-1 2:1e3\n1 1:1\n")
    return [["predict", folder / "model", folder / "rows", "--decision"]]


def experiment(rng: random.Random, folder: Path) -> list[list[object]]:
    """Write an experiment; return the command that lists its runs."""
    (folder / "trial.yaml").write_bytes(written_yaml(rng, EXPERIMENT))
    return [["grid", folder / "trial.yaml", "--dry-run", "--offline", "--out", folder / "results"]]


def lock(rng: random.Random, folder: Path) -> list[list[object]]:
    """Write the user's own lock, of entries like those that are shipped; return the command that lists them."""
    shipped = yaml.safe_load((ROOT / "datasets.lock").read_text("utf-8"))
    shipped["datasets"] = {f"own-{name}": shipped["datasets"][name] for name in ("a1a", "w8a")}
    (folder / "data").mkdir()
    (folder / "data" / "datasets.lock").write_bytes(written_yaml(rng, shipped))
    return [["data", "list"]]


READERS: dict[str, Callable[[random.Random, Path], list[list[object]]]] = {
    "svmlight": data_file,
    "model": model,
    "experiment": experiment,
    "lock": lock,
}
