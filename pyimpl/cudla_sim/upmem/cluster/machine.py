"""One worker of the cluster, as the program sees it: calls to its actor, and whether it lives."""

from __future__ import annotations

import contextlib
import threading
import uuid
from typing import Any

from ...cluster.connection import alive, gone
from ...core.events import warn
from ..errors import DpuError, Status, error
from .host import RankHost, Refused

_LOOK_S = 2.0
"""How often somebody who waits looks whether the worker still lives."""


class Call:
    """A call that is under way."""

    def __init__(self, machine: RemoteMachine, future: Any) -> None:
        self._machine = machine
        self._future = future

    def result(self) -> Any:
        """Waits for its end. Raises DpuError(DPU_ERR_SYSTEM) when the worker is lost, or refuses;
        what else the actor raises goes through."""
        while True:
            try:
                return self._future.result(timeout=_LOOK_S)
            except TimeoutError:
                if not self._machine.alive():
                    raise self._machine.lose("it does not answer any more") from None
            except (OSError, RuntimeError) as problem:
                raise self._machine.lose(str(problem)) from None
            except Refused as problem:
                if not self._machine.alive():
                    raise self._machine.lose(str(problem)) from None
                raise error(Status.DPU_ERR_SYSTEM, f"{self._machine}: {problem}") from None


class RemoteMachine:
    """Ranks ``number``, ``number + of``, ... of the machine live there, ``per_rank`` DPUs each.

    Raises DpuError(DPU_ERR_ALLOCATION) when the actor cannot be made.
    """

    def __init__(
        self,
        client: Any,
        address: str,
        name: str,
        ranks: list[int],
        per_rank: int,
        workers: int | None,
        limit_s: float,
    ) -> None:
        self.address = address
        self.name = name
        self.ranks = ranks
        self.images: set[bytes] = set()
        """Digests of the programs that it has."""
        self._client = client
        self._token = uuid.uuid4().hex
        self._lock = threading.Lock()
        self.lost = ""
        """Why it is lost; empty while it is not."""
        self._future = client.submit(
            RankHost,
            len(ranks) * per_rank,
            len(ranks) + 8,
            workers,
            limit_s,
            self._token,
            actor=True,
            workers=[address],
            allow_other_workers=False,
            pure=False,
            key=f"cudla-sim-ranks-{self._token}",
        )
        self._actor: Any = None

    def __str__(self) -> str:
        return f"machine {self.name} ({self.address})"

    def connect(self) -> None:
        """Waits for the actor. Raises DpuError(DPU_ERR_ALLOCATION)."""
        try:
            with self._client.as_current():
                self._actor = self._future.result(timeout=60)
            Call(self, self._actor.hello()).result()
        except DpuError as problem:
            raise error(Status.DPU_ERR_ALLOCATION, problem.explanation) from None
        except Exception as problem:
            raise error(
                Status.DPU_ERR_ALLOCATION,
                f"{self} cannot hold ranks: {type(problem).__name__}: "
                f"{(str(problem).splitlines() or [''])[0]}",
            ) from None

    def call(self, method: str, *arguments: Any) -> Call:
        """Begins a call with the token in front. Raises DpuError(DPU_ERR_SYSTEM): lost."""
        if self.lost:
            raise self._error()
        try:
            return Call(self, getattr(self._actor, method)(self._token, *arguments))
        except (OSError, RuntimeError) as problem:
            raise self.lose(str(problem)) from None

    def alive(self) -> bool:
        """Asks the scheduler."""
        if self.lost:
            return False
        try:
            return self._future.status == "finished" and self.address in self._client.nthreads()
        except Exception:  # the scheduler is gone, too
            return False

    def lose(self, why: str) -> DpuError:
        """Notes that it is lost; the error for whoever needed it."""
        with self._lock:
            first, self.lost = not self.lost, self.lost or (why or "it is gone")
        if first and not self._unreachable():
            warn(f"{self._error().explanation}")
        return self._error()

    def _unreachable(self) -> bool:
        """Whether the scheduler is gone, and with it all machines; tells that once."""
        if alive(self._client):
            return False
        with self._lock:
            told, self._client.told_gone = getattr(self._client, "told_gone", False), True
        if not told:
            warn(
                f"{gone(self._client)}: what the DPUs of the cluster held is gone, no rank goes on"
            )
        return True

    def why(self) -> str:
        """Why it is lost, for its DPUs."""
        if not alive(self._client):
            return str(gone(self._client))
        return f"{self} is lost: {self.lost}"

    def _error(self) -> DpuError:
        if not alive(self._client):
            return error(Status.DPU_ERR_SYSTEM, f"{gone(self._client)}; no rank goes on")
        held = ", ".join(map(str, self.ranks[:8])) + (" ..." if len(self.ranks) > 8 else "")
        return error(
            Status.DPU_ERR_SYSTEM,
            f"{self}, which holds the ranks {held}, is lost: {self.lost}; what its DPUs held is "
            "gone, dpu_free takes sets that had them, other ranks go on",
        )

    def close(self) -> None:
        """Lets the actor go, which ends its programs."""
        if not self.lost and self._actor is not None:
            with contextlib.suppress(Exception):  # it ends with its key
                self._actor.close().result(timeout=_LOOK_S)
        self._actor = None
        self._future.release()
