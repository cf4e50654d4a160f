"""Timing whole loadables and register traces with the pipeline model."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.memory import AddressSpace
from ..hw import registers
from ..hw.configs import CONFIGS, config
from ..kmd.event_loop import serve
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import ListPort
from ..loadable import Interface, Loadable
from ..network import LoadedNetwork
from ..replay import trace as t
from .parameters import Surroundings
from .pipeline import TimedChip, TimedOperation


@dataclass(frozen=True, slots=True)
class TimedRun:
    """One run. ``cycles``: from the first register write (loadable) or the first enable (trace) to
    the last interrupt. Software tasks (EMU) take no time of the hardware."""

    name: str
    config: str
    cycles: int
    operations: list[TimedOperation]
    software_tasks: int = 0


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
    software = 0
    for submit in network.submits:
        for number in submit.task_id:
            task = network.tasks[number]
            if task.interface != Interface.DLA1:
                software += 1
                continue
            port = ListPort(chip, loaded.entries(task, binding))
            serve(chip, FirmwareEngine(port, chip.config, network.new_layout))
    loaded.close()
    return TimedRun(name, hardware, chip.now, chip.operations, software)


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
    begin = min((o.start for o in chip.operations), default=0)
    end = max((o.end for o in chip.operations), default=0)
    return TimedRun(source.name, hardware, end - begin, chip.operations)


def _drain(chip: TimedChip, status: int) -> None:
    while chip.step():
        chip.csb.write(status, chip.read(status))


def _until(chip: TimedChip, check: t.RegCheck) -> None:
    wanted = check.value & check.mask
    while chip.read(check.address) & check.mask != wanted:
        if not chip.step():
            return
