"""Running networks: binding, reports, errors that leave the engine usable, threads."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace, MemoryFault
from cudla_sim.nvdla import (
    BadLoadable,
    Engine,
    EngineTimeout,
    KmdError,
    Loadable,
    LoadedNetwork,
    NvdlaError,
    Status,
    WrongConfiguration,
    layout,
)


class Run:
    """A loaded network with its tensors."""

    def __init__(self, data: bytes, config: str = "nv_small") -> None:
        self.space = AddressSpace()
        self.network = LoadedNetwork(Loadable.parse(data), self.space, config)
        self.source = self.space.allocate(self.network.inputs[0].size, name="input")
        self.target = self.space.allocate(self.network.outputs[0].size, name="output")
        values = np.random.default_rng(9).integers(-128, 128, (1, 3, 8, 8)).astype(np.int8)
        self.source.data[:] = layout.pack_tensor(self.network.inputs[0], values)

    def __call__(self, engine: Engine, **options):
        return engine.run(self.network, [self.source.base], [self.target.base], **options)

    @property
    def result(self) -> np.ndarray:
        return layout.unpack_tensor(self.network.outputs[0], self.target.data).ravel()


def patched(data: bytes, blob: str, offset: int, value: bytes) -> bytes:
    """Change bytes of a blob in a loadable."""
    content = bytes(Loadable.parse(data).blobs[blob].data)
    where = data.index(content) + offset
    return data[:where] + value + data[where + len(value) :]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine("nv_small")


def test_report_names_layers_in_order(small_loadable: bytes, engine: Engine) -> None:
    seen = []
    report = Run(small_loadable)(engine, on_layer=seen.append)
    assert [layer.unit for layer in report.layers] == [
        "CONV+SDP",
        "PDP",
        "CONV+SDP",
        "EMU softmax",
    ]
    assert seen == report.layers
    first = report.layers[0]
    assert first.operations == (0, 1)
    assert first.input_shape == (3, 8, 8)
    assert first.output_shape == (10, 8, 8)
    assert first.macs == 10 * 64 * 27
    assert report.macs == first.macs + 5 * 160
    assert first.end_ns >= first.start_ns
    assert report.note == ""


def test_a_network_runs_again_and_again(small_loadable: bytes, engine: Engine) -> None:
    run = Run(small_loadable)
    results = []
    for _ in range(3):
        run(engine)
        results.append(run.result.tobytes())
    assert len(set(results)) == 1


def test_deadline_in_the_past_is_a_timeout_and_the_engine_recovers(
    small_loadable: bytes, engine: Engine
) -> None:
    run = Run(small_loadable)
    with pytest.raises(EngineTimeout) as caught:
        run(engine, deadline=time.monotonic() - 1)
    assert caught.value.code == Status.TIMEOUT
    assert run(engine).layers


def test_failure_in_the_middle_leaves_the_engine_usable(
    small_loadable: bytes, engine: Engine
) -> None:
    pool_stride = 2 * 116 + 16
    with pytest.raises(KmdError, match="stride_x = 14") as caught:
        Run(patched(small_loadable, "task-0-op_list", pool_stride, b"\x0e"))(engine)
    assert caught.value.firmware == -3
    assert Run(small_loadable)(engine).layers


def test_unreachable_operations_are_named(small_loadable: bytes, engine: Engine) -> None:
    broken = patched(small_loadable, "task-0-dep_graph", 36 * 1 + 4, b"\x05")
    with pytest.raises(KmdError, match="no progress: CONV operation 0 waits"):
        Run(broken)(engine)


def test_cyclic_queue_is_found(small_loadable: bytes, engine: Engine) -> None:
    conv_after_conv0 = 8 + 4 * 1
    broken = patched(small_loadable, "task-0-dep_graph", conv_after_conv0, b"\x00\x00")
    with pytest.raises(KmdError, match="queued twice"):
        Run(broken)(engine)


@pytest.mark.parametrize(("offset", "value"), [(18, b"\x63\x00"), (4, b"\x50\x00")])
def test_network_descriptor_out_of_range(
    small_loadable: bytes, engine: Engine, offset: int, value: bytes
) -> None:
    with pytest.raises(KmdError):
        Run(patched(small_loadable, "task-0-addr0", offset, value))(engine)


def test_unaligned_tensor_is_refused(small_loadable: bytes, engine: Engine) -> None:
    run = Run(small_loadable)
    with pytest.raises(NvdlaError, match="multiples of 8") as caught:
        engine.run(run.network, [run.source.base + 4], [run.target.base])
    assert caught.value.code == Status.INVALID_ADDRESS


def test_tensor_outside_memory_is_a_fault(small_loadable: bytes, engine: Engine) -> None:
    run = Run(small_loadable)
    with pytest.raises(MemoryFault):
        engine.run(run.network, [run.source.base], [0x1000])
    with pytest.raises(MemoryFault):
        engine.run(run.network, [run.source.base + 8], [run.target.base])


def test_number_of_tensors_is_checked(small_loadable: bytes, engine: Engine) -> None:
    run = Run(small_loadable)
    with pytest.raises(NvdlaError, match="1 input tensors, 2 addresses"):
        engine.run(run.network, [run.source.base] * 2, [run.target.base])


@pytest.mark.parametrize("other", ["nv_full", "nv_large", "nv_small_256"])
def test_loadable_of_another_configuration_is_refused(small_loadable: bytes, other: str) -> None:
    with pytest.raises(WrongConfiguration, match="compiled for nv_small, this engine is " + other):
        LoadedNetwork(Loadable.parse(small_loadable), AddressSpace(), other)


def test_engine_and_network_must_agree(small_loadable: bytes) -> None:
    with pytest.raises(NvdlaError, match="loaded for nv_small, the engine is nv_large"):
        Run(small_loadable)(Engine("nv_large"))


def test_close_gives_the_memory_back(small_loadable: bytes, engine: Engine) -> None:
    run = Run(small_loadable)
    assert len(run.space) == 3
    run.network.close()
    run.network.close()
    assert len(run.space) == 2
    with pytest.raises(NvdlaError):
        run(engine)


def test_engines_work_side_by_side(small_loadable: bytes) -> None:
    runs = [Run(small_loadable) for _ in range(4)]
    engines = [Engine("nv_small"), Engine("nv_small")]
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                runs[number](engines[number % 2])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({run.result.tobytes() for run in runs}) == 1


def test_not_a_loadable() -> None:
    with pytest.raises(BadLoadable):
        Loadable.parse(b"")
