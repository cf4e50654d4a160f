"""``NAME.cfg``: a bench for the trace player of the public verification suite (master).

That player plays the commands of each block in a thread of its own. What has to come after an
interrupt waits for its event (``sync_wait``), and one enable waits for the other as the firmware
orders them. The player serves the interrupts. Source: nvdla/hw (master), ``verif/tools/
nvdla_trace_parser.py``, ``verif/testbench/trace_player``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..cosim.placement import BEHIND
from ..facts import registers
from ..hw import glb
from .bench import Await, Bench, Check, Load, Poll, Write

_MEMORIES = {"load": ("pri_mem", "sec_mem"), "check": ("1", "0")}
_ENABLE = "D_OP_ENABLE"


def lines(bench: Bench) -> Iterator[str]:
    """The commands. Data files are ``memoryN.dat`` (regions) and ``hostN.dat`` (host's steps)."""
    yield f"// {bench.name}, {bench.config.name}: from reset, memory from {bench.base:#x} on"
    load, check = _MEMORIES["load"], _MEMORIES["check"]
    for number, region in enumerate(bench.regions):
        size = len(region.before) + BEHIND
        yield f"mem_init({load[region.memory]}, {region.address:#x}, {size:#x}, ALL_ZERO);"
        if region.before.any():
            file = f'"memory{number}.dat"'
            yield f"mem_load({load[region.memory]}, {region.address:#x}, {file});"
    writer = _Writer(bench)
    hosts = 0
    for step in bench.steps:
        if isinstance(step, Write):
            yield from writer.write(step)
        elif isinstance(step, Poll):
            yield from writer.poll(step)
        elif isinstance(step, Await):
            yield from writer.wait(step)
        elif isinstance(step, Check):
            if not step.event:
                yield from writer.together("finished")
            where = f"{check[step.memory]}, {step.address:#x}, {step.size:#x}"
            event = step.event or "finished"
            yield f"check_crc({event}, {where}, {step.crc:#010x}); // {step.what}"
        elif isinstance(step, Load):
            event = f"host{hosts}"
            yield from writer.together(event)
            where = f'{load[step.memory]}, {step.address:#x}, "{event}.dat"'
            yield f"mem_load({where}, {event}); // {step.what}"
            hosts += 1


class _Writer:
    def __init__(self, bench: Bench) -> None:
        self._names = registers.names(bench.config.line)
        self.events: list[str] = []
        self._seen: dict[str, int] = {}
        self._enables = 0
        self._enabled = ""

    def _waits(self, block: str) -> Iterator[str]:
        for event in self.events[self._seen.get(block, 0) :]:
            yield f"sync_wait(NVDLA_{block}, {event});"
        self._seen[block] = len(self.events)

    def together(self, event: str) -> Iterator[str]:
        """An event that comes when all before it have come."""
        if event in self.events:
            return
        yield from self._waits("GLB")
        yield f"sync_notify(NVDLA_GLB, {event});"
        self.events.append(event)
        self._seen["GLB"] = len(self.events)

    def write(self, step: Write) -> Iterator[str]:
        block, name = self._names[step.address]
        yield from self._waits(block)
        command = f"reg_write(NVDLA_{block}.{name}_0, {step.value:#x});"
        if name != _ENABLE:
            yield command
            return
        if self._enabled and self._enabled != block:
            yield f"sync_wait(NVDLA_{block}, enable{self._enables});"
        yield command
        self._enables += 1
        self._enabled = block
        yield f"sync_notify(NVDLA_{block}, enable{self._enables});"

    def poll(self, step: Poll) -> Iterator[str]:
        block, name = self._names[step.address]
        if name == "S_STATUS":
            return  # shows both register groups: the other one may run
        yield from self._waits(block)
        yield f"poll_reg_equal(NVDLA_{block}.{name}_0, {step.value:#x});"

    def wait(self, step: Await) -> Iterator[str]:
        unit, group = glb.source(step.bit)
        self.events.append(step.event)
        self._enabled = ""
        yield f"intr_notify({unit.name}_{group}, {step.event});"
