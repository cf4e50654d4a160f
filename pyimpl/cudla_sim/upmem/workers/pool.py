"""Runs DPU programs in worker processes.

Each program has workers of its own, because a worker is the program. A launch takes idle ones (as
many as there are cores), shares its DPUs out through a frame, and waits without the interpreter
lock until all have answered. Launches from several threads go on side by side.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from ...constants.dpu_protocol import FRAME_SLOTS, MAX_FRAMES, SIDE_SIZE, SLOT_SIDE, State
from ...workers.patience import Patience, given_up, process_state
from ...workers.process import CONFINED, WorkerError
from .checks import Checks
from .executable import in_own_instructions
from .frame import BOOT, Frame, Frames, How
from .outcome import Launch, Outcome, recorded, stopped
from .programs import Program, Programs
from .protocol import Times
from .worker import Worker

__all__ = ["Launch", "Outcome", "WorkerError", "WorkerPool"]

_PATIENCE_S = 0.020
"""How long a launch waits for a busy worker before it gets one more."""
_MAX_TOGETHER = 512
"""Processes that one launch gets when the host talks to its DPUs while they run."""
_FUTILE = 3
"""Turns of a launch in which workers die and no DPU begins: a program may do that without end."""


class WorkerPool:
    """``memfd``: the memories of all DPUs, ``stride`` bytes a DPU. ``size``: workers a program has;
    None: one for each core this process may use. ``allowed``: see ``workers.process``.
    ``limit_s``: seconds that a launch may take, 0: any time. ``debugger``: the socket of one that
    is told of each worker."""

    def __init__(
        self,
        memfd: int,
        stride: int,
        size: int | None = None,
        allowed: int = CONFINED,
        limit_s: float = 0.0,
        debugger: str = "",
    ) -> None:
        self._debugger = debugger
        self._memfd = memfd
        self._stride = stride
        self._size = size or len(os.sched_getaffinity(0))
        self._allowed = allowed
        self._limit_s = limit_s
        self._frames = Frames()
        self._free_frames = list(range(MAX_FRAMES))
        self._running: dict[int, tuple[Frame, dict[int, Worker]]] = {}
        self._wakes: dict[int, int] = {}
        """By frame: an event that tells its launch to run all its DPUs at once."""
        self._programs = Programs()
        self._changed = threading.Condition()
        self._number = 0
        self._closed = False

    # ---- the public part ----

    def launch(
        self,
        program_path: str,
        image: bytes | Path,
        slots: Sequence[int],
        checks: Checks,
        timed: bool = False,
        how: How = BOOT,
    ) -> Launch:
        """Runs the program once on each slot; returns when all have ended.

        ``timed``: in hardware time, if the program counts its instructions. ``how``: see there.

        Raises WorkerError when no worker can be started.
        """
        begin = monotonic()
        contents = image if isinstance(image, bytes) else Path(image).read_bytes()
        program = self._program(program_path, contents)
        try:
            faulted: list[Outcome] = []
            for start in range(0, len(slots), FRAME_SLOTS):
                part = list(slots[start : start + FRAME_SLOTS])
                faulted += self._run(program, part, checks, timed, how)
        finally:
            self._release_program(program)
        return Launch(faulted, monotonic() - begin, self._times(slots) if timed else {})

    def cancel(self, slots: Sequence[int]) -> None:
        """Stops the launches that have any of these slots; their DPUs end in fault."""
        wanted = set(slots)
        with self._changed:
            for frame, workers in self._running.values():
                if not wanted.isdisjoint(frame.slots):
                    frame.cancel()
                    for worker in workers.values():
                        worker.kill_later()

    def together(self, slots: Sequence[int]) -> bool:
        """The host talks to these DPUs while they run: those of their launches that wait for a
        process get one of their own, as far as _MAX_TOGETHER goes. False when none is running."""
        wanted = set(slots)
        found = False
        with self._changed:
            for number, (frame, _) in self._running.items():
                if not wanted.isdisjoint(frame.slots):
                    found = True
                    if State.PENDING in frame.status.tolist():
                        os.eventfd_write(self._wakes[number], 1)
        return found

    def stop(self, slots: Sequence[int]) -> None:
        """Interrupts the workers that run any of these slots: a DPU that executes the vendor's
        instructions, and whose ``dpu_core.stop`` is set, stops before the next one."""
        wanted = set(slots)
        with self._changed:
            for frame, workers in self._running.values():
                if not wanted.isdisjoint(frame.slots):
                    for worker in workers.values():
                        worker.interrupt()

    def runs(self, slot: int) -> bool | None:
        """Whether a DPU has not ended yet in the launch that has it; None: none has it."""
        with self._changed:
            for frame, _ in self._running.values():
                if slot in (slots := frame.slots):
                    return bool(frame.status[slots.index(slot)] <= State.RUNNING)
        return None

    @property
    def pids(self) -> list[int]:
        """Process ids of all live workers."""
        with self._changed:
            idle = self._programs.idle
            busy = [w for _, workers in self._running.values() for w in workers.values()]
            return [w.pid for w in idle + busy]

    def close(self) -> None:
        """Ends all workers; launches that run end with every unfinished DPU in fault."""
        with self._changed:
            self._closed = True
            self._programs.kill_idle()
            for frame, workers in self._running.values():
                frame.cancel()
                for worker in workers.values():
                    worker.kill_later()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._running, timeout=2.0)
            self._programs.close()
        self._frames.close()

    # ---- programs and their workers ----

    def _program(self, path: str, contents: bytes) -> Program:
        with self._changed:
            if self._closed:
                raise WorkerError("the workers have been stopped")
            return self._programs.take(path, contents)

    def _release_program(self, program: Program) -> None:
        with self._changed:
            program.users -= 1

    def _start_worker(self, program: Program) -> Worker:
        with self._changed:
            self._number = (self._number + 1) % 0xFFFF
            number = self._number
            program.busy += 1
        try:
            files = self._memfd, self._frames.fd, self._stride
            worker = Worker(program.image, number, *files, self._allowed)
            if self._debugger:
                from .announce import announce  # json, sockets: only for debuggers

                native = not in_own_instructions(program.contents)
                announce(self._debugger, worker.pid, program.image.name, native)
            return worker
        except BaseException:
            with self._changed:
                program.busy -= 1
            raise

    def _take(self, program: Program, wanted: int) -> list[Worker]:
        """At least one worker: idle ones, else new ones up to the pool's size. When all are busy
        and stay so, one more: what keeps them may be waiting for this launch."""
        with self._changed:
            if not program.idle and program.busy >= self._size:
                self._changed.wait_for(lambda: program.idle or self._closed, _PATIENCE_S)
            if self._closed:
                raise WorkerError("the workers have been stopped")
            taken = program.idle[-wanted:]
            del program.idle[-wanted:]
            program.busy += len(taken)
            room = min(wanted - len(taken), self._size - program.busy)
        try:
            for _ in range(max(room, 0 if taken else 1)):
                taken.append(self._start_worker(program))
        except WorkerError:
            if not taken:
                raise
        return taken

    def _give_back(self, program: Program, worker: Worker, alive: bool) -> None:
        with self._changed:
            program.busy -= 1
            if alive and not self._closed:
                program.idle.append(worker)
            else:
                worker.kill()
            surplus = len(program.idle) - self._size
            for extra in program.idle[: max(surplus, 0)]:
                extra.kill()
                program.idle.remove(extra)
            self._changed.notify_all()

    # ---- one launch ----

    def _times(self, slots: Sequence[int]) -> dict[int, Times]:
        found = {}
        for slot in slots:
            page = os.pread(self._memfd, SIDE_SIZE, slot * self._stride + SLOT_SIDE)
            times = Times.read(page)
            if times is not None:
                found[slot] = times
        return found

    def _run(
        self, program: Program, slots: list[int], checks: Checks, timed: bool, how: How
    ) -> list[Outcome]:
        with self._changed:
            self._changed.wait_for(lambda: self._free_frames or self._closed)
            if self._closed:
                raise WorkerError("the workers have been stopped")
            frame = self._frames.frame(self._free_frames.pop())
        try:
            outcomes: list[Outcome] = []
            futile = 0
            while slots:
                frame.fill(slots, checks.word, timed, how)
                lost, why = self._work(program, frame)
                status = bytearray(frame.status)
                # a worker that died between taking a slot and marking it leaves it untouched
                left = [n for n, state in enumerate(status) if state == State.PENDING]
                futile = futile + 1 if len(left) == len(slots) else 0
                if not lost or frame.cancelled or futile == _FUTILE:
                    left = []
                for index in left:
                    status[index] = State.DONE  # in another turn
                outcomes += self._outcomes(program, frame, status, lost, why)
                slots = [frame.slots[index] for index in left]
            return outcomes
        finally:
            with self._changed:
                self._free_frames.append(frame.number)
                self._changed.notify_all()

    def _work(self, program: Program, frame: Frame) -> tuple[dict[int, int], str]:
        """Until all workers have answered; the numbers of those that died, each with its signal,
        and why the host gave up, if it did."""
        lost: dict[int, int] = {}
        why = ""
        workers = {w.socket.fileno(): w for w in self._take(program, min(self._size, frame.count))}
        wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        with self._changed:
            self._running[frame.number] = (frame, workers)
            self._wakes[frame.number] = wake
            if self._closed:
                frame.cancel()
        poll = select.poll()
        poll.register(wake, select.POLLIN)

        def waited_for() -> str:
            processes = ", ".join(process_state(worker.pid) for worker in workers.values())
            return f"DPU program {program.image.name} ({processes})"

        patience = Patience(self._limit_s, waited_for)
        try:
            for fd, worker in list(workers.items()):
                poll.register(fd, select.POLLIN)
                if not worker.send(frame.number):
                    self._lost(program, workers, fd, poll, lost)
            while workers:
                left_s = None if why else patience.left_s()
                ready = poll.poll(None if left_s is None else left_s * 1000 + 1)
                if not ready and patience.over():
                    why = given_up(self._limit_s)
                    with self._changed:
                        frame.cancel()
                        for worker in workers.values():
                            worker.kill_later()
                for fd, _ in ready:
                    if fd == wake:
                        os.eventfd_read(wake)
                        self._crowd(program, frame, workers, poll, lost)
                    elif workers[fd].answered():
                        poll.unregister(fd)
                        with self._changed:
                            worker = workers.pop(fd)
                        self._give_back(program, worker, alive=not worker.doomed)
                    else:
                        self._lost(program, workers, fd, poll, lost)
        finally:
            with self._changed:
                del self._running[frame.number]
                del self._wakes[frame.number]
                self._changed.notify_all()
            os.close(wake)
            for worker in workers.values():
                self._give_back(program, worker, alive=False)
        return lost, why

    def _crowd(
        self,
        program: Program,
        frame: Frame,
        workers: dict[int, Worker],
        poll: select.poll,
        lost: dict[int, int],
    ) -> None:
        """One more worker for each DPU that has not begun."""
        pending = int(frame.status.tolist().count(State.PENDING))
        for _ in range(min(pending, _MAX_TOGETHER - len(workers))):
            try:
                worker = self._start_worker(program)
            except (WorkerError, OSError):
                return  # the others take its DPU when they have ended theirs
            fd = worker.socket.fileno()
            with self._changed:
                workers[fd] = worker
            poll.register(fd, select.POLLIN)
            if not worker.send(frame.number):
                self._lost(program, workers, fd, poll, lost)

    def _lost(
        self,
        program: Program,
        workers: dict[int, Worker],
        fd: int,
        poll: select.poll,
        lost: dict[int, int],
    ) -> None:
        poll.unregister(fd)
        with self._changed:
            worker = workers.pop(fd)
        lost[worker.number] = worker.ended_by
        self._give_back(program, worker, alive=False)

    def _outcomes(
        self,
        program: Program,
        frame: Frame,
        status: bytearray,
        lost: dict[int, int],
        why: str,
    ) -> list[Outcome]:
        """The DPUs of a frame that did not just end well by *status*, whatever stopped them."""
        outcomes = []
        if status.count(State.DONE) == len(status):
            return []
        for index, state in enumerate(status):
            number = frame.slots[index]
            if state == State.DONE:
                continue
            if state in (State.FAULT, State.WARNED):
                page = os.pread(self._memfd, SIDE_SIZE, number * self._stride + SLOT_SIDE)
                outcome = recorded(number, page, program.contents, program.warned)
                if outcome.status == "fault" or outcome.warnings:
                    outcomes.append(outcome)
            else:
                signal = lost.get(frame.owner[index], 0)
                outcomes.append(stopped(number, frame.cancelled, signal, why))
        return outcomes
