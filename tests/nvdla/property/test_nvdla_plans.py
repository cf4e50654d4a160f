"""A task that comes again runs by its plan; nothing that can be seen differs from the slow path."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.core.memory import AddressSpace, Region
from cudla_sim.nvdla import Core, EngineTimeout, Loadable, LoadedNetwork, NvdlaError, dla_core
from cudla_sim.nvdla.again import segment
from cudla_sim.nvdla.again.plan import Plan
from cudla_sim.nvdla.again.recorder import Recorder
from cudla_sim.nvdla.again.segment import Segment
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.loadable import MemoryFlags
from tests.compiler.blocks import Builder
from tests.compiler.running import ranges


class Pair:
    """A network, and two cores that run it in turn on the same memory: with plans and without.
    Neither sees the other's registers, so they are compared where they are."""

    def __init__(self, image: bytes, config: str) -> None:
        self.space = AddressSpace()
        self.loadable = Loadable.parse(image)
        self.network = LoadedNetwork(self.loadable, self.space, config)
        self.planned = Core(config)
        self.slow = Core(config, planned=False)
        self.inputs, self.outputs = (
            [self.space.allocate(max(t.size, 1), name=t.name) for t in tensors]
            for tensors in (self.loadable.inputs, self.loadable.outputs)
        )

    def run(self, seed: int) -> None:
        """Run on random input; all that can be seen must be equal."""
        random = np.random.default_rng(seed)
        for region in self.inputs:
            region.data[:] = random.integers(0, 256, region.size, np.uint8)
        before = self._memory()
        found = self._run(self.planned)
        for window, data in zip(self._windows(), before, strict=True):
            window[:] = np.frombuffer(data, np.uint8)
        assert found == self._run(self.slow)

    def _run(self, core: Core) -> object:
        try:
            report = core.run(
                self.network, [r.base for r in self.inputs], [r.base for r in self.outputs]
            )
        except NvdlaError as error:
            return type(error), str(error)
        layers = [replace(layer, start_ns=0, end_ns=0) for layer in report.layers]
        return layers, report.note, self._memory(), self._registers(core)

    def _windows(self) -> list[np.ndarray]:
        own = [window.data for window in self.network._windows if window is not None]
        return [*own, *(region.data for region in (*self.inputs, *self.outputs))]

    def _memory(self) -> list[bytes]:
        return [window.tobytes() for window in self._windows()]

    @staticmethod
    def _registers(core: Core) -> object:
        csb = core.chip.csb
        blocks = {
            name: (
                block.single, block.groups, block.counted, block.enabled, block.producer,
                block.consumer,
                None if block.lut is None else (block.lut.tables, block.lut.configuration),
            )
            for name, block in csb.blocks.items()
        }  # fmt: skip
        flushed = csb._cbuf_flushed
        return blocks, csb.glb.mask, csb.glb.status, flushed, csb.bdma.status, list(csb.rejected)

    def change(self, memory: int, offset: int, value: int) -> int:
        """Set a byte of a memory; what it was."""
        window = self.network._windows[memory]
        assert window is not None
        old = int(window.data[offset])
        window.data[offset] = value
        return old

    @property
    def segments(self) -> list[Segment]:
        """What is computed by one call."""
        return [s for plan in self.plans for known in plan.segments.values() for s in known]

    @property
    def plans(self) -> list[Plan]:
        known = self.planned._plans
        return [] if known is None else [plan for plan in known._plans.values() if plan is not None]


def sigmoid_net(precision: str, config: str) -> Network:
    random = np.random.default_rng(3)
    net = Network(("data", (1, 5, 9, 9)), precision, config)
    net.conv2d(random.normal(size=(12, 5, 3, 3)), random.normal(size=12), padding=1)
    if config in ("nv_full", "nv_large"):
        net.sigmoid()
    first = net.output
    net.conv2d(random.normal(size=(12, 12, 1, 1)) / 4, relu=True)
    net.add(net.output, first)
    net.max_pool(2, 2)
    net.avg_pool(2, 1)
    net.fully_connected(random.normal(size=(7, 12 * 9)) / 10)
    return net


CUT = "int8, convolutions in pieces that keep weights"


def pieces(config: str) -> bytes:
    """Two convolutions whose pieces take the weights that the first one leaves in the buffer."""
    b = Builder()
    x = b.relu(b.conv(b.input(1, 64, 40, 40), 16, 1))
    graph = b.graph(b.relu(b.conv(x, 64, 1)))
    samples = [[np.random.default_rng(3).normal(size=(1, 64, 40, 40)).astype(np.float32)]]
    options = Options(config=config, precision="int8")
    return compile_graph(graph, ranges(graph, samples, "int8"), options).loadable


@cache
def image(precision: str, config: str) -> bytes:
    if precision == CUT:
        return pieces(config)
    net = sigmoid_net(precision, config)
    samples = np.random.default_rng(4).normal(size=(3, 5, 9, 9))
    return net.build(calibration=None if precision == "fp16" else samples)


KINDS = [
    ("int8", "nv_full"),
    ("int16", "nv_full"),
    ("fp16", "nv_full"),
    ("int8", "nv_large"),
    ("int8", "nv_small"),
    (CUT, "nv_small"),
]


@pytest.mark.parametrize(("precision", "config"), KINDS)
def test_plans_are_used_and_change_nothing(precision: str, config: str) -> None:
    pair = Pair(image(precision, config), config)
    for seed in range(6):
        pair.run(seed)
    assert pair.plans
    assert pair.segments


def test_weights_that_stay_in_the_buffer_are_in_segments() -> None:
    pair = Pair(image(CUT, "nv_small"), "nv_small")
    for seed in range(5):
        pair.run(seed)
    kinds = [known.layer.takes_weights for s in pair.segments for known in s._known]
    assert kinds.count(True) >= 2
    assert kinds.count(False) >= 1


@pytest.mark.slow
def test_other_weights_in_the_buffer_are_seen() -> None:
    """The weights are changed between submissions."""
    pair = Pair(image(CUT, "nv_small"), "nv_small")
    for seed in range(5):
        pair.run(seed)
    known = {memory for memory, _ in _descriptors(pair)}
    for memory, window in enumerate(pair.network._windows):
        if window is not None and memory not in known and window.size:
            for offset in range(0, window.size, 97):
                pair.change(memory, offset, 3)
                pair.run(offset)


def _descriptors(pair: Pair) -> list[tuple[int, int]]:
    """(memory, offset) of all bytes that the firmware read, and some weights."""
    task = next(t for t in pair.loadable.tasks if t.address_list)
    found = []
    for plan in pair.plans:
        for buffer, offset, data in plan.descriptors:
            memory = pair.loadable.addresses[task.address_list[buffer]].mem_id
            found += [(memory, offset + i) for i in range(len(data))]
    return sorted(set(found))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 1 << 30), st.integers(0, 255), st.integers(0, 3))
def test_changed_descriptors_and_tables_are_seen(kind, where, value, runs) -> None:
    """Any byte of any descriptor, a LUT or the graph changes between two submissions, and back."""
    pair = Pair(image(*kind), kind[1])
    for seed in range(5):
        pair.run(seed)
    places = _descriptors(pair)
    memory, offset = places[where % len(places)]
    old = pair.change(memory, offset, value)
    for seed in range(runs):
        pair.run(10 + seed)
    pair.change(memory, offset, old)
    for seed in range(3):
        pair.run(20 + seed)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**32))
def test_changed_weights_are_seen(kind, seed) -> None:
    pair = Pair(image(*kind), kind[1])
    for run in range(5):
        pair.run(run)
    random = np.random.default_rng(seed)
    known = {memory for memory, _ in _descriptors(pair)}
    for memory, window in enumerate(pair.network._windows):
        if window is not None and memory not in known and window.size:
            for offset in random.integers(0, window.size, 3):
                pair.change(memory, int(offset), int(random.integers(0, 256)))
    for run in range(6):
        pair.run(run)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**32))
def test_registers_that_a_program_wrote_in_between_change_nothing(kind, seed) -> None:
    """Plans hold whatever producers were; registers that no layer writes are part of it."""
    pair = Pair(image(*kind), kind[1])
    random = np.random.default_rng(seed)
    for run in range(8):
        pair.run(run)
        for block in pair.slow.chip.csb.blocks.values():
            if "S_POINTER" not in block.layout.by_name or random.integers(3) == 0:
                continue
            base = block.layout.base
            writes = [(base + block.layout.by_name["S_POINTER"].offset, int(random.integers(2)))]
            for item in block.layout.registers:
                grouped = item.offset >= block.layout.first_grouped and item.name != "D_OP_ENABLE"
                if grouped and random.integers(20) == 0:
                    writes.append((base + item.offset, int(random.integers(4))))
            for address, value in writes:
                for core in (pair.planned, pair.slow):
                    core.write(address, value)


def test_other_buffers_have_plans_of_their_own() -> None:
    pair = Pair(image("int8", "nv_large"), "nv_large")
    first, second = pair.inputs[0], pair.space.allocate(pair.inputs[0].size, name="another")
    for seed in range(8):
        pair.inputs = [first if seed % 2 else second]
        pair.run(seed)
    assert len(pair.plans) >= 2


@pytest.mark.parametrize("other", ["fp16", "int16"])
def test_networks_that_take_turns_on_a_core(other: str) -> None:
    """Registers that one network leaves behind are the same for the next one."""
    images = image("int8", "nv_full"), image(other, "nv_full")
    pairs = [Pair(item, "nv_full") for item in images]
    pairs[1].planned, pairs[1].slow = pairs[0].planned, pairs[0].slow
    for seed in range(14):
        pairs[seed % 3 % 2].run(seed)


class Stop(Exception):
    """The task is stopped."""


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "config"), [k for k in KINDS if k[0] != "fp16"])
def test_a_task_that_is_stopped_leaves_what_its_layers_left(precision, config, monkeypatch):
    """After any number of layers, registers, memory and reports are those of the slow path."""
    monkeypatch.setattr(segment, "ATTENTION_NS", -1)  # somebody looks behind each layer
    pair = Pair(image(precision, config), config)
    for seed in range(5):
        pair.run(seed)
    assert pair.segments
    task = next(t for t in pair.loadable.tasks if t.address_list)
    binding = pair.network.bind([r.base for r in pair.inputs], [r.base for r in pair.outputs])
    start, count = pair._memory(), len(pair.plans[0].rest)
    told, together = [], False
    for layers in range(count + 1):
        found = []
        for core in (pair.planned, pair.slow):
            for window, data in zip(pair._windows(), start, strict=True):
                window[:] = np.frombuffer(data, np.uint8)
            calls = iter(range(layers))

            def check(calls=calls) -> None:
                if next(calls, None) is None:
                    raise Stop

            pair.network.reload_graphs()
            core._memory.space = binding.windows
            entries = pair.network.entries(task, binding)
            with suppress(Stop):
                core.execute(
                    entries, pair.loadable.new_layout, check, None, lambda ran, _: told.append(ran)
                )
            together = together or bool(told)
            registers = pair._registers(core)
            found.append((registers, pair._memory(), core.chip.site.kept.mode))
            core.reset()
        assert found[0] == found[1], f"after {layers} layers"
        for _ in range(6):  # reset forgets plans
            pair.run(layers)
    assert together


def test_a_deadline_inside_a_segment_counts_its_layers(monkeypatch) -> None:
    monkeypatch.setattr(segment, "ATTENTION_NS", -1)
    pair = Pair(image("int8", "nv_large"), "nv_large")
    for seed in range(5):
        pair.run(seed)
    assert pair.segments
    now = iter(range(100))
    monkeypatch.setattr(dla_core, "monotonic", lambda: next(now))
    tensors = [[r.base for r in side] for side in (pair.inputs, pair.outputs)]
    with pytest.raises(EngineTimeout, match="the deadline passed after 3 layers of task 0"):
        pair.planned.run(pair.network, *tensors, deadline=3.5)


def test_a_layer_that_writes_over_descriptors_is_not_planned() -> None:
    """Its task may read them later."""
    pair = Pair(image("int8", "nv_large"), "nv_large")
    for seed in range(4):
        pair.run(seed)
    size = pair.outputs[0].size
    known = {memory for memory, _ in _descriptors(pair)}
    found = [pair.network._windows[memory] for memory in known]
    window = next(w for w in found if w is not None and w.size >= size)
    clean = pair._memory()
    pair.outputs = [Region(window.base, size, "over", lambda: window.data, True, None)]
    before = len(pair.plans)
    for seed in range(5):
        for part, data in zip(pair._windows()[:-1], clean, strict=False):
            part[:] = np.frombuffer(data, np.uint8)
        pair.run(seed)
    assert len(pair.plans) == before


@pytest.mark.parametrize("write", [True, False])
def test_what_depends_on_a_producer_is_not_planned(write: bool) -> None:
    """A register group may be touched once the task has chosen it."""
    block = registers.block("v1", "SDP")
    for chosen in (True, False):
        recorder = Recorder(Core("nv_full").chip, [])
        if chosen:
            recorder.reg_write(block.address("S_POINTER"), 1)
        if write:
            recorder.reg_write(block.address("D_CVT_SCALE"), 5)
        else:
            recorder.reg_read(block.address("D_CVT_SCALE"))
        recorder.reg_read(block.address("S_STATUS"))
        assert recorder.sound == chosen


def test_a_task_with_statistics_is_not_planned() -> None:
    """They hold times; here they go where the input was, which the first layer has read."""
    pair = Pair(image("int8", "nv_small"), "nv_small")
    task = next(t for t in pair.loadable.tasks if t.address_list)
    memories = [pair.loadable.addresses[number].mem_id for number in task.address_list]
    (given,) = pair.loadable.bound_memory(MemoryFlags.INPUT, 0)
    head = pair.network._windows[memories[0]]
    assert head is not None
    head.data[12:14] = memories.index(given), 0  # stat_list_index
    outputs = []
    for _ in range(4):
        for core in (pair.planned, pair.slow):
            pair.inputs[0].data[:] = np.arange(pair.inputs[0].size) % 50
            core.run(pair.network, *[[r.base for r in s] for s in (pair.inputs, pair.outputs)])
            outputs.append(pair.outputs[0].data.tobytes())
    assert len(set(outputs)) == 1
    assert not pair.plans
    assert np.any(pair.inputs[0].data != np.arange(pair.inputs[0].size) % 50)


def test_other_memory_at_the_same_address_is_seen() -> None:
    pair = Pair(image("int8", "nv_large"), "nv_large")
    base = pair.inputs[0].base
    for seed in range(12):
        if seed % 4 == 3:
            pair.space.unmap(pair.inputs[0])
            data = np.zeros(pair.inputs[0].size, np.uint8)
            pair.inputs = [pair.space.map(base, len(data), name="another", data=data)]
        pair.run(seed)


def test_many_buffers_in_turn_have_plans() -> None:
    pair = Pair(image("int8", "nv_large"), "nv_large")
    inputs = [pair.space.allocate(pair.inputs[0].size, name=f"input {i}") for i in range(12)]
    for seed in range(36):
        pair.inputs = [inputs[seed % 12]]
        pair.run(seed)
    assert len(pair.plans) == 12
    assert len(pair.segments) >= 12


@cache
def convolutions(count: int) -> bytes:
    random = np.random.default_rng(5)
    net = Network(("data", (1, 8, 6, 6)), "int8", "nv_large")
    for _ in range(count):
        net.conv2d(random.normal(size=(8, 8, 1, 1)))
    return net.build(random.normal(size=(1, 8, 6, 6)))


@pytest.mark.parametrize("kind", [1, 2, 3, *KINDS])
def test_the_third_submission_is_like_all_later_ones(kind: int | tuple[str, str]) -> None:
    """Tasks have begun with both register groups; what a reset left in registers was foreseen."""
    if isinstance(kind, int):
        pair = Pair(convolutions(kind), "nv_large")
    else:
        pair = Pair(image(*kind), kind[1])
    for seed in range(2):
        pair.run(seed)
    known = set(map(id, pair.plans)), set(map(id, pair.segments))
    for seed in range(2, 8):
        pair.run(seed)
        assert (set(map(id, pair.plans)), set(map(id, pair.segments))) == known


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compiled", "public"])
def test_fixtures_by_plan(fixtures: Path, kind: str) -> None:
    files = sorted((fixtures / "nvdla" / kind / "loadables").glob("*.nvdla"))
    assert files
    for file in files:
        content = file.read_bytes()
        loadable = Loadable.parse(content)
        part = file.name.split(".")
        config = f"nv_{part[1]}" if len(part) > 3 else "nv_full"
        if sum(t.size for t in loadable.inputs) > 1 << 18:
            continue  # large ones show nothing more
        try:
            pair = Pair(content, config)
        except NvdlaError:
            continue  # for another configuration
        for seed in range(3):
            pair.run(seed)
