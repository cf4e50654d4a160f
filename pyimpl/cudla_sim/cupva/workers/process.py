"""The worker of a VPU program: the executable itself, whose main function is the runtime's loop
(worker.c in shim/vpu_run)."""

from __future__ import annotations

import select
import signal
from time import monotonic

from ...workers.image import Image
from ...workers.process import WorkerProcess

_LAST_WORDS_S = 0.25
"""How long a worker may take to say where it was when it is told to stop."""


class Process(WorkerProcess):
    """``files``: control file, VMEM, DRAM, L2SRAM; ``sizes``: bytes of DRAM and of L2SRAM.

    Raises WorkerError.
    """

    def __init__(self, image: Image, files: tuple[int, ...], sizes: tuple[int, int]) -> None:
        super().__init__(image, lambda socket: [str(n) for n in (socket, *files, *sizes)], files)
        self._number = 0
        self._poll = select.poll()
        self._poll.register(self.socket.fileno(), select.POLLIN)

    def run(self, deadline_s: float | None) -> str:
        """Runs the request in the control file: "answered", "late" or "gone".

        After "late" it has said where it was, if it could; it is of no more use then.
        """
        self._number = (self._number + 1) & 0x7FFF_FFFF
        if not self.send(self._number):
            return "gone"
        if deadline_s is None or self._wait(deadline_s):
            return "answered" if self.answered() else "gone"
        self.signal(signal.SIGUSR1)
        self._wait(_LAST_WORDS_S)
        return "late"

    def _wait(self, seconds: float) -> bool:
        end = monotonic() + seconds
        while True:
            left = max(0.0, end - monotonic())
            if self._poll.poll(left * 1000):
                return True
            if left <= 0:
                return False
