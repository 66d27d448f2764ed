"""The connection to a Dask cluster: tasks sent, errors of workers as sentences, versions of fwsvm compared.

Dask schedules tasks, keeps results on workers, and makes those of a dead worker again on another. Its messages between
machines are pickles: a cluster is as trustworthy as all who can reach its ports.
"""

import asyncio
import concurrent.futures
import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from fwsvm.errors import FwsvmError, UsageError, kind_and_words
from fwsvm.numerics.compile import SOLVING, package_digest

TIMEOUT_SECONDS = 5.0  # to connect, and to collect what interrupted runs came to
LOOK_SECONDS = 5.0  # after which it is seen whether there are workers
PATIENCE_SECONDS = 60.0  # without any worker: one that a nanny starts again is there in ten


def distributed() -> Any:
    """Return the module ``distributed``; `UsageError` where it is not installed."""
    try:
        import distributed
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'fwsvm[distributed]'") from None
    return distributed


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    UsageError
        Nothing answers there, or the cluster has no workers.
    """
    try:
        # a client of no address would complain when the process ends
        distributed().comm.get_address_host_port(address)
        client = distributed().Client(address, timeout=TIMEOUT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {address}: no scheduler answers there: {error}") from None
    if not client.nthreads():
        client.close()
        raise UsageError(f"--scheduler {address}: the cluster has no workers; start some with `dask worker`")
    return client


def identity() -> str:
    """Return the digest of all code that decides the numbers of a run on a cluster."""
    return package_digest(*SOLVING, "distributed")


def carry_out(code: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function on a worker.

    Raises
    ------
    UsageError
        The worker has another version of fwsvm than the coordinator, whose `identity` is ``code``.
    FwsvmError
        What the function raises, as one of the kinds of `fwsvm.errors`, which can be sent.
    """
    try:
        if identity() != code:
            raise UsageError("it has another version of fwsvm than this machine; install the same on all")
        return function(*arguments)
    except FwsvmError as error:
        kind = next(kind for kind in type(error).__mro__ if kind.__module__ == FwsvmError.__module__)
        raise kind(f"worker {distributed().get_worker().address}: {error}") from None


def received(message: Any) -> Any:
    """Return a message, which is then a task's result that Dask makes again."""
    return message


class Cluster:
    """A connection through which functions are carried out on workers, from any thread."""

    def __init__(self, address: str) -> None:
        self.client = connect(address)
        self.code = identity()

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return a future of ``function`` for each item of the first argument, a list.

        An argument is a list of as many items, which may be futures, or the same for all.
        """
        count = len(arguments[0])
        columns = [some if isinstance(some, list) else [some] * count for some in arguments]
        with warnings.catch_warnings(action="ignore"):  # of large messages: support vectors have to be sent
            futures: list[Any] = self.client.map(
                carry_out,
                [self.code] * count,
                [function] * count,
                *columns,
                pure=False,
                key=f"fwsvm-{function.__name__}",
            )
        return futures

    def send(self, value: Any) -> Any:
        """Return a future of a value that all workers need; it is sent again where a worker has lost it."""
        return self.each(received, [value])[0]

    def gather(
        self, futures: list[Any], again: str = "train again", patience: float | None = None
    ) -> list[Any]:
        """Return the results of futures; ``again`` and ``patience`` are those of `patiently`.

        Raises
        ------
        FwsvmError
            What a worker raised; `UsageError` where workers were lost, again and again, or do not have this fwsvm,
            and where the scheduler is gone.
        """

        def look(seconds: float) -> None:
            with self.client.as_current():
                distributed().wait(futures, timeout=seconds)

        with errors(self.client):
            patiently(self.client, look, again, patience or PATIENCE_SECONDS)
            found: list[Any] = self.client.gather(futures)
        return found

    def close(self) -> None:
        """Disconnect; what workers hold for this connection is released."""
        self.client.close()


def patiently(client: Any, look: Callable[[float], Any], again: str, patience: float) -> Any:
    """Return what ``look`` returns, which is given seconds and asked again where it raises `TimeoutError` after them.

    Raises
    ------
    UsageError
        There has been no worker for ``patience`` seconds; ``again`` says what to do once there are some.
    """
    alone = 0.0
    while True:
        with contextlib.suppress(TimeoutError):
            return look(LOOK_SECONDS)
        alone = 0.0 if client.nthreads() else alone + LOOK_SECONDS
        if alone >= patience:
            raise UsageError(
                f"the cluster has had no worker for {alone:g} s; start some with `dask worker`, and {again}"
            )


@contextlib.contextmanager
def errors(client: Any) -> Iterator[None]:
    """Turn what Dask raises into sentences; a client that is not connected may raise anything."""
    try:
        yield
    except FwsvmError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        lost = isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError | OSError)
        why = kind_and_words(error)
        if isinstance(error, distributed().KilledWorker):
            said = (
                f"workers died, one after another, with the same part of the rows ({error}); their logs say why: most "
                "often it is too little memory"
            )
        elif lost or client.status != "running":
            said = f"the connection to the cluster's scheduler was lost: {why}"
        else:
            said = (
                f"a worker failed: {why}; check that each worker has this version of fwsvm, numpy and numba"
            )
        raise UsageError(said) from error
