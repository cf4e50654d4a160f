"""The engine interface of the firmware: run a task from its dependency graph.

``execute_task`` reads the network and fills both register groups of every processor;
``isr_handler`` turns interrupt bits into events; ``process_events`` advances the graph and
starts what has become ready. An operation starts when its dependency count is 0: other
operations count it down when they are programmed, enabled or completed, as their consumer
entries say. Source: nvdla/sw firmware, scheduler and engine; nvdla software manual "Runtime".
"""

from __future__ import annotations

from ..descriptors import (
    NETWORK_SIZE,
    Event,
    NetworkDesc,
    Operation,
    OpType,
    Surface,
)
from ..errors import Firmware as Code
from ..errors import KmdError
from ..hw.glb import Interrupt
from .graph import Graph
from .port import Destination, invalid, require
from .processors import processors
from .scheduler import Scheduler, Task

_INTERRUPTS: tuple[tuple[Interrupt, OpType, Event], ...] = (
    (Interrupt.CACC, OpType.CONV, Event.OP_COMPLETED),
    (Interrupt.SDP, OpType.SDP, Event.OP_COMPLETED),
    (Interrupt.CDP, OpType.CDP, Event.OP_COMPLETED),
    (Interrupt.RUBIK, OpType.RUBIK, Event.OP_COMPLETED),
    (Interrupt.PDP, OpType.PDP, Event.OP_COMPLETED),
    (Interrupt.BDMA, OpType.BDMA, Event.OP_COMPLETED),
    (Interrupt.CDMA_DAT, OpType.CONV, Event.CDMA_DT_DONE),
    (Interrupt.CDMA_WT, OpType.CONV, Event.CDMA_WT_DONE),
)


class FirmwareEngine(Scheduler):
    """One engine behind a port: execute a task, take interrupts, process events, clear."""

    # -- engine interface ---------------------------------------------------------------------

    def execute_task(self) -> bool:
        """Start the task behind the port; True if it is complete already (no operations).

        Raises KmdError for a busy engine, a descriptor that makes no sense or is not supported.
        """
        if self._task is not None:
            raise KmdError(Code.PROCESSOR_BUSY, "a task is in progress on this engine")
        task = self._task = self._read_network()
        if task.network.num_operations == 0:
            return True
        for op_type, head in zip(OpType, task.network.op_head, strict=True):
            if head >= task.network.num_operations or head < -1:
                raise invalid(
                    f"op_head[{op_type.name}] = {head}: the network has"
                    f" {task.network.num_operations} operations"
                )
        for op_type, head in zip(OpType, task.network.op_head, strict=True):
            node = task.graph.get(head, op_type, 0)
            if node is None:
                continue
            processor = self._processors[op_type]
            self._submit(processor, node, 0)
            task.graph.put(node)
            self._dequeue(processor)
        return False

    def isr_handler(self) -> None:
        """Collect and acknowledge the pending interrupts."""
        self._read("GLB", "S_INTR_MASK")
        status = self._read("GLB", "S_INTR_STATUS")
        for source, op_type, event in _INTERRUPTS:
            pair = status >> source & 3
            if pair:
                for group in self._processors[op_type].groups:
                    if pair >> group.id & 1:
                        group.events |= 1 << event
        self._write("GLB", "S_INTR_STATUS", status)
        self._read("GLB", "S_INTR_MASK")
        self._read("GLB", "S_INTR_STATUS")

    def process_events(self) -> bool:
        """Act on collected events; True when all operations are done."""
        task = self._running()
        for processor in self._processors.values():
            self._handle(processor)
        return task.done == task.network.num_operations

    def clear_task(self) -> None:
        """Forget the task, whatever its state."""
        self._processors = processors()
        self._task = None

    @property
    def progress(self) -> int:
        """A number that grows with every completed operation."""
        return 0 if self._task is None else self._task.done

    def operation_of(self, op_type: OpType, group: int) -> int:
        """Return the index of the operation in a register group, -1 if there is none."""
        node = self._processors[op_type].groups[group].node
        return -1 if node is None else node.index

    def descriptors_of(self, op_type: OpType, group: int) -> tuple[Operation, Surface] | None:
        """Return operation and surface of what is in a register group, None if nothing is."""
        found = self._processors[op_type].groups[group]
        if found.operation is None or found.surface is None:
            return None
        return found.operation, found.surface

    @property
    def running(self) -> list[tuple[OpType, int]]:
        """The operations that were enabled and are not complete: (kind, index)."""
        return [
            (op_type, group.node.index)
            for op_type, processor in self._processors.items()
            for group in processor.groups
            if group.active and group.node is not None
        ]

    @property
    def notified(self) -> bool:
        """Whether events were collected that nobody has acted on."""
        return any(g.events for p in self._processors.values() for g in p.groups)

    def stuck(self) -> str:
        """Describe what is in the register groups and what it waits for."""
        parts = []
        for processor in self._processors.values():
            for group in processor.groups:
                if group.node is None:
                    continue
                count = group.node.desc.dependency_count
                state = "runs" if group.active else f"waits for {count} more event(s)"
                if group.pending:
                    state = "is not programmed"
                parts.append(f"{processor.unit.name} operation {group.node.index} {state}")
        return "; ".join(parts) or "no operation is in a register group"

    # -- reading the task ---------------------------------------------------------------------

    def _list_handle(self, name: str, index: int, destination: Destination) -> int:
        try:
            return self.port.dma_address(index, destination)
        except KmdError as error:
            raise invalid(f"network descriptor: {name} = {index}: {error.reason}") from None

    def _read_network(self) -> Task:
        port = self.port
        first = port.dma_address(0, Destination.PROCESSOR)
        network = NetworkDesc.decode(port.data_read(first, NETWORK_SIZE, 0))
        if network.num_operations == 0:
            return Task(network, 0, 0, Graph(port, 0, 0))

        def handle(name: str) -> int:
            return self._list_handle(name, getattr(network, name), Destination.PROCESSOR)

        operations = handle("operation_desc_index")
        surfaces = handle("surface_desc_index")
        graph = Graph(port, handle("dependency_graph_index"), network.num_operations)
        task = Task(network, operations, surfaces, graph)
        if network.num_luts:
            task.lut_handle = handle("lut_data_index")
        if network.dynamic_roi:
            task.roi_handle = handle("roi_array_index")
            length = int.from_bytes(port.data_read(task.roi_handle, 8, 0), "little")
            require(
                length <= network.num_rois, f"{length} regions of interest, not {network.num_rois}"
            )
            network.num_rois = length
            task.surface_address = self._list_handle(
                "surface_index", network.surface_index, Destination.DMA
            )
        require(network.num_rois > 0, "network descriptor: num_rois = 0")
        if network.stat_list_index != -1:
            task.stat_handle = handle("stat_list_index")
        return task
