"""Running a loaded network on a core: its tasks in submission order.

DLA tasks go through the firmware and the register file, EMU tasks run on the host.
Source: nvdla/sw ``Runtime.cpp`` (submit).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic, perf_counter_ns
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from . import emu, task_report
from .again.plan import Operations, Plan
from .again.segment import Ran
from .descriptors import OpType
from .errors import EngineTimeout
from .hw.launch import ComputedLayer
from .kmd.list_port import Entry
from .loadable import Interface, TaskEntry
from .network import Binding, LoadedNetwork
from .task_report import PROCESSORS, LayerRecord, TaskReport


class Executor(Protocol):
    """What a core does for a task of ours (``nvdla.dla_core.Core``)."""

    def execute(
        self,
        entries: list[Entry],
        new_layout: bool | None,
        check: Callable[[], None],
        watch: Callable[[ComputedLayer, Operations], None],
        ran: Callable[[Ran, Plan], None] | None,
    ) -> None:
        """Run a DLA task. *check* is called between layers and may raise; *watch* is told of a
        layer, *ran* of layers that were computed together (None: watch of each)."""

    def tell(self, record: LayerRecord) -> None:
        """Let observers know of a layer."""


def _operations(layer: ComputedLayer, known: Callable[[OpType, int], int]) -> tuple[int, ...]:
    return tuple(
        known(PROCESSORS[block], group)
        for block, group in layer.groups.items()
        if block in PROCESSORS
    )


class NetworkRun:
    """One execution of a network on a core that is claimed."""

    def __init__(
        self,
        core: Executor,
        network: LoadedNetwork,
        binding: Binding,
        deadline: float | None,
        on_layer: Callable[[LayerRecord], None] | None,
    ) -> None:
        self.core = core
        self.network = network
        self.binding = binding
        self.deadline = deadline
        self.on_layer = on_layer
        self.report = TaskReport(network.config.name)
        self.task = 0

    def execute(self) -> TaskReport:
        """Run all tasks in submission order. Raises EngineTimeout, NvdlaError."""
        loadable = self.network.loadable
        self.network.reload_graphs()
        self.report.start_ns = perf_counter_ns()
        for submit in loadable.submits:
            for number in submit.task_id:
                self.task = number
                task = loadable.tasks[number]
                self._check_deadline()
                if task.interface == Interface.DLA1:
                    entries = self.network.entries(task, self.binding)
                    ran = self._ran if self.on_layer is None else None
                    self.core.execute(
                        entries, self.network.new_layout, self._check_deadline, self._computed, ran
                    )
                else:
                    self._run_emu(task)
        self.report.end_ns = perf_counter_ns()
        return self.report

    def _check_deadline(self) -> None:
        if self.deadline is not None and monotonic() > self.deadline:
            raise EngineTimeout(
                f"the deadline passed after {self.report.count} layers of task {self.task}"
            )

    def _record(self, record: LayerRecord) -> None:
        self.report.add(record)
        self.core.tell(record)
        if self.on_layer is not None:
            self.on_layer(record)

    def _computed(self, layer: ComputedLayer, firmware: Operations) -> None:
        operations = _operations(layer, firmware.operation_of)
        self._record(task_report.of_layer(layer, self.report.count, self.task, operations))

    def _ran(self, ran: Ran, plan: Plan) -> None:
        """Layers were computed together; they are described when somebody asks."""
        first, task = self.report.count, self.task

        def describe() -> Iterator[LayerRecord]:
            for index, (step, layer) in enumerate(ran.layers(), first):
                operations = _operations(layer, partial(plan.operation_at, step))
                yield task_report.of_layer(layer, index, task, operations)

        self.report.add_later(ran.last - ran.first, describe)

    def _run_emu(self, task: TaskEntry) -> None:
        """Run a software task."""

        def resolve(position: int) -> NDArray[np.uint8]:
            window, offset = self.network.task_memory(task, position, self.binding)
            return window.data[offset:]

        new_layout = self.network.new_layout
        for number, operation in enumerate(emu.operations(resolve, new_layout)):
            self._check_deadline()
            start = perf_counter_ns()
            emu.run(operation, resolve)
            src, dst = operation.src, operation.dst
            self._record(
                LayerRecord(
                    self.report.count,
                    self.task,
                    f"EMU {emu.EmuOp.word(operation.op_type)}",
                    (number,),
                    (src.channel, src.height, src.width),
                    (dst.channel, dst.height, dst.width),
                    "fp16" if src.format == emu.EmuFormat.FF16 else "int8",
                    "",
                    start,
                    perf_counter_ns(),
                    0,
                    0,
                )
            )
