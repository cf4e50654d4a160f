"""What a submission visits once its network is known."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import cudla_sim
from cudla_sim.constants.cudla import cudlaStatus as S

from .driver import Client, check

PACKAGE = Path(cudla_sim.__file__).parent
MOST_FILES = 21


class Visits:
    """The files of the package whose functions are entered, in the threads that look."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def look(self) -> None:
        sys.setprofile(self._called)

    @staticmethod
    def look_away() -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            self.files.add(str(path.relative_to(PACKAGE)))


def test_a_submission_goes_through_few_files(
    sim: ModuleType, either: Client, digits: bytes
) -> None:
    """From the call in C to the signaled fence, in the thread of the program and in the worker."""
    check(either.load(digits))
    inputs = [either.allocate(d.size) for d in either.descriptors(2)]
    outputs = [either.allocate(d.size) for d in either.descriptors(3)]
    task = either.task(inputs, outputs)
    (device,) = sim.dla.devices
    queue = device.queue if device.context is None else device.context.streams.legacy.queue
    counts = []
    for _ in range(5):
        visits = Visits()
        queue.submit(visits.look).wait()
        visits.look()
        status = either.api.cudlaSubmitTask(either.device, ctypes.byref(task), 1, None, 0)
        visits.look_away()
        queue.submit(visits.look_away).wait()
        check(status)
        counts.append(len(visits.files))
    assert counts[2:] == [counts[-1]] * 3, "the third submission is like all later ones"
    assert counts[-1] <= MOST_FILES, sorted(visits.files)


def test_memory_that_goes_after_a_submission_is_missed(
    sim: ModuleType, either: Client, digits: bytes
) -> None:
    """What was looked up for the submissions before is looked up again."""
    check(either.load(digits))
    inputs = [either.allocate(d.size) for d in either.descriptors(2)]
    outputs = [either.allocate(d.size) for d in either.descriptors(3)]
    task = either.task(inputs, outputs)

    def submit() -> int:
        status: int = either.api.cudlaSubmitTask(either.device, ctypes.byref(task), 1, None, 0)
        for device in sim.dla.devices:
            device.queue.drain()
            if device.context is not None:
                device.context.synchronize()
        return status

    assert [submit() for _ in range(3)] == [0, 0, 0]
    check(either.api.cudlaMemUnregister(either.device, outputs[0].device_pointer))
    assert submit() == S.cudlaErrorInvalidAddress
    assert "is not registered" in sim.last_explanation()
