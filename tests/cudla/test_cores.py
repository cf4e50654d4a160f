"""One core for everybody: cuDLA, the NVDLA driver and the register level take turns on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, NvdlaError, WrongConfiguration
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.claim import Claim
from cudla_sim.nvdla.errors import MemoryAccessError
from cudla_sim.nvdla.hw.memory import Memory, Window, Windows
from cudla_sim.nvdla.machine import machine
from cudla_sim.testing import Compiler

from .driver import Client


def test_cudla_and_the_driver_have_the_same_cores(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    made = client()
    assert made.device
    assert [c.nvdla for c in sim.dla.cores] == machine(sim.process).cores


def test_a_claim_serves_in_the_order_of_arrival() -> None:
    claim, order = Claim(), []
    claim.begin()
    threads = []
    for number in range(8):

        def work(number: int = number) -> None:
            claim.begin()
            order.append(number)
            claim.end()

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        while len(claim._waiting) <= number:
            time.sleep(0.001)
    claim.end()
    for thread in threads:
        thread.join(20)
    assert order == list(range(8))


def test_a_claim_of_a_thread_that_is_gone_is_left_behind() -> None:
    claim = Claim()
    thread = threading.Thread(target=claim.begin)
    thread.start()
    thread.join()
    assert claim.begin() is True


def test_cudla_waits_until_a_foreign_task_has_left_the_core(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    """A firmware of the program's own has the core (as between NvDlaSubmit's begin and end)."""
    made = client()
    assert made.load(digits) == 0
    (core, _) = machine(sim.process).cores
    events = []
    sim.process.events.subscribe(lambda e: events.append(e.kind) if e.kind == "task" else None)
    core.begin()
    worker = threading.Thread(target=lambda: made.infer([bytes(made.descriptors(2)[0].size)]))
    worker.start()
    time.sleep(0.1)
    assert events == []
    core.end()
    worker.join(20)
    assert events == ["task"]


def test_one_core_runs_tasks_of_both_stacks_at_once(
    sim_cc: Compiler, tmp_path: Path, digits: bytes
) -> None:
    """A C program submits to core 0 through cuDLA and through nvdla::IRuntime from two threads and
    compares every result with the first of its stack."""
    network = tmp_path / "digits.nvdla"
    network.write_bytes(digits)
    source = Path(__file__).parent / "programs" / "two_stacks.cpp"
    program = sim_cc.build(source)
    result = sim_cc.run(program, str(network), settings={"CUDLA_SIM_LOG": "layers"})
    assert result.status == 0, result.out + result.err
    assert "equal" in result.out
    # layers of one task are never between those of another: one LeNet-like net has the same units
    units = [line.split("  ")[0] for line in result.err.splitlines() if line.startswith("[DLA0]")]
    assert len(units) % 40 == 0
    count = len(units) // 40
    runs = [tuple(units[i : i + count]) for i in range(0, len(units), count)]
    assert len(set(runs)) == 1


def weights_network(seed: int) -> bytes:
    net = Network(("data", (1, 8, 8, 8)), "int8", "nv_small")
    random = np.random.default_rng(seed)
    net.conv2d(random.normal(size=(64, 8, 3, 3)), padding=1)
    return net.build(calibration=random.normal(size=(1, 8, 8, 8)))


def test_weights_of_a_network_that_is_loaded_again_are_kept_once() -> None:
    core, space = Core("nv_small"), AddressSpace()
    sizes = set()
    for _ in range(20):
        network = LoadedNetwork(Loadable.parse(weights_network(1)), space, "nv_small")
        source = space.allocate(network.inputs[0].size, name="in")
        result = space.allocate(network.outputs[0].size, name="out")
        core.run(network, [source.base], [result.base])
        network.close()
        sizes.add(core._cache.used)
    assert len(sizes) == 1


def test_other_weights_at_the_same_address_are_seen() -> None:
    core, space = Core("nv_small"), AddressSpace()
    results = []
    for seed in (1, 2, 1):
        network = LoadedNetwork(Loadable.parse(weights_network(seed)), space, "nv_small")
        source = space.allocate(network.inputs[0].size, name="in")
        source.data[:] = 1
        result = space.allocate(network.outputs[0].size, name="out")
        core.run(network, [source.base], [result.base])
        results.append(bytes(result.data))
        network.close()
    assert results[0] == results[2] != results[1]


def test_auto_becomes_what_the_first_loadable_is_for(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    sim.configure(config="auto")
    first = client()
    assert first.load(weights_network(1)) == 0
    assert sim.dla.cores[0].nvdla.config.name == "nv_small"
    assert sim.dla.cores[1].nvdla.config.name == "nv_full"


def test_a_wrong_configuration_names_the_cure() -> None:
    with pytest.raises(WrongConfiguration, match=r"CUDLA_SIM_CONFIG=nv_small"):
        LoadedNetwork(Loadable.parse(weights_network(1)), AddressSpace(), "nv_full")


def test_a_margin_takes_what_runs_past_a_memory_object() -> None:
    whole = np.zeros(64 + 16, np.uint8)
    memory = Memory(Windows([Window(0x1000, whole[:64], "memory 3", whole=whole)]))
    said: list[str] = []
    memory.warn = said.append
    memory.view("SDP", 0x1000 + 60, 12, write=True)[:] = 7
    assert whole[60:72].tolist() == [7] * 12
    assert len(said) == 1
    assert "8 bytes past the end of memory 3" in said[0]
    memory.view("SDP", 0x1000 + 60, 12, write=True)
    assert len(said) == 1
    with pytest.raises(MemoryAccessError):
        memory.view("SDP", 0x1000 + 60, 32)


def test_a_network_with_margins_computes_the_same() -> None:
    outputs = []
    for margin in (0, 1 << 16):
        core, space = Core("nv_small"), AddressSpace()
        network = LoadedNetwork(Loadable.parse(weights_network(3)), space, "nv_small", margin)
        source = space.allocate(network.inputs[0].size, name="in")
        source.data[:] = np.arange(source.size) % 100
        result = space.allocate(network.outputs[0].size, name="out")
        core.run(network, [source.base], [result.base])
        outputs.append(bytes(result.data))
    assert outputs[0] == outputs[1]


def test_a_core_that_has_another_configuration_refuses() -> None:
    space = AddressSpace()
    network = LoadedNetwork(Loadable.parse(weights_network(3)), space, "nv_small")
    with pytest.raises(NvdlaError, match="the engine is nv_large"):
        Core("nv_large").run(network, [0], [0])
