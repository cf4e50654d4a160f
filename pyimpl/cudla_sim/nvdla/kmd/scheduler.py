"""Scheduling: register groups, programming, dependencies, completion.

An operation starts when its dependency count is 0: other operations count it down when they are
programmed, enabled or completed, as their consumer entries say.
Source: nvdla/sw firmware, scheduler and engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from struct import pack

from .. import descriptors
from ..descriptors import (
    LUT_SIZE,
    OPERATION_SIZE,
    STAT_SIZE,
    STATISTICS,
    SURFACE_SIZE,
    BdmaSurface,
    CdpOp,
    Consumer,
    Event,
    NetworkDesc,
    OpType,
    PdpSurface,
    SdpOp,
    SdpSurface,
)
from ..errors import Firmware as Code
from ..errors import KmdError
from ..facts import registers
from ..facts.configs import HardwareConfig
from ..hw.glb import Interrupt
from .context import Context, EngineConfig, Writes
from .generation import guess
from .graph import Graph, Node
from .port import Port, check_choice, invalid, require
from .processors import Group, Processor, processors
from .program_sdp import needs_rdma

_FLUSH_READS = 1_000_000
"""Clearing takes 16,384 cycles on the public RTL; a read takes some."""


@dataclass(slots=True)
class Task:
    """The task in progress: handles of its lists."""

    network: NetworkDesc
    operations: int
    surfaces: int
    graph: Graph
    lut_handle: int = 0
    roi_handle: int = 0
    surface_address: int = 0
    stat_handle: int | None = None
    done: int = 0


@cache
def _addresses(line: registers.MapName) -> dict[tuple[str, str], int]:
    """CSB byte address by block and register name."""
    return {
        (block.name, item.name): block.base + item.offset
        for block in registers.blocks(line).values()
        for item in block.registers
    }


class Scheduler:
    """State of one engine. ``new_layout``: generation of the surface descriptors, None: look."""

    def __init__(self, port: Port, config: HardwareConfig, new_layout: bool | None = True) -> None:
        self.port = port
        self.new_layout = new_layout
        self.config = EngineConfig(
            config.memory_atom, config.bdma, config.rubik, config.compression
        )
        self._address = _addresses(config.line)
        self._processors = processors()
        self._task: Task | None = None
        self.status = 0

    def _running(self) -> Task:
        if self._task is None:
            raise KmdError(Code.INVALID_TASK, "no task is in progress on this engine")
        return self._task

    def _read_config(self, processor: Processor, group: Group) -> None:
        task = self._running()
        assert group.node is not None
        position = task.network.num_operations * group.roi + group.node.index
        raw = self.port.data_read(task.operations, OPERATION_SIZE, OPERATION_SIZE * position)
        group.operation = descriptors.operation(processor.op_type, raw)
        raw = self.port.data_read(task.surfaces, SURFACE_SIZE, SURFACE_SIZE * position)
        if self.new_layout is None:
            self.new_layout = guess(processor.op_type, raw, task.network.num_addresses)
        group.surface = descriptors.surface(processor.op_type, raw, self.new_layout is not False)

    # -- registers ----------------------------------------------------------------------------

    def _read(self, block: str, register: str) -> int:
        return self.port.reg_read(self._address[block, register])

    def _write(self, block: str, register: str, value: int) -> None:
        self.port.reg_write(self._address[block, register], value & 0xFFFFFFFF)

    def _write_all(self, block: str, writes: Writes) -> None:
        put, address = self.port.reg_write, self._address
        for register, value in writes:
            put(address[block, register], value & 0xFFFFFFFF)

    def _set_producer(self, processor: Processor, group: Group) -> None:
        for block in processor.unit.pointers:
            rdma = block == processor.unit.rdma and processor.op_type != OpType.CDP
            self._write(block, "S_POINTER", group.rdma_id if rdma else group.id)

    def _unmask(self, interrupt: Interrupt) -> None:
        mask = self._read("GLB", "S_INTR_MASK")
        self._write("GLB", "S_INTR_MASK", mask & ~(3 << interrupt))

    # -- operations ---------------------------------------------------------------------------

    def _free_group(self, processor: Processor) -> tuple[int, int]:
        """Choose a register group and an RDMA group; KmdError PROCESSOR_BUSY if both are used."""
        unit = processor.unit
        if processor.op_type == OpType.BDMA:
            hardware = self._read("BDMA", "STATUS") >> 9 & 1
        else:
            hardware = self._read(unit.main, "S_POINTER") >> 16 & 1
        rdma = 0
        if unit.rdma is not None:
            rdma = self._read(unit.rdma, "S_POINTER") >> 16 & 1
        if processor.group_status == 3:
            raise KmdError(Code.PROCESSOR_BUSY, f"both register groups of {unit.name} are used")
        if processor.group_status:
            hardware = 1 - (processor.group_status >> 1)
        if processor.rdma_status:
            rdma = 1 - (processor.rdma_status >> 1 & 1)
        return hardware, rdma

    def _submit(self, processor: Processor, node: Node, roi: int) -> None:
        """Put an operation into a free register group; program and enable it if possible."""
        if (node.index, roi) in processor.seen:
            raise invalid(f"operation {node.index} is queued twice: the graph has a cycle")
        processor.seen.add((node.index, roi))
        group_id, rdma_id = self._free_group(processor)
        group = processor.groups[group_id]
        group.node = node
        self._running().graph.hold(node)
        group.roi, group.rdma_id = roi, rdma_id
        self._read_config(processor, group)
        group.pending = True
        processor.group_status |= 1 << group_id
        group.rdma_needed = self._rdma_needed(processor, group)
        if group.rdma_needed:
            processor.rdma_status |= 1 << rdma_id
        processor.tail = node
        if self._is_ready(processor, group):
            self._program(processor, group)
            if node.desc.dependency_count == 0:
                self._enable(processor, node)

    @staticmethod
    def _rdma_needed(processor: Processor, group: Group) -> bool:
        operation, surface = group.operation, group.surface
        if isinstance(operation, SdpOp) and isinstance(surface, SdpSurface):
            return needs_rdma(operation, surface)
        if isinstance(surface, PdpSurface):
            return surface.src.type != descriptors.MemoryType.HW
        return processor.op_type == OpType.CDP

    @staticmethod
    def _is_ready(processor: Processor, group: Group) -> bool:
        """A LUT is shared by both groups; BDMA has only one set of registers."""
        other = processor.groups[1 - group.id]
        if processor.op_type == OpType.BDMA:
            return not processor.group_status >> other.id & 1 or other.active
        operation = group.operation
        if not isinstance(operation, SdpOp | CdpOp) or operation.lut_index == -1:
            return True
        if other.lut_index == operation.lut_index:
            return True
        return other.lut_index == -1 and not other.active

    def _check_idle(self, processor: Processor, group: Group) -> None:
        for block in processor.unit.idle:
            state = self._read(block, "S_STATUS") >> (16 * group.id) & 3
            require(state == 0, f"{block} is busy in register group {group.id}")

    def _program(self, processor: Processor, group: Group) -> None:
        task, unit, node = self._running(), processor.unit, group.node
        assert node is not None
        assert group.operation is not None
        group.programming = True
        self._set_producer(processor, group)
        if unit.interrupts is not None and processor.op_type != OpType.BDMA:
            self._unmask(unit.interrupts)
        context = Context(
            self.port, self.config, task.network, task.roi_handle, task.surface_address,
            node.index, group.roi,
        )  # fmt: skip
        operation = group.operation
        if isinstance(operation, SdpOp | CdpOp) and operation.lut_index >= 0:
            index = operation.lut_index
            check_choice("lut_index", index, task.network.num_luts)
            raw = self.port.data_read(task.lut_handle, LUT_SIZE, LUT_SIZE * index)
            context.lut = descriptors.lut(raw)
            group.lut_index = index
        program = unit.program(operation, group.surface, context)
        self._check_idle(processor, group)
        for block, writes in program:
            self._write_all(block, writes)
        if processor.op_type == OpType.BDMA and program:
            self._unmask(Interrupt.BDMA)
        for op_type in OpType:
            group.consumers[op_type] = task.graph.get(
                node.desc.consumers[op_type].index, op_type, group.roi
            )
        parent = node.desc.fused_parent.index
        if parent != -1:
            require(node.op_type > 0, f"operation {node.index}: BDMA cannot have a fused parent")
            group.fused_parent = task.graph.get(parent, node.op_type - 1, group.roi)
        group.pending = False
        self._notify(group, Event.OP_PROGRAMMED)
        group.programming = False

    def _enable(self, processor: Processor, node: Node) -> None:
        """Start an operation if it is programmed and not running yet."""
        for group in processor.groups:
            if group.node is node and processor.group_status >> group.id & 1 and not group.pending:
                break
        else:
            return
        if group.programming or group.active:
            return
        self._set_producer(processor, group)
        if processor.op_type == OpType.BDMA:
            self._enable_bdma(group)
        else:
            self._enable_blocks(processor, group)
        group.active = True
        self._notify(group, Event.OP_ENABLED)

    def _enable_blocks(self, processor: Processor, group: Group) -> None:
        unit = processor.unit
        if processor.op_type == OpType.CONV:
            self._wait_for_buffer()
        if self._running().stat_handle is not None:
            block = "CDMA" if processor.op_type == OpType.CONV else unit.main
            value = {OpType.SDP: 0xF, OpType.CDP: 3}.get(processor.op_type, 1)
            self._write(block, "D_PERF_ENABLE", value)
            group.start_us = self.port.time_us()
        for block in unit.enables:
            if block != unit.rdma or group.rdma_needed:
                self._write(block, "D_OP_ENABLE", 1)

    def _wait_for_buffer(self) -> None:
        """After reset CDMA clears the convolution buffer: a convolution before computes zeros.

        Source: nvdla/sw firmware (dla_conv_enable), nvdla/hw ``NV_NVDLA_CDMA_wt.v`` (flush_idx).
        """
        for _ in range(_FLUSH_READS):
            if self._read("CDMA", "S_CBUF_FLUSH_STATUS") & 1:
                return
        raise KmdError(
            Code.INVALID_TASK,
            f"CDMA.S_CBUF_FLUSH_STATUS was 0 {_FLUSH_READS} times: the convolution buffer is never"
            " cleared",
        )

    def _enable_bdma(self, group: Group) -> None:
        assert isinstance(group.surface, BdmaSurface)
        if group.surface.num_transfers == 0:
            group.events |= 1 << Event.OP_COMPLETED
            return
        if self._running().stat_handle is not None:
            self._write("BDMA", "CFG_STATUS", 1)
            group.start_us = self.port.time_us()
        self._write("BDMA", f"CFG_LAUNCH{group.id}", 1)

    # -- dependencies -------------------------------------------------------------------------

    def _notify(self, group: Group, event: Event) -> None:
        """Tell the consumers of a group's operation about an event."""
        assert group.node is not None
        desc = group.node.desc
        for entry, node in zip(desc.consumers, group.consumers, strict=True):
            self._count_down(entry, node, event)
        self._count_down(desc.fused_parent, group.fused_parent, event)

    def _count_down(self, entry: Consumer, node: Node | None, event: Event) -> None:
        if entry.index == -1 or entry.event != event or node is None:
            return
        if node.desc.dependency_count == 0:
            raise invalid(
                f"operation {node.index} is told about {event.name} but waits for nothing more"
            )
        node.desc.dependency_count -= 1
        if node.desc.dependency_count == 0:
            self._enable(self._processors[OpType(node.op_type)], node)

    def _dequeue(self, processor: Processor) -> None:
        """Submit the next operation of the same kind (or the next region of interest)."""
        task, tail = self._running(), processor.tail
        assert tail is not None
        if processor.roi == task.network.num_rois - 1:
            index = tail.desc.consumers[processor.op_type].index
            if index == -1:
                return
            processor.roi = 0
        else:
            processor.roi += 1
            index = tail.index
        node = task.graph.get(index, processor.op_type, processor.roi)
        assert node is not None
        self._submit(processor, node, processor.roi)
        task.graph.put(node)

    # -- events -------------------------------------------------------------------------------

    def _handle(self, processor: Processor) -> None:
        first = 1 - processor.last_group
        for group in (processor.groups[first], processor.groups[1 - first]):
            events = group.events
            if not events:
                continue
            if group.node is None:
                raise invalid(f"{processor.unit.name} reports events of an empty register group")
            for event in (Event.CDMA_WT_DONE, Event.CDMA_DT_DONE):
                if events >> event & 1:
                    self._notify(group, event)
            if events >> Event.OP_COMPLETED & 1:
                self._complete(processor, group)
            group.events = 0

    def _complete(self, processor: Processor, group: Group) -> None:
        task = self._running()
        node = group.node
        assert node is not None
        if group.roi == task.network.num_rois - 1:
            task.done += 1
        if task.stat_handle is not None:
            self._write_statistics(task, task.stat_handle, processor, group)
        task.graph.hold(node)
        processor.group_status &= ~(1 << group.id)
        if group.rdma_needed:
            group.rdma_needed = False
            processor.rdma_status &= ~(1 << group.rdma_id)
            group.rdma_id = 0
        group.active = False
        group.lut_index = -1
        processor.last_group = group.id
        self._notify(group, Event.OP_COMPLETED)
        for position, consumer in enumerate(group.consumers):
            task.graph.put(consumer)
            group.consumers[position] = None
        task.graph.put(group.fused_parent)
        group.fused_parent = None
        task.graph.put(node)
        group.node = None
        if task.done != task.network.num_operations:
            self._continue(processor, group)
        task.graph.put(node)

    def _continue(self, processor: Processor, group: Group) -> None:
        """Program the operation that waits in the other group, then fetch the next one."""
        other = processor.groups[1 - group.id]
        if other.pending and self._is_ready(processor, other):
            self._program(processor, other)
            assert other.node is not None
            if other.node.desc.dependency_count == 0:
                self._enable(processor, other.node)
        self._dequeue(processor)

    def _write_statistics(
        self, task: Task, handle: int, processor: Processor, group: Group
    ) -> None:
        """Store the statistics of a finished operation in the task's list."""
        assert group.node is not None
        reads: dict[str, tuple[str, str]] = {
            "saturation_count": ("CACC", "D_OUT_SATURATION"),
        }
        values = []
        for name in STATISTICS[processor.op_type]:
            if name == "runtime":
                values.append(self.port.time_us() - group.start_us)
            elif name in reads and processor.op_type == OpType.CONV:
                values.append(self._read(*reads[name]))
            else:
                values.append(0)
        data = pack(f"<{len(values)}I", *[value & 0xFFFFFFFF for value in values])
        position = task.network.num_operations * group.roi + group.node.index
        self.port.data_write(handle, data.ljust(STAT_SIZE, b"\0"), STAT_SIZE * position)
