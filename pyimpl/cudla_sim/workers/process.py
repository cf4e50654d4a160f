"""One worker process: starting, greeting, watching and ending it.

The program starts itself as the child of a child, so that the host's ``wait()`` never meets it. The
worker becomes the leader of a process group of its own, and its first message is its process id.
Its parent waits for it and sends how it has ended: minus the number of a signal, or -1000 - the
exit status; so that is known even while a child of its kernel holds its end of the socket.

It must never outlive the host, not even in a kernel that spins, and neither must a process that its
kernel has started. So every worker holds the reading end of a pipe, the *lifeline*, whose writing
end only the host has. When that is closed, by us or by the kernel when the host dies of whatever,
the kernel itself kills the whole group (asynchronous notification, fcntl(2), with ``F_SETSIG``).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import struct
import subprocess
import weakref
from collections.abc import Callable, Sequence

from .image import Image

_NUMBER = struct.Struct("<i")
_EXITED = -1000
_START_TIMEOUT_S = 10.0


class WorkerError(Exception):
    """A worker could not be started; the text says why."""


class WorkerProcess:
    """``words`` gives the arguments of the program, from the number of its end of the socket.

    ``files``: descriptors that it gets. ``quiet``: it prints nothing. Raises WorkerError.
    """

    def __init__(
        self,
        image: Image,
        words: Callable[[int], Sequence[str]],
        files: Sequence[int],
        *,
        quiet: bool = False,
    ) -> None:
        self.pid = 0
        self.ended_by = 0
        """The signal that has ended it; 0: none, or not known."""
        self._pidfd = self._lifeline = -1
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        end, self._lifeline = os.pipe2(os.O_CLOEXEC)
        try:
            with theirs:
                inherited = (*files, theirs.fileno(), end, image.fd)
                status = _start(image, words(theirs.fileno()), inherited, quiet)
            self._greet(image, status)
            self._tie(end)
        except BaseException:
            self.kill()
            raise
        finally:
            os.close(end)
        _alive.add(self)

    def _greet(self, image: Image, status: int) -> None:
        self.socket.settimeout(_START_TIMEOUT_S)
        why = f"exit status {status}"
        try:
            hello = self.socket.recv(_NUMBER.size)
        except OSError as cause:
            hello, why = b"", str(cause)
        if len(hello) == _NUMBER.size:
            (number,) = _NUMBER.unpack(hello)
            self.pid = max(number, 0)
            if number < 0:
                killer = ended_by(number)
                why = signal_name(killer) if killer else f"exit status {_EXITED - number}"
        if self.pid == 0:
            raise WorkerError(f"{image.name!r} did not start: {why}")
        self.socket.settimeout(None)
        with contextlib.suppress(OSError):  # gone already: its socket will tell
            self._pidfd = os.pidfd_open(self.pid)

    def _tie(self, end: int) -> None:
        """The worker's group is killed when the writing end of its lifeline is closed."""
        with contextlib.suppress(OSError):  # gone already
            fcntl.fcntl(end, fcntl.F_SETOWN, -self.pid)
            fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)

    def send(self, number: int) -> bool:
        """Gives it work; false when it is gone."""
        try:
            sent = self.socket.send(_NUMBER.pack(number), socket.MSG_NOSIGNAL)
        except OSError:
            return False
        return sent == _NUMBER.size

    def answered(self) -> bool:
        """Waits for its answer: false when it is gone."""
        try:
            answer = self.socket.recv(_NUMBER.size)
        except OSError:
            return False
        if len(answer) != _NUMBER.size:
            return False
        (number,) = _NUMBER.unpack(answer)
        self.ended_by = ended_by(number)
        return bool(number >= 0)

    def signal(self, number: int) -> None:
        """Harmless when it is gone."""
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, number)

    def stop(self) -> None:
        """Ends the process, also in the middle of a kernel; who waits for it learns that."""
        self.signal(signal.SIGKILL)

    def kill(self) -> None:
        """Ends the process and what it has started, and lets go of it. Harmless when repeated."""
        self.stop()
        self._let_go()

    def _let_go(self) -> None:
        for fd in (self._pidfd, self._lifeline):
            if fd >= 0:
                os.close(fd)
        self._pidfd = self._lifeline = -1
        self.socket.close()


def ended_by(answer: int) -> int:
    """The signal that a worker's parent named; 0 for none."""
    return -answer if _EXITED < answer < 0 else 0


def signal_name(number: int) -> str:
    """``signal 9 (SIGKILL)``."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _start(image: Image, words: Sequence[str], files: tuple[int, ...], quiet: bool) -> int:
    """Starts the program; the exit status of the first process, whose child the worker is."""
    try:
        first = subprocess.Popen(
            [image.name, *words],
            executable=f"/proc/self/fd/{image.fd}",
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=subprocess.DEVNULL if quiet else None,
        )
    except OSError as cause:
        raise WorkerError(f"{image.name!r} cannot be started: {cause}") from None
    with contextlib.suppress(ChildProcessError):
        first.wait()
    return first.returncode or 0


_alive: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()


def _in_a_child_of_the_host() -> None:
    """The parent's workers must not live on because this process holds their descriptors."""
    for worker in list(_alive):
        worker._let_go()
    _alive.clear()


os.register_at_fork(after_in_child=_in_a_child_of_the_host)
