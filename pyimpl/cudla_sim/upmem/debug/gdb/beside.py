"""A DPU that runs while its debugger may want it to stop."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from time import sleep

from ..state import State
from .packets import Closed, Connection

_POLL_S = 0.001


def run(connection: Connection, state: State, work: Callable[[], None]) -> bool:
    """Does *work*, which runs the DPU, in another thread. Whether the debugger stopped it.

    Raises Closed when the debugger has gone (the DPU has stopped then), and what *work* raises.
    """
    raised: list[BaseException] = []
    done, end = os.pipe()

    def beside() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            os.close(end)

    thread = threading.Thread(target=beside, name="DPU under gdb")
    thread.start()
    interrupted = False
    try:
        poll = select.poll()
        poll.register(done, select.POLLIN | select.POLLHUP)
        poll.register(connection, select.POLLIN | select.POLLHUP)
        if connection.came_with_it():
            interrupted = True
            _stop(state, thread)
        while done not in {fd for fd, _ in poll.poll()}:
            if connection.interrupted():
                interrupted = True
                _stop(state, thread)
    except Closed:
        _stop(state, thread)
        raise
    finally:
        thread.join()
        os.close(done)
    if raised:
        raise raised[0]
    return interrupted


def _stop(state: State, thread: threading.Thread) -> None:
    """Until it has: the launch may be about to begin."""
    state.core.stop = 1
    try:
        while thread.is_alive():
            state.store.pool.stop([state.dpu.slot])
            sleep(_POLL_S)
    finally:
        state.core.stop = 0
