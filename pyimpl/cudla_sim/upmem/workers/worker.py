"""One process that runs DPUs."""

from __future__ import annotations

from ...workers.image import Image
from ...workers.process import CONFINED, WorkerProcess


class Worker(WorkerProcess):
    """``number`` is its name in the frames' owner table; ``doomed``: it gets no more work.

    ``machine``: the file with the memories of all DPUs, ``stride`` bytes each; ``control``: the
    frames; ``allowed``: ``CONFINED``, or ``UNCONFINED``. Raises WorkerError.
    """

    def __init__(
        self,
        image: Image,
        number: int,
        machine: int,
        control: int,
        stride: int,
        allowed: int = CONFINED,
    ) -> None:
        self.number = number
        self.doomed = False
        super().__init__(
            image,
            lambda socket: [f"{machine} {control} {socket} {stride} {number}"],
            (machine, control),
            quiet=True,
            allowed=allowed,
        )

    def kill_later(self) -> None:
        """Ends the process, also in the middle of a kernel; the launch that holds it notices."""
        self.doomed = True
        self.stop()
