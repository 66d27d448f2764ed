"""A machine on its way to workers, and parts of the rows on a cluster that are held out in turn."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import stacked
from fwsvm.distributed.cluster import MESSAGE_BYTES, Cluster, received
from fwsvm.problems.machines import KernelModel, LinearModel


def sent(cluster: Cluster, machine: KernelModel | LinearModel) -> Any:
    """Return a future of a machine."""
    (future,) = cluster.each(joined, [cluster.each(received, parts_of(machine))])
    return future


def parts_of(machine: KernelModel | LinearModel) -> list[KernelModel | LinearModel]:
    """Return machines with some of the support vectors each, in order, that `joined` makes one of."""
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
            facts={},
        )
        for first in range(0, max(1, vectors), step)
    ]


def joined(parts: list[KernelModel | LinearModel]) -> KernelModel | LinearModel:
    """Return the machine of which these are the parts; this runs on a worker."""
    kernels = [part for part in parts if isinstance(part, KernelModel)]
    if len(kernels) < 2:
        return parts[0]
    return replace(
        kernels[0],
        support=stacked([part.support for part in kernels]),
        counts=np.sum([part.counts for part in kernels], axis=0),
        coefficients=np.concatenate([part.coefficients for part in kernels]),
    )
