"""Prediction on a Dask cluster (`fwsvm predict --scheduler`): each worker predicts rows that it reads."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fwsvm.data.partitions import Partition, cut, read
from fwsvm.distributed.cluster import Cluster
from fwsvm.distributed.machine_parts import sent
from fwsvm.errors import DataError
from fwsvm.experiments import prediction
from fwsvm.experiments.prediction import Prediction
from fwsvm.phases import Phase, enter
from fwsvm.problems.machines import KernelModel, LinearModel


class Asked(NamedTuple):
    """What is wanted of each row besides its label, and how its file is read."""

    decision: bool
    probability: bool
    zero_based: bool


class PartPrediction(NamedTuple):
    """Predictions of a partition's rows, None of no rows, and what was ignored when it was read."""

    prediction: Prediction | None
    notices: tuple[str, ...]


def predict(
    address: str, machine: KernelModel | LinearModel, data: str, asked: Asked
) -> tuple[Prediction, tuple[str, ...]]:
    """Predict the rows of a file, or of a folder's files, on a cluster; return also what was ignored.

    Raises
    ------
    UsageError, DataError
        As `fwsvm.distributed.cluster.connect`, `fwsvm.data.partitions.cut` and `fwsvm.experiments.prediction.predict`.
    """
    enter(Phase.PREDICT)
    partitions, started = cut(data), time.perf_counter()
    cluster = Cluster(address)
    try:
        count = len(partitions)
        there = sent(cluster, machine)
        parts = cluster.gather(cluster.each(predict_partition, partitions, [there] * count, [asked] * count))
    finally:
        cluster.close()
    found = [part.prediction for part in parts if part.prediction is not None]
    if not found:
        raise DataError(f"{data}: there are no rows to predict")
    whole = replace(_joined(found, data), seconds=time.perf_counter() - started)
    return whole, tuple(dict.fromkeys(notice for part in parts for notice in part.notices))


def predict_partition(
    partition: Partition, machine: KernelModel | LinearModel, asked: Asked
) -> PartPrediction:
    """Read and predict a partition; this runs on a worker."""
    table, _, notices = read(partition, zero_based=asked.zero_based, unlabelled=True)
    if not table.rows:
        return PartPrediction(None, notices)
    found = prediction.predict(machine, table, probability=asked.probability)
    kept = found if asked.decision else replace(found, decision=np.zeros((0, 0)))
    return PartPrediction(kept, notices)


def _joined(parts: Sequence[Prediction], data: str) -> Prediction:
    """Return the predictions of all rows; DataError where only some have labels."""
    correct = [part.correct for part in parts if part.correct is not None]
    if correct and len(correct) < len(parts):
        raise DataError(f"{data}: some rows have labels and others have none")
    labels = tuple(label for part in parts for label in part.labels)
    far = sum(part.far for part in parts)
    said = [f"{far:,} of {len(labels):,} rows lie far outside the training ranges"] if far else []
    said += [notice for part in parts for notice in part.notices[1 if part.far else 0 :]]
    likely = [part.probabilities for part in parts if part.probabilities is not None]
    return Prediction(
        labels=labels,
        decision=np.concatenate([part.decision for part in parts]),
        correct=sum(correct) if correct else None,
        unknown=tuple(sorted({name for part in parts for name in part.unknown})),
        ignored=sum(part.ignored for part in parts),
        far=far,
        notices=tuple(dict.fromkeys(said)),
        compile_seconds=max(part.compile_seconds for part in parts),
        seconds=sum(part.seconds for part in parts),
        probabilities=np.concatenate(likely) if likely else None,
    )
