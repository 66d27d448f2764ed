"""The fact ``scaling`` of a model file, as `fwsvm predict MODEL ROWS` reads it and scales by it."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.data.dataset import LabelledRows
from fwsvm.experiments import prediction
from fwsvm.problems import model_files
from tests.fuzz.mutate import mutated, restructured
from tests.problems import trained

RANGES = scaling.fit(np.array([[0.0, -1, 2, 5, 1e-3], [1.0, 4, 2, 9, 1e3]]), "[-1,1]")
MODELS = [
    replace(model, ranges=RANGES)
    for model in (
        trained.kernel_model(),
        trained.linear_model(("a", "b", "c")),
        trained.kernel_model("linear"),
    )
]
ROWS = LabelledRows(
    csr_array([[0.5, 1e300, 0, -4, 2, 1], [0, 0, 0, 0, 0, 0], [1, 1, -1e-300, 7, 1e5, 0]]), np.full(3, np.nan)
)


def warm_up(folder: Path) -> None:
    """Compile what predicts."""
    for model in MODELS:
        model_files.write(folder / "model", model)
        read(folder)


def generate(rng: random.Random, folder: Path) -> None:
    """Write a model whose line with the scaling is changed, as a structure or as text."""
    model_files.write(folder / "model", rng.choice(MODELS))
    lines = (folder / "model").read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"scaling"' in line)
    if rng.random() < 0.7:
        facts = json.loads(lines[at].partition(b" ")[2])
        facts["scaling"] = restructured(rng, facts["scaling"])
        lines[at] = b"#fwsvm " + json.dumps(facts).encode("utf-8", "surrogatepass") + b"\n"
    else:
        lines[at] = mutated(rng, lines[at])
    (folder / "model").write_bytes(b"".join(lines))


def read(folder: Path) -> None:
    """Predict rows by the model."""
    machine = model_files.read(folder / "model")
    predicted = prediction.predict(machine, ROWS)
    if machine.ranges is not None and not np.isfinite(predicted.decision).all():
        raise AssertionError(f"a decision is not finite: {predicted.decision}")
