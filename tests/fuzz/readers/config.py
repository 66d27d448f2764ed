"""An experiment's file and those it extends, as `fwsvm grid FILE --dry-run` reads them."""

import random
from pathlib import Path

import yaml

from tests.fuzz.commands import answer
from tests.fuzz.mutate import mutated, restructured

WHOLE = {
    "name": "trial",
    "datasets": [
        "wdbc",
        {"name": "synthetic:gaussians?rows=200&features=3", "test_rows": 20, "C": 2, "methods": ["fw"]},
    ],
    "methods": [
        "fw",
        {"name": "swap", "kernel": "rbf", "parameters": {"comp": True}},
        {"name": "mfw", "C": 4},
    ],
    "kernel": "poly",
    "degree": 2,
    "coef0": 0.5,
    "tolerance": [1e-3, "1e-4"],
    "stop": "gap",
    "search": "full",
    "protocol": "default",
    "limits": {"time_seconds": 5, "iterations": 100},
    "repetitions": 2,
    "rows": 100,
    "test_fraction": 0.25,
    "select": {"folds": 3, "method": "fw", "C": {"from": 1, "to": "2^3", "step": "log2"}, "sigma2": [4, 8]},
    "seed": 1,
    "workers": 2,
    "profiles": {"smoke": {"rows": 0.5, "repetitions": 1}, "small": {"gamma": 0.5}},
}
TEXT = b"""\
name: trial
extends: [base.yaml, other.yaml]
datasets: [&d {name: wdbc, C: 2^-1}, {<<: *d, rows: 30}]
methods: [swap, {name: fw, kernel: linear}]
C: {from: 2^-5, to: 8, step: 4}
select: {holdout: 0.3, sigma2: [1, 2, 4], C: 1}
profiles:
  small: {repetitions: 3, limits: {time_seconds: 1.5}}
"""
BASE = b"name: base\ndatasets: [wdbc, digits]\nmethods: [swap]\ntolerance: 1e-4\n"
ODD = (
    b"? [a]\n: b", b"C: 0b_", b"seed: 2001-99-99", b"C: !!float x", b"C: 0^-1", b"C: 9^9999", b"folds: 1e300",
    b"C: {from: 1e-308, to: 1e308, step: 1.1}", b'extends: "a\\0b"', b"rows: .nan", b"C: [.inf]", b"C: 1:30:00",
    b"datasets: ['synthetic:gaussians?rows=1000000000000&features=100']", b"datasets: [" + b"x" * 5000 + b"]",
    b"a: &a [*a]", b"tolerance: &t {<<: *t}", b"limits: {iterations: 1e19}", b"warm_start: true", b"lambda: 1e-320",
    b"extends: trial.yaml", b"kernel: [poly]\ndegree: 1e30", b"seed: 0x" + b"f" * 4500, b"name: " + b"[" * 3000,
    b"repetitions: 1000\ntolerance: {from: 1e-9, to: 1, step: 1.03}", b"select: {holdout: 1e-300, gamma: 1}",
    b"x0: &x0 [1, 2]\n" + b"".join(b"x%d: &x%d [%s]\n" % (n, n, b"*x%d, " % (n - 1) * 9) for n in range(1, 10)),
    b"methods: [{name: swap, parameters: {comp: .nan}}]", b"datasets: [/dev/zero]", b"datasets: [.]",
    b"datasets: ['synthetic:adult-like?features=1e9']",
    b"datasets: ['synthetic:sparse-text?rows=10&features=99999999999']",
    b"datasets: ['synthetic:gaussians?rows=9&seed=" + b"9" * 5000 + b"']",
)  # fmt: skip


def warm_up(folder: Path) -> None:
    """Import what reads."""
    (folder / "trial.yaml").write_bytes(BASE)
    read(folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write an experiment with hostile values, keys or lines, beside two that it may extend."""
    for name in ("base.yaml", "other.yaml"):
        (folder / name).write_bytes(mutated(rng, BASE, 2) if rng.random() < 0.2 else BASE)
    if rng.random() < 0.4:
        changed = restructured(rng, WHOLE, rng.choice((0.02, 0.05, 0.2)))
        content = yaml.safe_dump(changed, allow_unicode=rng.random() < 0.5, sort_keys=False).encode(
            "utf-8", "replace"
        )
    else:
        content = rng.choice((TEXT, BASE, yaml.safe_dump(WHOLE).encode()))
        lines = content.split(b"\n")
        for _ in range(rng.randint(1, 2)):
            odd = rng.choice(ODD)
            key = odd.split(b":")[0]
            lines = [line for line in lines if not line.startswith(key + b":")] + [odd]
        content = b"\n".join(lines) if rng.random() < 0.6 else mutated(rng, content)
    (folder / "trial.yaml").write_bytes(content)


def read(folder: Path) -> None:
    """List the runs of the experiment."""
    answer("grid", str(folder / "trial.yaml"), "--dry-run", "--offline", "--out", str(folder / "results"))
