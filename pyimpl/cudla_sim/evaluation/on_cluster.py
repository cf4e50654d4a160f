"""Batches on a Dask cluster: the network is sent once, batches go to whoever is free."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import Any

from ..cluster.connection import ClusterError, alive, gone, still_there, workers
from . import score
from .errors import EvaluationError, Interrupted
from .local import Done
from .runner import EvaluatedNetwork, Runner
from .score import Batch, Row

_ATTEMPTS = 4
"""Times that a batch is given out again when all that held the network are gone."""
_AHEAD = 2
"""Batches for each thread of the cluster that are under way."""

_loaded = threading.local()


def run_batch(network: EvaluatedNetwork, key: str, batch: Batch) -> list[Row] | EvaluationError:
    """On a worker: the network stays loaded, one for each thread, until another one comes."""
    if getattr(_loaded, "key", None) != key:
        if getattr(_loaded, "runner", None) is not None:
            _loaded.runner.close()
            _loaded.runner = None
        _loaded.key, _loaded.runner = None, Runner(network)
        _loaded.key = key
    try:
        return score.run(_loaded.runner, batch)
    except EvaluationError as error:  # as an answer: it is not the worker's fault
        return error


def thread_count(client: Any) -> int:
    """Threads of all workers. Raises ClusterError when there are none."""
    workers(client)
    return max(sum(client.nthreads().values()), 1)


class _UnderWay:
    """Batches that the cluster has."""

    def __init__(self, client: Any, network: EvaluatedNetwork) -> None:
        self._client = client
        self._network = network
        self._key = f"cudla-sim-{uuid.uuid4().hex}"
        self.batches: dict[Any, tuple[Batch, int]] = {}
        self._sent: Any = None

    def submit(self, batch: Batch, attempt: int = 1) -> Any:
        """Raises ClusterError when no worker can take the network."""
        if self._sent is None or self._sent.cancelled() or self._sent.status == "lost":
            workers(self._client)
            self._sent = self._client.scatter(self._network, broadcast=True, hash=False)
        future = self._client.submit(
            run_batch,
            self._sent,
            self._key,
            batch,
            key=f"{self._key}-batch-{batch.number}-{attempt}",
            pure=False,
        )
        self.batches[future.key] = batch, attempt
        return future

    def again(self, future: Any) -> Any:
        """What was lost with its workers. Raises EvaluationError after too many times."""
        batch, attempt = self.batches.pop(future.key)
        if attempt == _ATTEMPTS:
            raise Interrupted(
                f"the workers were lost {_ATTEMPTS} times over the samples {batch.samples[0]} to "
                f"{batch.samples[-1]}"
            )
        self._sent = None
        return self.submit(batch, attempt + 1)


def run(client: Any, network: EvaluatedNetwork, batches: Iterator[Batch], done: Done) -> None:
    """``done`` gets the rows of each batch once. Raises EvaluationError, ClusterError."""
    try:
        _run(client, network, batches, done)
    except (ClusterError, EvaluationError):
        raise
    except Exception:  # whatever Dask says of a connection that is gone
        if alive(client):
            raise
        raise gone(client) from None


def _run(client: Any, network: EvaluatedNetwork, batches: Iterator[Batch], done: Done) -> None:
    from distributed import CancelledError, as_completed  # an extra

    under_way = _UnderWay(client, network)
    most = _AHEAD * thread_count(client)
    ended: Any = as_completed([], loop=client.loop)  # type: ignore[no-untyped-call]
    futures: set[Any] = set()

    def give(future: Any) -> None:
        futures.add(future)
        ended.add(future)

    try:
        more = True
        while more or futures:
            while more and len(futures) < most:
                batch = next(batches, None)
                more = batch is not None
                if batch is not None:
                    give(under_way.submit(batch))
            if not futures:
                break
            future = _next(client, ended)
            futures.discard(future)
            if not alive(client):
                raise gone(client)
            if future.status == "finished":
                try:
                    answer = future.result()
                except CancelledError:  # its worker died before we had the answer
                    give(under_way.again(future))
                    continue
                under_way.batches.pop(future.key)
                if isinstance(answer, EvaluationError):
                    raise answer
                done(answer)
            elif future.status == "error":
                raise ClusterError(_why(future))
            else:
                give(under_way.again(future))
    finally:
        if alive(client):
            client.cancel(list(futures))


def _next(client: Any, ended: Any) -> Any:
    """The next batch that ended. Raises ClusterError when the scheduler does not come back."""
    while not ended.has_ready() and not ended.is_empty():
        still_there(client)
        with ended.thread_condition:
            ended.thread_condition.wait(0.1)
    return next(ended)


def _why(future: Any) -> str:
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return f"the workers that ran {future.key} died, one after the other: {error}".split("\n")[
            0
        ]
    return f"a worker failed with {type(error).__name__}: {error}"
