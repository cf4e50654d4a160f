"""A connection to the cluster that somebody else runs."""

from __future__ import annotations

import importlib
import logging
import socket
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from ..core.events import warn
from ..version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT_TIMEOUT_S = 30.0
WORKERS_TIMEOUT_S = 60.0
RECONNECT_S = 5.0
"""How long a scheduler may be away."""
EXTRA = "pip install 'cudla-sim[cluster]'"


class ClusterError(Exception):
    """The cluster cannot be used; the text says why, in one line."""


def _distributed() -> Any:
    """The package. Raises ClusterError where it is not installed."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(f"clusters need Dask distributed: {EXTRA} ({error})") from None


def identity() -> tuple[str, str]:
    """Version of this package and name of this machine; called on the workers."""
    return __version__, socket.gethostname()


_LOGGERS = tuple(
    f"distributed.{name}" for name in ("batched", "client", "comm", "core", "utils", "utils_comm")
)
"""Where Dask logs, with tracebacks, that a connection is gone: what we say in a line."""


def hush() -> None:
    """Leaves these lines out."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def alive(client: Any) -> bool:
    """Whether the scheduler is there, as far as the client knows."""
    return str(client.status) == "running"


def gone(client: Any) -> ClusterError:
    """What there is to say of a scheduler that was there."""
    where = getattr(getattr(client, "scheduler", None), "address", "")
    return ClusterError(f"the scheduler {where} is gone".replace("  ", " "))


def connect(address: str, *, direct: bool = False) -> Any:
    """A ``distributed.Client`` of a scheduler; ``direct``: it talks to workers without going
    through the scheduler.

    Raises ClusterError: distributed is missing, or nobody answers at the address.
    """
    distributed = _distributed()
    hush()
    try:
        distributed.comm.get_address_host_port(address)  # a client of none takes long to be gone
        warn(f"connecting to {address}")
        return distributed.Client(
            address,
            timeout=CONNECT_TIMEOUT_S,
            direct_to_workers=direct,
            set_as_default=False,
            name="cudla-sim",
        )
    except TypeError as error:
        if not address.startswith("tls://"):
            raise ClusterError(f"{address!r} is no address of a scheduler: {error}") from None
        raise ClusterError(
            f"no certificate for {address!r}: DASK_DISTRIBUTED__COMM__TLS__CA_FILE and "
            "..._CLIENT__CERT and ..._CLIENT__KEY name the files (docs/cluster.md)"
        ) from None
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} (tcp://HOST:8786 is the usual form): {error}"
        ) from None


def still_there(client: Any) -> None:
    """Raises ClusterError when the scheduler is away and does not come back soon. To be asked
    before a call to it, which Dask tries for 30 s."""
    end = monotonic() + RECONNECT_S
    while not alive(client):
        if monotonic() > end:
            raise gone(client)
        sleep(0.1)


def workers(client: Any) -> dict[str, str]:
    """Address and machine of each worker, in a fixed order; waits for the first one.

    Raises ClusterError: there is none, or one lacks this version of this package.
    """
    still_there(client)
    try:
        client.wait_for_workers(1, timeout=WORKERS_TIMEOUT_S)
    except TimeoutError:
        raise ClusterError(
            f"the cluster has had no worker for {WORKERS_TIMEOUT_S:g} s; start some "
            "(dask worker ADDRESS), or scale it up"
        ) from None
    try:
        client.run_on_scheduler(identity)
    except Exception as problem:
        raise ClusterError(
            f"the scheduler must have cudla-sim {__version__}, too: {str(problem).splitlines()[0]}"
        ) from None
    machines = {}
    for address, found in client.run(identity, on_error="return").items():
        if isinstance(found, BaseException) or found[0] != __version__:
            has = f"none ({found})" if isinstance(found, BaseException) else f"version {found[0]}"
            raise ClusterError(
                f"worker {address} must have cudla-sim {__version__}, as this machine has; "
                f"it has {has}"
            )
        machines[address] = found[1]
    return dict(sorted(machines.items()))


@contextmanager
def client_of(cluster: Any) -> Iterator[Any]:
    """The client for an address, for a cluster object (``scheduler_address``), or for a client,
    which is left open. Raises ClusterError."""
    if isinstance(cluster, str):
        client = connect(cluster)
    elif hasattr(cluster, "scheduler_address"):
        client = connect(cluster.scheduler_address)
    elif hasattr(cluster, "submit") and hasattr(cluster, "scatter"):
        yield cluster
        return
    else:
        raise ClusterError(
            f"cluster is {type(cluster).__name__}; it is a scheduler's address, a cluster object "
            "of Dask, or a distributed.Client"
        )
    try:
        yield client
    finally:
        client.close()
