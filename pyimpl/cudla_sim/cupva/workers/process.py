"""One worker process, and starting it.

A worker is the VPU executable itself: its main function is the runtime's loop, worker.c in
shim/vpu_run. It is started as a child of a child, so that the host program's wait() never meets it,
and ends when our end of its socket is closed, by us or by the kernel when this process dies.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
from time import monotonic

_NUMBER = struct.Struct("<I")
_START_TIMEOUT_S = 10.0
_LAST_WORDS_S = 0.25
"""How long a worker may take to say where it was when it is told to stop."""


class WorkerError(Exception):
    """A worker could not be started; the text says why."""


class Image:
    """An executable in memory that can be started any number of times."""

    def __init__(self, contents: bytes) -> None:
        writable = os.memfd_create("vpu", os.MFD_CLOEXEC)
        try:
            rest = memoryview(contents)
            while rest:
                rest = rest[os.write(writable, rest) :]
            # a file that is open for writing cannot be executed
            self.fd = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(writable)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Process:
    """``files``: control file, VMEM, DRAM, L2SRAM; ``sizes``: bytes of DRAM and of L2SRAM."""

    def __init__(self, image: Image, files: tuple[int, ...], sizes: tuple[int, int]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pidfd = -1
        self._number = 0
        self.pid = 0
        try:
            with theirs:
                words = [str(n) for n in (theirs.fileno(), *files, *sizes)]
                status = _start(image, words, (theirs.fileno(), *files, image.fd))
            self._greet(status)
        except BaseException:
            self.socket.close()
            raise
        self._poll = select.poll()
        self._poll.register(self.socket.fileno(), select.POLLIN)

    def _greet(self, status: int) -> None:
        """Its first message is its process id."""
        self.socket.settimeout(_START_TIMEOUT_S)
        why = f"exit status {status}"
        try:
            hello = self.socket.recv(_NUMBER.size)
        except OSError as cause:
            hello, why = b"", str(cause)
        if len(hello) != _NUMBER.size:
            raise WorkerError(f"the VPU executable did not start: {why}")
        self.socket.settimeout(None)
        (self.pid,) = _NUMBER.unpack(hello)
        with contextlib.suppress(OSError):  # gone already: its socket will tell
            self._pidfd = os.pidfd_open(self.pid)

    def run(self, deadline_s: float | None) -> str:
        """Runs the request in the control file: "answered", "late" or "gone".

        After "late" it has said where it was, if it could; it is of no more use then.
        """
        self._number = (self._number + 1) & 0xFFFF_FFFF
        try:
            self.socket.send(_NUMBER.pack(self._number), socket.MSG_NOSIGNAL)
        except OSError:
            return "gone"
        if deadline_s is None:
            return self._answer()
        if self._wait(deadline_s):
            return self._answer()
        self._signal(signal.SIGUSR1)
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

    def _answer(self) -> str:
        try:
            got = self.socket.recv(_NUMBER.size)
        except OSError:
            return "gone"
        return "answered" if len(got) == _NUMBER.size else "gone"

    def _signal(self, number: int) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, number)

    def stop(self) -> None:
        """Ends the process, also in the middle of a kernel; ``run`` answers "gone"."""
        self._signal(signal.SIGKILL)

    def kill(self) -> None:
        """Ends the process and lets go of it. Harmless when it is gone."""
        self.stop()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        self.socket.close()


def _start(image: Image, words: list[str], files: tuple[int, ...]) -> int:
    """Starts the executable; the exit status of the first process, whose child the worker is."""
    try:
        first = subprocess.Popen(
            ["vpu", *words],
            executable=f"/proc/self/fd/{image.fd}",
            pass_fds=files,
            stdin=subprocess.DEVNULL,
        )
    except OSError as cause:
        raise WorkerError(f"the VPU executable cannot be started: {cause}") from None
    with contextlib.suppress(ChildProcessError):
        first.wait()
    return first.returncode or 0
