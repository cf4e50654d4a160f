"""The worker of a VPU program: the executable itself, whose main function is the runtime's loop
(worker.c in shim/vpu_run)."""

from __future__ import annotations

import contextlib
import select
import signal
import socket as sockets
import struct
import time
from collections.abc import Callable

from ...core import threads
from ...native.pva_gate import Outcome, PvaGate, post_at, wait_at
from ...workers.image import Image
from ...workers.patience import Patience, process_state
from ...workers.process import WorkerProcess, ended_by, pair

_LAST_WORDS_S = 0.25
"""How long a worker may take to say where it was when it is told to stop."""
_NUMBER = struct.Struct("<i")
_ANSWERED, _LATE, _OTHERS = map(int, (Outcome.ANSWERED, Outcome.LATE, Outcome.OTHERS))
_LOOK_S = 5.0
"""How often who listens looks whether a launch takes long."""


class Process(WorkerProcess):
    """``files``: control file, VMEM, DRAM, L2SRAM; ``sizes``: bytes of DRAM and of L2SRAM;
    ``gate``: that of the control file; ``allowed``: a sum of ``protocol.ALLOWED``; ``limit_s``:
    seconds that a launch may take, 0: any time.

    Raises WorkerError.
    """

    def __init__(
        self,
        image: Image,
        files: tuple[int, ...],
        sizes: tuple[int, int],
        gate: PvaGate,
        allowed: int,
        limit_s: float = 0.0,
    ) -> None:
        self.allowed = allowed
        self.given_up = False
        """A launch that nobody waited for took longer than ``limit_s``."""
        self._limit_s = limit_s
        self._posted_at: float | None = None
        self._patience: tuple[float, Patience] | None = None  # of who listens
        self._gate, self._gate_at = gate, gate.at
        gate.reset()
        self._reports, theirs = pair()
        self.listens = False
        """Whether somebody hears of launches that nobody waits for."""
        inherited = (*files, theirs.fileno())
        try:
            with theirs:
                super().__init__(
                    image,
                    lambda socket: [str(n) for n in (socket, *inherited, *sizes)],
                    inherited,
                    allowed=allowed,
                    report=theirs.fileno(),
                )
        except BaseException:
            self._reports.close()
            raise
        self._fd = self.socket.fileno()

    def run(self, deadline_s: float | None) -> str:
        """Runs the request in the control file: "answered", "late" or "gone".

        After "late" it has said where it was, if it could; it is of no more use then.
        """
        if not self._gate.post(self._fd, claimed=True):
            return "gone"
        patience = Patience(0.0 if deadline_s is None else max(deadline_s, 1e-6), self._waited_for)
        again, over = False, False
        while not over:
            left_s = patience.left_s()
            limit = -1 if left_s is None else int(left_s * 1e6)
            outcome, message = self._gate.wait(self._fd, limit, keep=True, again=again)
            if outcome is not Outcome.LATE:
                return self._ended(outcome, message)
            again, over = True, patience.over()
        self.signal(signal.SIGUSR1)
        _came(self.socket, _LAST_WORDS_S)
        return "late"

    def _waited_for(self) -> str:
        return f"a VPU program ({process_state(self.pid)})"

    def _ended(self, outcome: Outcome, message: int) -> str:
        self.ended_by = ended_by(message) if message else 0
        self._posted_at = None
        return "answered" if outcome is Outcome.ANSWERED else "gone"

    # --- launches that nobody waits for, at first ---

    def post(self) -> bool:
        """Begins a launch; false when the worker is gone. ``listen`` came before."""
        self._posted_at = time.monotonic()
        return bool(post_at(self._gate_at, self._fd, False))

    def wait(self, timeout_us: int) -> str:
        """Waits for a launch that was posted, below 0 for ever: "answered" or "gone" when the
        caller, and nobody else, works off its result; "" otherwise."""
        outcome = wait_at(self._gate_at, self._fd, timeout_us, False)
        if outcome == _ANSWERED:
            self._posted_at = None
            return "answered"
        if outcome in (_LATE, _OTHERS):
            return ""
        return self._ended(Outcome(outcome & 0xFF), outcome >> 8)

    def listen(self, ended: Callable[[str], None], name: str) -> None:
        """Calls ``ended``, in a thread of its own, when a launch ended that was posted and that
        nobody waited for. Only the first call counts. Raises MemoryError without a thread."""
        if self.listens:
            return
        gate, reports = self._gate, self._reports

        def run() -> None:
            while True:
                while not _came(reports, min(_LOOK_S, self._limit_s or _LOOK_S)):
                    self._look()
                try:
                    data = reports.recv(_NUMBER.size)
                except OSError:
                    data = b""
                (number,) = _NUMBER.unpack(data) if data else (-1,)
                outcome = gate.take(gone=number < 0)
                if outcome is not Outcome.OTHERS:
                    ended(self._ended(outcome, number if data else 0))
                if number < 0:
                    return

        threads.start(run, name)
        self.listens = True

    def _look(self) -> None:
        """Whether the launch that was posted takes too long."""
        begin = self._posted_at
        if begin is None:
            return
        if self._patience is None or self._patience[0] != begin:
            self._patience = begin, Patience(self._limit_s, self._waited_for, begin)
        if self._patience[1].over() and not self.given_up:
            self.given_up = True
            self.signal(signal.SIGUSR1)
            time.sleep(_LAST_WORDS_S)
            self.stop()

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._reports.shutdown(sockets.SHUT_RDWR)  # who listens learns of it
        super().kill()

    def _let_go(self) -> None:
        self._reports.close()
        super()._let_go()


def _came(socket: sockets.socket, timeout_s: float) -> bool:
    """Whether there is something to read; also when it has been closed."""
    try:
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))
    except (OSError, ValueError):
        return True
