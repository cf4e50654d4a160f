"""Recording a run of a loadable for a bench."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...core.memory import Bytes
from .. import emu
from ..cosim.placement import BEHIND, FlatSpace
from ..cosim.record import Computed, Interrupts, Recorder, RegRead, RegWrite, TaskLog
from ..dla_core import Core
from ..errors import NvdlaError, Status
from ..facts import registers
from ..facts.configs import HardwareConfig, config
from ..facts.memory import PAGE
from ..hw.glb import ALL_BITS, Interrupt, source
from ..hw.memory import Window
from ..loadable import Interface, Loadable, TaskEntry
from ..network import Binding, LoadedNetwork
from ..timing import runs
from ..timing.parameters import Surroundings
from .bench import (
    PRIMARY,
    SECONDARY,
    Await,
    Bench,
    Check,
    Load,
    Operation,
    PlacedTensor,
    Poll,
    Region,
)
from .bench import Write as Put

LAST = 1 << 32
"""Addresses of a bench have 32 bits: those of nv_small have no more."""


def record(
    loadable: Loadable,
    hardware: str | HardwareConfig,
    inputs: Mapping[int, Bytes],
    base: int,
    *,
    name: str = "network",
    around: Surroundings | None = None,
) -> Bench:
    """Run a loadable from reset with its memory at *base*, and write down what happens.

    *inputs*: raw buffers (uint8) by number; zeros where there is none. *around*: surroundings of
    the expected cycles. Raises NvdlaError: also for a base that is not a multiple of 4096, or
    memory that ends beyond 32 bits.
    """
    chosen = config(hardware) if isinstance(hardware, str) else hardware
    if base % PAGE or not 0 < base < LAST:
        raise NvdlaError(
            f"base is {base:#x}; it is a multiple of {PAGE:#x} above 0 and below {LAST:#x}",
            Status.INVALID_ADDRESS,
        )
    return _Recording(loadable, chosen, base, name).run(inputs, around or Surroundings())


class _Recording:
    def __init__(self, loadable: Loadable, hardware: HardwareConfig, base: int, name: str) -> None:
        space = FlatSpace(base, LAST, f"the 32-bit memory from {base:#x} on")
        self._loadable = loadable
        self._config = hardware
        self._network = LoadedNetwork(loadable, space, hardware)
        try:
            self._inputs = [
                space.allocate(t.size, name=f"input {n}") for n, t in enumerate(loadable.inputs)
            ]
            self._outputs = [
                space.allocate(t.size, name=f"output {n}") for n, t in enumerate(loadable.outputs)
            ]
        except MemoryError as error:
            raise NvdlaError(str(error), Status.INSUFFICIENT_MEMORY) from None
        self._bench = Bench(name, hardware, base, base)
        self._recorder = Recorder(
            lambda primary, secondary: Core(
                hardware, memory=primary, secondary=secondary, planned=False
            )
        )
        glb = registers.block(hardware.line, "GLB")
        self._status, self._mask = glb.address("S_INTR_STATUS"), glb.address("S_INTR_MASK")
        self._names = registers.names(hardware.line)
        self._masked = 0
        self._producer: dict[str, int] = {}
        self._events = 0
        self._event = ""
        self._images: dict[int, Bytes] = {}

    def run(self, inputs: Mapping[int, Bytes], around: Surroundings) -> Bench:
        bench, loadable = self._bench, self._loadable
        for number, data in inputs.items():
            self._inputs[number].data[: len(data)] = data
        binding = self._network.bind(
            [r.base for r in self._inputs], [r.base for r in self._outputs]
        )
        self._network.reload_graphs()
        windows = [w for w in binding.by_memory if w is not None]
        before = {w.base: w.data.copy() for w in windows}
        self._images = {base: data.copy() for base, data in before.items()}
        timed = runs.loadable(loadable, bench.name, self._config.name, around)
        cycles = iter([o for o in timed.operations if not o.unit.startswith("EMU")])
        for submit in loadable.submits:
            for number in submit.task_id:
                task = loadable.tasks[number]
                if task.interface != Interface.DLA1:
                    self._software(number, task, binding)
                    continue
                entries = self._network.entries(task, binding)
                log = self._recorder.run(windows, entries, loadable.new_layout)
                for position, offset, written in log.own:
                    image, start = self._image(entries[position].base + offset)
                    image[start : start + len(written)] = np.frombuffer(written, np.uint8)
                for computed, event in self._task(number, log):
                    operation = next(cycles, None)
                    layer = computed.layer
                    bench.operations.append(
                        Operation(
                            number,
                            computed.last[1],
                            layer.chain,
                            layer.input_shape,
                            layer.output_shape,
                            0 if operation is None else round(operation.end - operation.start),
                            event,
                        )
                    )
        self._finish(windows, before)
        bench.cycles = timed.cycles
        return bench

    def _finish(self, windows: list[Window], before: dict[int, Bytes]) -> None:
        bench = self._bench
        bench.inputs = [
            PlacedTensor(t, r.base)
            for t, r in zip(self._loadable.inputs, self._inputs, strict=True)
        ]
        bench.outputs = [
            PlacedTensor(t, r.base)
            for t, r in zip(self._loadable.outputs, self._outputs, strict=True)
        ]
        tensors = {t.address for t in (*bench.inputs, *bench.outputs)}
        known: set[int] = set()
        for window in windows:
            base = window.base
            memory = self._memory_of(base)
            if base in known or (memory is None and base not in tensors):
                continue  # lists of the firmware's: the hardware never reads them
            known.add(base)
            after = window.data.copy()
            bench.regions.append(Region(window.name, memory or PRIMARY, base, before[base], after))
        bench.regions.sort(key=lambda region: region.address)
        if not bench.regions:
            raise NvdlaError("the loadable has nothing that hardware would touch")
        bench.end = max(r.address + len(r.before) for r in bench.regions) + BEHIND
        for number, tensor in enumerate(bench.outputs):
            region = next(r for r in bench.regions if r.address == tensor.address)
            size = min(tensor.desc.size, len(region.after))
            crc = zlib.crc32(region.after[:size].tobytes())
            bench.steps.append(
                Check("", region.memory, tensor.address, size, crc, f"output {number}")
            )

    def _memory_of(self, base: int) -> int | None:
        primary, secondary = self._recorder.touched
        if not self._config.second_memory:
            return PRIMARY if base in primary or base in secondary else None
        if base in primary and base in secondary:
            raise NvdlaError(
                f"the memory at {base:#x} is reached through both ports of {self._config.name};"
                " a bench has two memories there",
                Status.NOT_SUPPORTED,
            )
        if base in primary:
            return PRIMARY
        return SECONDARY if base in secondary else None

    # -- tasks -----------------------------------------------------------------------------------

    def _task(self, number: int, log: TaskLog) -> list[tuple[Computed, str]]:
        """Turn what the firmware did into steps; the layers with their last event."""
        steps = self._bench.steps
        found: list[tuple[Computed, str]] = []
        for step in log.steps:
            if isinstance(step, RegWrite):
                self._written(step)
            elif isinstance(step, RegRead):
                self._read(step)
            elif isinstance(step, Interrupts):
                for bit in _in_order(step.bits):
                    steps.append(Await(bit, self._name(number, bit)))
                if step.layer >= 0 and not any(c is log.layers[step.layer] for c, _ in found):
                    computed = log.layers[step.layer]
                    found.append((computed, self._event))
                    self._checks(computed, log)
        return found

    def _name(self, task: int, bit: int) -> str:
        unit, group = source(bit)
        self._events += 1
        self._event = f"event{self._events}_task{task}_{unit.name}_{group}"
        return self._event

    def _written(self, step: RegWrite) -> None:
        if step.address == self._status:
            return  # awaiting an interrupt clears it
        if step.address == self._mask:
            if step.value == self._masked:
                return
            self._masked = step.value
        block, name = self._names[step.address]
        if name == "S_POINTER":
            self._producer[block] = step.value & 1
        self._bench.steps.append(Put(step.address, step.value))

    def _read(self, step: RegRead) -> None:
        block, name = self._names.get(step.address, ("", ""))
        if name == "S_CBUF_FLUSH_STATUS":
            self._bench.steps.append(Poll(step.address, 1, 1))
        elif name == "S_STATUS":
            group = 3 << 16 * self._producer.get(block, 0)
            self._bench.steps.append(Poll(step.address, group, 0))

    def _checks(self, computed: Computed, log: TaskLog) -> None:
        """What a layer wrote, unless others may be writing there now."""
        for change in computed.changes:
            image, start = self._image(change.address)
            image[start + change.offsets] = change.values
        busy = [c for c in log.layers if c is not computed and c.last in computed.running]
        for change in computed.changes:
            end = change.address + change.size
            if any(o.address < end and change.address < o.address + o.size
                   for c in busy for o in c.changes):  # fmt: skip
                continue
            image, start = self._image(change.address)
            crc = zlib.crc32(image[start : start + change.size].tobytes())
            memory = self._memory_of(change.address - start) or PRIMARY
            what = f"operation {computed.last[1]} ({computed.layer.chain})"
            self._bench.steps.append(
                Check(self._event, memory, change.address, change.size, crc, what)
            )

    def _image(self, address: int) -> tuple[Bytes, int]:
        for base, image in self._images.items():
            if base <= address < base + len(image):
                return image, address - base
        raise NvdlaError(f"{address:#x} is in no memory of the network")

    def _software(self, number: int, task: TaskEntry, binding: Binding) -> None:
        """A software task: what it changes becomes a step of the host."""

        def resolve(position: int) -> NDArray[np.uint8]:
            window, offset = self._network.task_memory(task, position, binding)
            return window.data[offset:]

        for operation in emu.operations(resolve, self._loadable.new_layout):
            emu.run(operation, resolve)
            word = emu.EmuOp.word(operation.op_type)
            for window in binding.by_memory:
                if window is None:
                    continue
                image = self._images[window.base]
                changed = np.flatnonzero(image != window.data)
                if not len(changed):
                    continue
                first, last = int(changed[0]), int(changed[-1]) + 1
                image[first:last] = window.data[first:last]
                memory = self._memory_of(window.base) or PRIMARY
                self._bench.steps.append(
                    Load(
                        memory,
                        window.base + first,
                        window.data[first:last].tobytes(),
                        f"task {number}: {word} on the host",
                    )
                )


def _in_order(bits: int) -> list[int]:
    """Interrupt bits of one layer in the order in which its units are done: the high ones are
    those of the convolution."""
    present = [bit for bit in range(ALL_BITS.bit_length()) if bits >> bit & 1]
    return sorted(present, key=lambda bit: (bit < Interrupt.CDMA_DAT, bit))
