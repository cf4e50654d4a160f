"""Programs: parameters, handlers, and what all dataflows of a program may use together."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from cudla_sim.constants.cupva import cupvaError_t
from cudla_sim.cupva.dataflow.static import StaticDataFlow
from cudla_sim.cupva.dataflow.tensor import TensorDataFlow
from cudla_sim.cupva.errors import CupvaError
from cudla_sim.cupva.executable import Executable, Kind, Symbol
from cudla_sim.cupva.memory import DeviceMemory
from cudla_sim.cupva.pointers import OffsetPointer
from cudla_sim.cupva.program import Program

from .dataflow.bench import Bench, bench

DRIVER = 2007
INVALID = int(cupvaError_t.CUPVA_INVALID_ARGUMENT)


class Fake(Executable):
    """An executable with variables, without a file."""

    def __init__(self) -> None:
        names = [Symbol(f"h{i}", 64 * (i + 1), 4, Kind.DATA) for i in range(20)]
        names.append(Symbol("raster", 4096, 64, Kind.RASTER))
        names.append(Symbol("buffer", 8192, 4096, Kind.DATA))
        names.append(Symbol("large", 16384, 65536, Kind.DATA))
        self.symbols = {s.name: s for s in names}


def program_of(machine: Bench) -> Program:
    return Program(machine.memory, Fake())


def add(
    program: Program, machine: Bench, handler: str = "", *, out: bool = False
) -> StaticDataFlow:
    """A head that moves 8 bytes into (or out of) VMEM."""
    flow = program.add_head(StaticDataFlow())
    data = machine.dram(np.arange(8, dtype=np.uint8))
    vmem = program.vmem_pointer("buffer")
    flow.tile(8)
    flow.src(vmem if out else data)
    flow.dst(data if out else vmem)
    if handler:
        flow.handler(program.handler(handler))
    return flow


def refused(program: Program, text: str, status: int = INVALID, driver: int = DRIVER) -> None:
    with pytest.raises(CupvaError, match=text) as caught:
        program.compile_dataflows(driver)
    assert caught.value.status == status


def test_parameters_have_room_together() -> None:
    with bench() as machine:
        program = program_of(machine)
        program.set_value("buffer", bytes(4096))
        program.set_value("large", bytes(4096))
        with pytest.raises(CupvaError, match="8192"):
            program.set_value("h0", b"1")
        program.set_value("large", bytes(4000))  # a new value replaces the old one
        program.set_value("h0", b"1234")
        with pytest.raises(CupvaError, match="5 bytes for 'h1', which has 4"):
            program.set_value("h1", b"12345")
        offsets = [offset for offset, _ in program.parameter_bytes()]
        assert offsets == [8192, 16384, 64]


def test_names_are_checked() -> None:
    with bench() as machine:
        program = program_of(machine)
        with pytest.raises(CupvaError, match="did you mean 'buffer'"):
            program.symbol("bufer")
        with pytest.raises(CupvaError, match="65 characters"):
            program.symbol("x" * 65)
        with pytest.raises(CupvaError, match="without an executable"):
            Program(machine.memory, None).symbol("buffer")


def test_triggers_of_a_phase_are_seven_each_way() -> None:
    with bench() as machine:
        program = program_of(machine)
        for i in range(7):
            add(program, machine, f"h{i}")
            add(program, machine, f"h{i + 7}", out=True)
        program.compile_dataflows(DRIVER)
        add(program, machine, "h14")
        refused(program, "8 read dataflows")
        program.heads[-1] = program.heads[-1]._replace(phase=1)
        program.compile_dataflows(DRIVER)  # phases do not run together


def test_channels_and_descriptors() -> None:
    with bench() as machine:
        program = program_of(machine)
        for _ in range(15):
            add(program, machine)
        program.compile_dataflows(DRIVER)
        add(program, machine)
        refused(program, "16 dataflow heads")
        long = program_of(machine)
        head = add(long, machine)
        for _ in range(60):
            node = long.add(StaticDataFlow())
            node.copy(head)
            node.following = []
            head.link(node)
        refused(long, "61 descriptors")


def test_every_dataflow_hangs_in_one_list() -> None:
    with bench() as machine:
        program = program_of(machine)
        add(program, machine)
        loose = program.add(StaticDataFlow())
        refused(program, "linked to no head")
        first, second = add(program, machine), add(program, machine)
        first.link(loose)
        second.link(loose)
        refused(program, "one place")


def test_a_handler_is_declared_for_its_dataflow() -> None:
    with bench() as machine:
        program = program_of(machine)
        add(program, machine, "raster")
        refused(program, "declared as RASTER")


def test_an_old_driver_has_no_tensors() -> None:
    with bench() as machine:
        program = program_of(machine)
        program.add_head(TensorDataFlow())
        old = int(cupvaError_t.CUPVA_INSUFFICIENT_DRIVER_VERSION)
        refused(program, "2006", old, driver=2005)


def test_submitting_needs_compiled_dataflows() -> None:
    with bench() as machine:
        program = program_of(machine)
        assert program.flows == []
        add(program, machine)
        with pytest.raises(CupvaError, match="not compiled") as caught:
            _ = program.flows
        assert caught.value.status == int(cupvaError_t.CUPVA_INVALID_STATE)
        program.compile_dataflows(DRIVER)
        assert len(program.flows) == 1


def test_a_new_base_takes_effect_with_update() -> None:
    with bench() as machine:
        program = program_of(machine)
        one = machine.dram(np.zeros(64, np.uint8))
        two = machine.dram(np.zeros(64, np.uint8))
        pointer = OffsetPointer(one, 8)
        flow = program.add_head(StaticDataFlow())
        flow.tile(8)
        flow.src(pointer)
        flow.dst(program.vmem_pointer("buffer"))
        with pytest.raises(CupvaError, match="nothing to update"):
            program.update_dataflows()
        program.compile_dataflows(DRIVER)
        base = machine.memory.device_base

        def source() -> int:
            return int(program.flows[0].descriptors["src"]["at"][0])

        assert (source(), program.outdated) == (one + 8 - base, "")
        pointer.base, pointer.offset = two, 16
        assert (source(), program.outdated) == (one + 8 - base, "StaticDataFlow 0")
        program.update_dataflows()
        assert (source(), program.outdated) == (two + 16 - base, "")
        pointer.offset = 60
        with pytest.raises(CupvaError, match="touches bytes"):
            program.update_dataflows()
        assert source() == two + 16 - base


def test_two_dataflows_on_one_handler_are_refused() -> None:
    with bench() as machine:
        program = program_of(machine)
        for phase in (0, 1):
            flow = add(program, machine)
            program.heads[-1] = program.heads[-1]._replace(phase=phase)
            flow.handler(program.handler("h0"))
        refused(program, "'h0' is the handler of StaticDataFlow 0 already")


def test_l2_size() -> None:
    with bench() as machine:
        program = program_of(machine)
        program.set_l2_size(1 << 20)
        with pytest.raises(CupvaError, match="1048576"):
            program.set_l2_size((1 << 20) + 1)


def test_a_pointer_may_be_bound_after_compilation() -> None:
    with bench() as machine:
        program = program_of(machine)
        pointer = OffsetPointer()
        flow = program.add_head(StaticDataFlow())
        flow.tile(8)
        flow.src(pointer)
        flow.dst(program.vmem_pointer("buffer"))
        program.compile_dataflows(DRIVER)
        with pytest.raises(CupvaError, match="had no base"):
            _ = program.flows
        pointer.base = machine.dram(np.zeros(64, np.uint8))
        with pytest.raises(CupvaError, match="updateDataFlows"):
            _ = program.flows
        program.update_dataflows()
        assert len(program.flows) == 1


def test_a_shared_head_needs_no_channel_of_its_own() -> None:
    with bench() as machine:
        program = program_of(machine)
        heads = [add(program, machine) for _ in range(15)]
        shared = program.add_shared_head(StaticDataFlow(), heads[0])
        shared.copy(heads[1])
        program.compile_dataflows(DRIVER)
        with pytest.raises(CupvaError, match="no head of this program"):
            program.add_shared_head(StaticDataFlow(), StaticDataFlow())


def test_device_memory_comes_back_when_addresses_are_used_up() -> None:
    memory = DeviceMemory()
    try:
        before = memory.allocate(1)
        room = memory.allocate(1) - before
        most = memory.dram_size - 6 * room
        memory.allocate(most)
        first, second, third = (memory.allocate(1) for _ in range(3))
        with pytest.raises(CupvaError, match=r"\d+ are left in the largest free range"):
            memory.allocate(most)
        while memory._ranges._fresh + room <= memory.dram_size:
            memory.allocate(1)
        with pytest.raises(CupvaError, match="0 are left in the largest free range"):
            memory.allocate(1)
        ctypes.memset(memory.host_address(second), 7, 1)
        memory.free(second)
        assert memory.allocate(1) == second
        assert ctypes.string_at(memory.host_address(second), 1) == b"\0"
        for address in (first, second, third):
            memory.free(address)
    finally:
        memory.close()
