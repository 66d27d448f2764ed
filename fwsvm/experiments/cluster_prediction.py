"""Prediction on a Dask cluster (`fwsvm predict --scheduler`): each worker predicts rows that it reads."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fwsvm.data.partitions import Partition, cut, read
from fwsvm.distributed.cluster import Cluster
from fwsvm.distributed.machine_parts import sent
from fwsvm.errors import DataError
from fwsvm.experiments import prediction
from fwsvm.experiments.prediction import Prediction, joined
from fwsvm.phases import Phase, enter
from fwsvm.problems.machines import KernelModel, LinearModel


class PredictionRequest(NamedTuple):
    """What is wanted of each row besides its label, and how its file is read."""

    decision: bool
    probability: bool
    zero_based: bool | None


class PartPrediction(NamedTuple):
    """Predictions of a partition's rows, None of no rows, and what was ignored when it was read."""

    prediction: Prediction | None
    notices: tuple[str, ...]


def predict(
    address: str, machine: KernelModel | LinearModel, data: str, request: PredictionRequest
) -> tuple[Prediction, tuple[str, ...]]:
    """Predict the rows of a file, or of a folder's files, on a cluster; return also what was ignored.

    Raises
    ------
    UsageError, DataError
        As `fwsvm.distributed.cluster.connect`, `fwsvm.data.partitions.cut` and `fwsvm.experiments.prediction.predict`.
    """
    enter(Phase.PREDICT)
    partitions, started = cut(data, zero_based=request.zero_based), time.perf_counter()
    cluster = Cluster(address)
    try:
        count = len(partitions)
        there = sent(cluster, machine)
        parts = cluster.gather(
            cluster.each(predict_partition, partitions, [there] * count, [request] * count)
        )
    finally:
        cluster.close()
    found = [part.prediction for part in parts if part.prediction is not None]
    if not found:
        raise DataError(f"{data}: there are no rows to predict")
    whole = replace(joined(found, data), seconds=time.perf_counter() - started)
    return whole, tuple(dict.fromkeys(notice for part in parts for notice in part.notices))


def predict_partition(
    partition: Partition, machine: KernelModel | LinearModel, request: PredictionRequest
) -> PartPrediction:
    """Read and predict a partition; this runs on a worker."""
    table, _, notices = read(partition, unlabelled=True)
    if not table.rows:
        return PartPrediction(None, notices)
    found = prediction.predict(machine, table, probability=request.probability)
    kept = found if request.decision else replace(found, decision=np.zeros((0, 0)))
    return PartPrediction(kept, notices)
