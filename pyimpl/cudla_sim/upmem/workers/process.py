"""One worker process, and starting it.

A worker is the program file itself: its entry point is the runtime's loop, worker.c in
shim/dpu_run. It is started as a child of a child, so that the host program's wait() never meets it,
and ends when our end of its socket is closed, by us or by the kernel when this process dies.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
from pathlib import Path

_NUMBER = struct.Struct("<i")
_START_TIMEOUT_S = 10.0
_MFD_EXEC = 0x10


class WorkerError(Exception):
    """A worker could not be started; the text says why."""


def _executable_memory(name: str) -> int:
    """A memory file that may be executed: newer kernels want that said, older ones refuse it."""
    try:
        return os.memfd_create(name, os.MFD_CLOEXEC | _MFD_EXEC)
    except OSError:
        return os.memfd_create(name, os.MFD_CLOEXEC)


class Image:
    """A program that can be started any number of times, whatever happens to its file."""

    def __init__(self, path: str, contents: bytes) -> None:
        self.path = path
        self.contents = contents
        name = "dpu:" + Path(path).name[:200]
        writable = _executable_memory(name)
        try:
            rest = memoryview(contents)
            while rest:
                rest = rest[os.write(writable, rest) :]
            # a file that is open for writing cannot be executed
            self.fd = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(writable)

    def close(self) -> None:
        os.close(self.fd)


def _start(image: Image, arguments: str, files: tuple[int, ...]) -> int:
    """Starts the program; gives the exit status of the first process, whose child the worker is."""
    try:
        first = subprocess.Popen(
            [image.path or "dpu", arguments],
            executable=f"/proc/self/fd/{image.fd}",
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as cause:
        raise WorkerError(f"{image.path!r} cannot be started: {cause}") from None
    with contextlib.suppress(ChildProcessError):
        first.wait()
    return first.returncode or 0


class Worker:
    """``number`` is its name in the frames' owner table."""

    def __init__(self, image: Image, number: int, machine: int, control: int, stride: int) -> None:
        self.number = number
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pidfd = -1
        self.pid = 0
        self.doomed = False
        try:
            with theirs:
                arguments = f"{machine} {control} {theirs.fileno()} {stride} {number}"
                status = _start(image, arguments, (machine, control, theirs.fileno(), image.fd))
            self._greet(image, status)
        except BaseException:
            self.socket.close()
            raise

    def _greet(self, image: Image, status: int) -> None:
        """Its first message is its process id."""
        self.socket.settimeout(_START_TIMEOUT_S)
        why = f"exit status {status}"
        try:
            hello = self.socket.recv(4)
        except OSError as cause:
            hello, why = b"", str(cause)
        if len(hello) != 4:
            raise WorkerError(f"{image.path!r} did not start: {why}")
        self.socket.settimeout(None)
        (self.pid,) = _NUMBER.unpack(hello)
        with contextlib.suppress(OSError):  # gone already: its socket will tell
            self._pidfd = os.pidfd_open(self.pid)

    def run(self, frame: int) -> bool:
        """Tells it to work on a frame; false when it is gone."""
        try:
            return self.socket.send(_NUMBER.pack(frame), socket.MSG_NOSIGNAL) == 4
        except OSError:
            return False

    def answered(self) -> bool:
        """After its socket became readable: true for "done", false when it is gone."""
        try:
            return len(self.socket.recv(4)) == 4
        except OSError:
            return False

    def kill_later(self) -> None:
        """Ends the process, also in the middle of a kernel; the launch that holds it notices."""
        self.doomed = True
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def kill(self) -> None:
        """Ends the process and lets go of it. Harmless when it is gone."""
        self.kill_later()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        self.socket.close()
