"""A kernel machine in messages to workers: each has some of the support vectors, and decision values are their sum."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from fwsvm.distributed.tuning import MESSAGE_BYTES
from fwsvm.problems.machines import KernelModel, LinearModel


def parts_of(machine: KernelModel | LinearModel) -> list[KernelModel | LinearModel]:
    """Return machines whose decision values, summed, are those of a machine; the first has the biases."""
    if not isinstance(machine, KernelModel):
        return [machine]
    support = csr_array(machine.support)
    vectors, classes = support.shape[0], np.repeat(np.arange(len(machine.counts)), machine.counts)
    each = 8.0 * machine.coefficients.shape[1] + 12.0 * support.nnz / max(1, vectors)
    step = max(1, int(MESSAGE_BYTES / each))
    return [
        replace(
            machine,
            support=support[first : first + step],
            counts=np.bincount(classes[first : first + step], minlength=len(machine.counts)),
            coefficients=machine.coefficients[first : first + step],
            biases=machine.biases if first == 0 else np.zeros(len(machine.biases)),
            facts={},
        )
        for first in range(0, max(1, vectors), step)
    ]


def decision(parts: list[KernelModel | LinearModel], X: np.ndarray | csr_array) -> np.ndarray:
    """Return the decision values of rows (t, n), shape (t, columns)."""
    return np.asarray(sum(part.decision(X) for part in parts))
