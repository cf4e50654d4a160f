"""Waits for a debugger, and serves it one DPU."""

from __future__ import annotations

import socket
from collections.abc import Callable

from ....constants.dpu_protocol import FaultKind
from ....core.text import tell
from ...errors import Status, error
from ...rank import Dpu
from ...workers.outcome import Outcome
from ..state import State
from . import TRIPLE
from .packets import Closed, Connection
from .session import Session
from .target import Target

HOST = "127.0.0.1"
"""Debuggers may do anything: only those of this machine are let in."""


def serve_launch(dpu: Dpu, port: int) -> Outcome | None:
    """The same for a launch of a host program.

    Raises DpuError(DPU_ERR_SYSTEM) when the port cannot be opened.
    """

    def ready(number: int) -> None:
        name = dpu.program.path if dpu.program else ""
        tell(f"cudla-sim: DPU {dpu.name} '{name}' waits for a debugger at localhost:{number}")

    try:
        return serve(State(dpu), port, ready)
    except OSError as cause:
        raise error(
            Status.DPU_ERR_SYSTEM, f"no port {port} for a debugger: {cause.strerror}"
        ) from None


def serve(
    state: State, port: int, ready: Callable[[int], None], triple: str = TRIPLE
) -> Outcome | None:
    """Boots the DPU, and does what the debugger wants until it detaches; then the program goes on
    to its end. *ready* is told the port when it is open (0: the system chooses one).

    What has ended it: None, a fault, or the debugger. Raises OSError when the port cannot be
    opened.
    """
    with socket.create_server((HOST, port)) as listening:
        ready(listening.getsockname()[1])
        end, _ = listening.accept()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    target = Target(state)
    target.start()
    connection = Connection(end)
    try:
        Session(connection, target, triple).serve()
    except Closed:
        pass  # as if it had detached
    finally:
        connection.close()
    target.breakpoints.clear()
    for watched in list(target.watches):
        target.unwatch(*watched)
    if target.killed:
        text = "the debugger killed it"
        return Outcome(state.dpu.slot, "fault", FaultKind.CANCELLED, text=text)
    if not target.ended:
        target.go_on()
    return target.outcome
