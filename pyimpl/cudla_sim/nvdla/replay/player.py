"""Plays one trace on a chip of its own and says whether everything it checks holds."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ...core import process
from ...core.memory import AddressSpace, MemoryFault
from ...core.pages import anonymous
from ..dla_core import Core
from ..errors import NvdlaError, UnsupportedOperation
from ..facts import registers
from ..facts.configs import CONFIGS
from ..hw.launch import ComputedLayer
from . import blocks
from . import trace as t

# Traces use 32-bit addresses and a few above; nothing is committed before it is touched.
_MEMORY_BYTES, _LEAST_BYTES = 1 << 36, 1 << 32
_FIRST_ADDRESS = 64
_MOST_STEPS = 100_000
_PATTERNS = {"ALL_ZERO": 0, "ONES": 0xFF, "AFIVE": 0xA5, "FIVEA": 0x5A}


@dataclass
class Outcome:
    """What playing a trace found. ``failures`` begins with the first difference."""

    name: str
    config: str
    checks: int = 0
    failures: list[str] = field(default_factory=list)
    unsupported: str = ""
    layers: list[ComputedLayer] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """``pass``, ``fail``, ``unsupported``, or ``no check`` when nothing was compared."""
        if self.unsupported:
            return "unsupported"
        if self.failures:
            return "fail"
        return "pass" if self.checks else "no check"


def play(trace: t.Trace, config: str = "", told: set[str] | None = None) -> Outcome:
    """Plays ``trace`` on a configuration (default: the first it is for). Raises TraceError.

    *told* are warnings that are not printed again; new ones are added.
    """
    name = config or trace.configs[0]
    if CONFIGS[name].line != trace.line:
        raise t.TraceError(
            f"{trace.name} is written for the {trace.line} register map; {name} has the "
            f"{CONFIGS[name].line} map"
        )
    player = _Player(trace, name, told)
    begin = perf_counter()
    try:
        player.run()
    except UnsupportedOperation as error:
        player.outcome.unsupported = str(error)
    except (NvdlaError, MemoryFault) as error:
        player.outcome.failures.append(f"the chip stopped: {error}")
    player.outcome.seconds = perf_counter() - begin
    return player.outcome


class _Player:
    def __init__(self, trace: t.Trace, config: str, told: set[str] | None) -> None:
        self.trace = trace
        self.outcome = Outcome(trace.name, config)
        self.memories = [_new_memory() for _ in range(1 if trace.flat else 2)]
        core = Core(
            CONFIGS[config],
            memory=self.memories[0],
            secondary=self.memories[-1],
            process=process.current(),
            told=told,
        )
        self.chip = core.chip
        self.chip.on_layer = self.outcome.layers.append
        glb = registers.block(trace.line, "GLB")
        self._status = glb.address("S_INTR_STATUS")
        self._mask = glb.address("S_INTR_MASK")
        self._expected: list[t.Notify] = []
        self._signaled: set[str] = set()

    def run(self) -> None:
        if any(isinstance(op, t.SyncWait) for op in self.trace.operations):
            self._run_blocks()
        else:
            for operation in self.trace.operations:
                self._do(operation)
        for reason in self.chip.waiting():
            # A chain that never became complete: the trace left something running.
            if self.outcome.failures:
                self.outcome.failures.append(f"still waiting: {reason}")

    def _run_blocks(self) -> None:
        """Accesses to each block are a sequence of their own, memory is another one, and checks
        come with their events; what can go on does, in the order of the trace."""
        queues = blocks.sequences(self.trace.operations, self.trace.line)
        steps = 0
        while queues:
            self._serve()
            ready = blocks.first_ready(queues, self._signaled)
            if ready is not None:
                steps = 0
                operation = blocks.take(queues, ready)
                if isinstance(operation, t.SyncNotify):
                    self._signaled.add(operation.sync)
                else:
                    self._do(operation)
                continue
            steps += 1
            if steps > _MOST_STEPS or not self.chip.step():
                waiting = ", ".join(sorted(blocks.awaited(queues)))
                self._fail(f"events never came: {waiting}; {self._stuck()}")
                return

    def _do(self, op: t.Operation) -> None:
        match op:
            case t.RegWrite():
                self.chip.write(op.address, op.value)
            case t.RegCheck():
                self._reg_check(op)
            case t.RegUntil():
                bits = op.value if op.address == self._status else 0
                self._reg_check(t.RegCheck(op.address, op.value), bits)
            case t.MemInit():
                self._fill(op)
            case t.MemLoad():
                for offset, data in op.pieces():
                    self._bytes(op.memory, op.address + offset, len(data))[:] = np.frombuffer(
                        data, np.uint8
                    )
            case t.WaitInterrupt():
                if not self._until(lambda: self.chip.irq):
                    self._fail("the interrupt line stays low; " + self._stuck())
            case t.Notify():
                self._expected.append(op)
            case t.CheckNothing():
                self._wait_for(op.sync)
            case t.SyncWait() | t.SyncNotify():
                pass  # between blocks, where one sequence has all of them
            case t.CheckCrc():
                self._check_crc(op)
            case t.CheckMemory():
                self._check_memory(op)

    def _fail(self, text: str) -> None:
        layer = ""
        if self.outcome.layers:
            last = self.outcome.layers[-1]
            number = len(self.outcome.layers) - 1
            layer = f" (last layer: {number}, {last.chain} -> {last.output_shape})"
        self.outcome.failures.append(text + layer)

    def _stuck(self) -> str:
        return "; ".join(self.chip.waiting()) or "nothing is enabled"

    def _bytes(self, memory: int, address: int, size: int) -> NDArray[np.uint8]:
        return self.memories[min(memory, len(self.memories) - 1)].view(address, size, write=True)

    def _fill(self, op: t.MemInit) -> None:
        view = self._bytes(op.memory, op.address, op.size)
        if op.pattern == "ADDR":
            words = np.arange(op.address, op.address + op.size, 4, dtype=np.int64).astype(np.uint32)
            view[:] = words.view(np.uint8)[: op.size]
        elif op.pattern in _PATTERNS:
            view[:] = _PATTERNS[op.pattern]
        else:
            raise t.TraceError(f"{self.trace.name}: no such memory pattern: {op.pattern}")

    def _until(self, condition: Callable[[], bool], first: int = 0) -> bool:
        """Lets the chip move on, one event at a time, until the condition holds.

        ``first``: status bits whose events come before others.
        """
        for _ in range(_MOST_STEPS):
            if condition():
                return True
            if not self.chip.step(first):
                return condition()
        return False

    def _reg_check(self, op: t.RegCheck, first: int = 0) -> None:
        self.outcome.checks += 1
        wanted = op.value & op.mask
        if not self._until(lambda: self.chip.read(op.address) & op.mask == wanted, first):
            found = self.chip.read(op.address)
            name = registers.describe_address(self.trace.line, op.address)
            self._fail(f"{name} is {found:#x}; {wanted:#x} is expected under mask {op.mask:#x}")

    def _serve(self) -> None:
        """What a driver does with interrupts: note the expected ones, write the bits back.

        Status bits are looked at whether masked or not: some traces expect masked ones.
        """
        status = self.chip.read(self._status)
        served = status & ~self.chip.read(self._mask)
        for bit in range(status.bit_length()):
            entry = next((e for e in self._expected if status & e.bits & 1 << bit), None)
            if entry is not None:  # each interrupt is one entry's, in their order
                self._signaled.add(entry.sync)
                self._expected.remove(entry)
                served |= 1 << bit
        if served:
            self.chip.write(self._status, served)

    def _wait_for(self, sync: str) -> bool:
        def arrived() -> bool:
            self._serve()
            return sync in self._signaled

        if self._until(arrived):
            return True
        self._fail(f"event {sync} never came; {self._stuck()}")
        return False

    def _check_crc(self, op: t.CheckCrc) -> None:
        self.outcome.checks += 1
        if not self._wait_for(op.sync):
            return
        found = zlib.crc32(self._bytes(op.memory, op.address, op.size).data)
        if found != op.crc:
            self._fail(
                f"CRC of [{op.address:#x}, +{op.size:#x}) is {found:#010x}; "
                f"{op.crc:#010x} is expected"
            )

    def _check_memory(self, op: t.CheckMemory) -> None:
        self.outcome.checks += 1
        if op.sync and not self._wait_for(op.sync):
            return
        golden = np.frombuffer(op.golden(), np.uint8)
        found = self._bytes(op.memory, op.address, golden.size)
        different = np.flatnonzero(found != golden)
        if different.size:
            first = int(different[0])
            self._fail(
                f"{different.size} of {golden.size} bytes differ from {op.name}, the first at "
                f"{op.address + first:#x}: {found[first]:#04x}, expected {golden[first]:#04x}"
            )


def _new_memory() -> AddressSpace:
    space = AddressSpace("the trace's memory")
    for bytes_ in (_MEMORY_BYTES, _LEAST_BYTES):
        size = bytes_ - _FIRST_ADDRESS
        try:
            data = anonymous(size, reserve=False)
        except MemoryError:
            continue
        space.map(_FIRST_ADDRESS, size, name="memory", data=data)
        return space
    raise t.TraceError(
        f"there is no address space of {_LEAST_BYTES >> 30} GiB for the memory of a trace"
        " (ulimit -v); its pages are taken only when they are touched"
    )
