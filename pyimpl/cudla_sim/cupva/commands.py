"""What a stream can be given."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Protocol

from ..core.events import warn
from ..core.fence import Fence
from .dma import VMEM
from .errors import CupvaError, Error, error, invalid
from .memory import DeviceMemory
from .pointers import Pointer, address_of
from .program import Program
from .sync import SyncObj

MAX_COMMANDS = 256
MAX_REQUEST_FENCES = 4
MAX_WAIT_FENCES = 8


class Command:
    """Base of all commands."""

    def check(self) -> None:
        """Raises CupvaError at submission for what is wrong already then."""

    def taken(self) -> Command:
        """The command with the values that it has now. Raises CupvaError as ``check``."""
        return self


@dataclass(eq=False)
class RunProgram(Command):
    program: Program
    told: bool = False

    def check(self) -> None:
        _ = self.program.flows  # uncompiled dataflows are an error here

    def taken(self) -> RunProgram:
        if self.program.heads and not self.told and (name := self.program.outdated):
            self.told = True
            warn(
                f"program {self.program.number}: {name} runs with the base that its OffsetPointer "
                "had at compileDataFlows() or updateDataFlows(); a new one takes effect with "
                "updateDataFlows()"
            )
        return RunProgram(self.program.taken())


@dataclass(eq=False)
class Barrier(Command):
    """Ends when everything before it in the submission ended."""


class FencePlace(Protocol):
    """Where a program keeps a fence."""

    def taken(self) -> FencePlace:
        """The place for one submission, whose first look at it may hold for all of it."""
        ...

    def sync(self) -> SyncObj:
        """What the fence is of. Raises CupvaError when the place is no longer a fence."""
        ...

    def put(self, value: int) -> None:
        """The fence is reached when its sync object is at ``value``."""
        ...

    def fence(self) -> Fence:
        """What to wait for. Raises CupvaError, also when nobody requested the fence."""
        ...


@dataclass(eq=False)
class RequestFences(Command):
    """``fences`` are told, when they are submitted, the sync object's future values."""

    fences: list[FencePlace] = field(default_factory=list)

    def check(self) -> None:
        for place in self.fences:
            place.sync()

    def taken(self) -> RequestFences:
        return RequestFences([place.taken() for place in self.fences])

    def reserve(self) -> list[tuple[SyncObj, int]]:
        """Promises the values: from here on somebody may wait for them."""
        if len(self.fences) == 1:
            place = self.fences[0]
            sync = place.sync()
            value = sync.reserve()
            place.put(value)
            return [(sync, value)]
        found = [(sync, sync.reserve()) for sync in [place.sync() for place in self.fences]]
        for place, (_, value) in zip(self.fences, found, strict=True):
            place.put(value)
        return found

    @staticmethod
    def check_count(count: int) -> None:
        if not 1 <= count <= MAX_REQUEST_FENCES:
            raise invalid(f"{count} fences requested; 1 to {MAX_REQUEST_FENCES}")


@dataclass(eq=False)
class WaitOnFences(Command):
    fences: list[FencePlace] = field(default_factory=list)

    def taken(self) -> WaitOnFences:
        return WaitOnFences([place.taken() for place in self.fences])

    @staticmethod
    def check_count(count: int) -> None:
        if not 1 <= count <= MAX_WAIT_FENCES:
            raise invalid(f"waiting on {count} fences; 1 to {MAX_WAIT_FENCES}")


@dataclass(eq=False)
class Memcpy(Command):
    """``height`` rows of ``width`` bytes; pitches in bytes. DRAM and L2SRAM only."""

    memory: DeviceMemory
    target: Pointer
    source: Pointer
    width: int
    height: int = 1
    target_pitch: int = 0
    source_pitch: int = 0

    def check(self) -> None:
        if self.width < 1 or self.height < 1:
            raise invalid(f"a copy of {self.width} x {self.height} bytes")
        for pitch, name in ((self.target_pitch, "dst"), (self.source_pitch, "src")):
            if self.height > 1 and pitch < self.width:
                raise invalid(f"{name} line pitch {pitch} is less than the width {self.width}")
        self._places()

    def _places(self) -> tuple[int, int]:
        found = []
        for pointer, pitch, name in (
            (self.target, self.target_pitch, "dst"), (self.source, self.source_pitch, "src"),
        ):  # fmt: skip
            address = address_of(pointer, name)
            place = self.memory.locate(address)
            if place.space == VMEM:
                raise invalid(f"{name} lies in VMEM; CmdMemcpy copies between DRAM and L2SRAM")
            end = place.at + pitch * (self.height - 1) + self.width
            if end > place.limits[1]:
                raise invalid(
                    f"{name}: the copy ends at byte {end - place.limits[0]} of a {place.what} of "
                    f"{place.limits[1] - place.limits[0]} bytes"
                )
            found.append(self.memory.host_of(place))
        return found[0], found[1]

    def run(self) -> None:
        target, source = self._places()
        if self.height == 1 or self.target_pitch == self.source_pitch == self.width:
            ctypes.memmove(target, source, self.width * self.height)
            return
        for row in range(self.height):
            ctypes.memmove(
                target + row * self.target_pitch, source + row * self.source_pitch, self.width
            )


def unsupported(what: str) -> CupvaError:
    return error(Error.CUPVA_UNSUPPORTED_FEATURE, what)
