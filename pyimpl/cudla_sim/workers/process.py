"""One worker process: starting, greeting, watching and ending it.

``lib/confine`` (shim/confine) starts the program as the child of a child, so that the host's
``wait()`` never meets it, and takes its rights before it executes it. The worker is the leader of a
process group of its own. The first message is its process id and by what it is confined, and comes
from there: a program cannot name another process. The second is its own, when it is ready. Its
parent waits for it and sends how it has ended: minus the number of a signal, or -1000 - the exit
status.

It must never outlive the host, not even in a kernel that spins, and neither must a process that it
has started where it may do that. So every worker holds the reading end of a pipe, the *lifeline*,
whose writing end only the host has. When that is closed, by us or by the kernel when the host dies
of whatever, the kernel itself kills the whole group (asynchronous notification, fcntl(2), with
``F_SETSIG``).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import weakref
from collections.abc import Callable, Sequence

from .. import paths
from ..constants import confine
from ..core.text import tell
from .files import above_standard
from .image import Image

CONFINED, UNCONFINED = 0, confine.ALLOW_ALL
"""What a program may do besides: nothing, and everything (``ALLOW_ALL`` in shim/confine)."""
_NUMBER = struct.Struct("<i")
_HELLO = ctypes.sizeof(confine.confine_hello)
_START_TIMEOUT_S = 10.0


class WorkerError(Exception):
    """A worker could not be started; the text says why."""


class WorkerProcess:
    """``words`` gives the arguments of the program, from the number of its end of the socket.

    ``files``: descriptors that it gets. ``quiet``: it prints nothing. ``allowed``: its rights;
    ``report``: a second socket that is told how it has ended. Raises WorkerError.
    """

    def __init__(
        self,
        image: Image,
        words: Callable[[int], Sequence[str]],
        files: Sequence[int],
        *,
        quiet: bool = False,
        allowed: int = CONFINED,
        report: int = -1,
    ) -> None:
        self.pid = 0
        self.ended_by = 0
        """The signal that has ended it; 0: none, or not known."""
        self._pidfd = self._lifeline = -1
        self.socket, theirs = pair()
        end, self._lifeline = (above_standard(fd) for fd in os.pipe2(os.O_CLOEXEC))
        try:
            with theirs:
                number = theirs.fileno()
                head = [str(n) for n in (allowed, image.fd, number, report)]
                inherited = (*files, number, end, image.fd)
                status = _start(image, [*head, image.name, *words(number)], inherited, quiet)
            self._greet(image, status, allowed)
            self._tie(end)
        except BaseException:
            self.kill()
            raise
        finally:
            os.close(end)
        _alive.add(self)

    def _greet(self, image: Image, status: int, allowed: int) -> None:
        self.socket.settimeout(_START_TIMEOUT_S)
        why = f"exit status {status}"
        ready = False
        try:
            hello = self.socket.recv(_HELLO)
            if len(hello) == _HELLO:
                first = confine.confine_hello.from_buffer_copy(hello)
                self.pid, layers = first.process, first.layers
                _tell_confined(layers if allowed != UNCONFINED else confine.CONFINED_FULLY)
                with contextlib.suppress(OSError):  # gone already: its socket will tell
                    self._pidfd = os.pidfd_open(self.pid)
                answer = self.socket.recv(_NUMBER.size)
                number = (
                    _NUMBER.unpack(answer)[0] if len(answer) == _NUMBER.size else confine.EXITED
                )
                if number <= confine.NOT_STARTED:
                    cause = os.strerror(confine.NOT_STARTED - number)
                    raise WorkerError(f"{image.name!r} cannot be started: {cause}")
                ready = number >= 0
                killer = ended_by(number)
                why = signal_name(killer) if killer else f"exit status {confine.EXITED - number}"
        except OSError as cause:
            why = str(cause)
        if not ready:
            raise WorkerError(f"{image.name!r} did not start: {why}")
        self.socket.settimeout(None)

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

    def interrupt(self) -> None:
        """Asks a program that waits for SIGUSR1 to look up; others would end."""
        self.signal(signal.SIGUSR1)

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


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets for whole messages. Raises OSError."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    first, second = (socket.socket(fileno=above_standard(end.detach())) for end in ends)
    return first, second


_told = False


def _tell_confined(layers: int) -> None:
    """Say once which layers of confinement this system lacks."""
    global _told
    if layers == confine.CONFINED_FULLY or _told:
        return
    _told = True
    missing = "neither seccomp nor Landlock"
    if layers:
        missing = "no Landlock: programs can read files" if layers & 2 else "no seccomp"
    tell(f"cudla-sim: this system has {missing}; DPU and VPU programs are not fully confined")


def ended_by(answer: int) -> int:
    """The signal that a worker's parent named; 0 for none."""
    return -answer if confine.EXITED < answer < 0 else 0


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
            ["cudla-sim-confine", *words],
            executable=paths.lib_dir() / "confine",
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
