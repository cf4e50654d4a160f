"""Timing whole loadables and register traces with the pipeline model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from ...core.memory import AddressSpace, Bytes
from .. import emu
from ..facts import registers
from ..facts.configs import CONFIGS, config
from ..kmd.event_loop import serve
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import ListPort
from ..loadable import Interface, Loadable, TaskEntry
from ..network import Binding, LoadedNetwork
from ..replay import trace as t
from ..task_report import PROCESSORS
from .parameters import Surroundings
from .pipeline import TimedChip, TimedOperation


@dataclass(frozen=True, slots=True)
class TimedRun:
    """One run. ``cycles``: from the first register write to the driver's answer to the last
    interrupt (loadable), or from the first enable to the end of the last operation (trace).
    Software operations (EMU) take what the surroundings say; nothing, if they say nothing."""

    name: str
    config: str
    cycles: int
    operations: list[TimedOperation]
    clock_mhz: float = 1000

    @property
    def seconds(self) -> float:
        """At the clock."""
        return self.cycles / self.clock_mhz / 1e6

    @property
    def frames_per_second(self) -> float:
        """Runs one after the other in a second; 0 for a run that takes no time."""
        return 1 / self.seconds if self.cycles else 0.0

    @property
    def bytes_read(self) -> int:
        """By all operations."""
        return sum(o.bytes_read for o in self.operations)

    @property
    def bytes_written(self) -> int:
        """By all operations."""
        return sum(o.bytes_written for o in self.operations)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the network."""
        return sum(o.macs for o in self.operations)

    @property
    def mac_utilization(self) -> float:
        """Share of the multipliers' work over the whole time."""
        used = sum(o.mac_utilization * max(o.end - o.start, 1) for o in self.operations)
        return used / max(self.cycles, 1)

    def of_layers(self, units: Iterable[str]) -> list[TimedOperation | None]:
        """The operations of layers that ran on these units, in their order, whatever order they
        start in here."""
        left = list(self.operations)
        found: list[TimedOperation | None] = []
        for unit in units:
            match = next((o for o in left if o.unit == unit), None)
            if match is not None:
                left.remove(match)
            found.append(match)
        return found

    @property
    def bounds(self) -> dict[str, int]:
        """Cycles of the operations by what bounds them, most first."""
        found: dict[str, int] = {}
        for o in self.operations:
            found[o.bound] = found.get(o.bound, 0) + o.end - o.start
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def loadable(network: Loadable, name: str, hardware: str, around: Surroundings) -> TimedRun:
    """Time all tasks of a loadable with the built-in firmware.

    Raises NvdlaError for a network that the firmware refuses, or that is for another configuration.
    """
    space = AddressSpace("the network's memory")
    loaded = LoadedNetwork(network, space, hardware)
    tensors = [
        [space.allocate(max(d.size, 1), name="tensor").base for d in descriptors]
        for descriptors in (network.inputs, network.outputs)
    ]
    binding = loaded.bind(*tensors)
    chip = TimedChip(config(hardware), around)
    for submit in network.submits:
        for number in submit.task_id:
            task = network.tasks[number]
            if task.interface != Interface.DLA1:
                _software(chip, loaded, task, binding)
                continue
            port = ListPort(chip, loaded.entries(task, binding))
            firmware = FirmwareEngine(port, chip.config, network.new_layout)
            chip.who = partial(_who, number, firmware)
            serve(chip, firmware)
    loaded.close()
    return TimedRun(name, hardware, round(chip.now), chip.operations, around.clock_mhz)


def _software(chip: TimedChip, loaded: LoadedNetwork, task: TaskEntry, binding: Binding) -> None:
    def resolve(position: int) -> Bytes:
        window, offset = loaded.task_memory(task, position, binding)
        return window.data[offset:]

    for operation in emu.operations(resolve, loaded.loadable.new_layout):
        chip.software(f"EMU {emu.EmuOp.word(operation.op_type)}")


def _who(
    task: int, firmware: FirmwareEngine, groups: dict[str, int]
) -> tuple[int, tuple[int, ...]]:
    found = [
        firmware.operation_of(PROCESSORS[block], group)
        for block, group in groups.items()
        if block in PROCESSORS
    ]
    return task, tuple(found)


def trace(source: t.Trace, hardware: str, around: Surroundings) -> TimedRun:
    """Time a register trace; what it waits for comes when the model says so."""
    chip = TimedChip(CONFIGS[hardware], around)
    status = registers.block(source.line, "GLB").address("S_INTR_STATUS")
    for operation in source.operations:
        match operation:
            case t.RegWrite():
                chip.write(operation.address, operation.value)
            case t.WaitInterrupt() | t.CheckNothing() | t.CheckCrc() | t.CheckMemory():
                _drain(chip, status)
            case t.RegCheck():
                _until(chip, operation)
    _drain(chip, status)
    end = max((o.end for o in chip.operations), default=0)
    cycles = end - round(chip.first_enable or 0) if chip.operations else 0
    return TimedRun(source.name, hardware, cycles, chip.operations, around.clock_mhz)


def _drain(chip: TimedChip, status: int) -> None:
    while chip.step():
        chip.csb.write(status, chip.read(status))


def _until(chip: TimedChip, check: t.RegCheck) -> None:
    wanted = check.value & check.mask
    while chip.read(check.address) & check.mask != wanted:
        if not chip.step():
            return
