"""Networks in parts as modules: host parts behind the same tensors, in both modes."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

import cudla_sim
from cudla_sim.compiler.options import Options
from cudla_sim.compiler.partition import Package, compile_partitions
from cudla_sim.compiler.runtime import session
from cudla_sim.constants import cudla as c
from cudla_sim.constants.cudla import cudlaStatus as Status
from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla.dla_core import Core
from cudla_sim.nvdla.errors import EngineTimeout
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.parts.host import TooLong
from cudla_sim.nvdla.parts.on_core import PartsOnCore
from cudla_sim.nvdla.real_tensors import described, pack, unpack
from cudla_sim.testing import Compiler
from tests.compiler.test_parts_choice import detector

from .driver import HYBRID, Client, pointer

HERE = Path(__file__).parent
rng = np.random.default_rng(8)
FLOATS, WHOLE = TensorProto.FLOAT, TensorProto.INT64
X = rng.normal(size=(1, 3, 8, 8)).astype(np.float32)


def model(nodes: list[Any], outputs: dict[str, tuple[int, list[int]]]) -> Any:
    constants = {
        "w": (rng.normal(size=(8, 3, 3, 3)) / 5).astype(np.float32),
        "v": (rng.normal(size=(4, 8, 1, 1)) / 3).astype(np.float32),
    }
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "parts",
        [helper.make_tensor_value_info("x", FLOATS, [1, 3, 8, 8])],
        [helper.make_tensor_value_info(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items() if name in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def inside() -> Any:
    """Hardware, host, hardware."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="first"),
        helper.make_node("LpNormalization", ["a"], ["n"], axis=1, name="norm"),
        helper.make_node("Conv", ["n", "v"], ["y"], name="second"),
    ]
    return model(nodes, {"y": (FLOATS, [1, 4, 6, 6])})


def outside() -> Any:
    """Host, hardware, host; the middle goes out, too, and the best channels as integers."""
    nodes = [
        helper.make_node("LpNormalization", ["x"], ["n"], axis=1, name="norm"),
        helper.make_node("Conv", ["n", "w"], ["a"], name="conv"),
        helper.make_node("ArgMax", ["a"], ["best"], axis=1, keepdims=0, name="best"),
        helper.make_node("LpNormalization", ["a"], ["y"], axis=1, name="last"),
    ]
    outputs = {"a": (FLOATS, [1, 8, 6, 6]), "best": (WHOLE, [1, 6, 6]), "y": (FLOATS, [1, 8, 6, 6])}
    return model(nodes, outputs)


def compiled(source: Any, precision: str = "int8") -> Package:
    samples = [{"x": rng.normal(size=X.shape).astype(np.float32)} for _ in range(4)] + [{"x": X}]
    return compile_partitions(source, Options(precision=precision), samples)


def decibels(expected: Any, found: Any) -> float:
    noise = np.square((expected - found).astype(np.float64)).sum()
    return float(10 * np.log10(np.square(expected.astype(np.float64)).sum() / noise))


def test_buffers_of_the_hardware_are_its_own(either: Client) -> None:
    source = inside()
    package = compiled(source)
    first, last = (Loadable.parse(package.parts[n].data) for n in (0, 2))
    assert either.load(package.encode()) == 0, cudla_sim.last_explanation()
    (given,), (made,) = either.descriptors(2), either.descriptors(3)
    assert (given.name, made.name) == (b"x", b"y")
    assert (given.size, given.dataType) == (first.inputs[0].size, c.CUDLA_DATA_TYPE_INT8)
    assert list(made.stride)[:3] == list(last.outputs[0].strides)[:3]
    note, atom = described(first).inputs[0], 32
    for _ in range(2):
        (found,) = either.infer([pack(note, first.inputs[0], atom, X).tobytes()])
        result = unpack(described(last).outputs[0], last.outputs[0], atom, found)
        assert np.array_equal(result, package.run({"x": X})["y"])
        assert decibels(session(source).run(None, {"x": X})[0], result) > 30


def test_buffers_of_the_host_are_linear(either: Client) -> None:
    source = outside()
    package = compiled(source, "fp16")
    assert [part.host for part in package.parts] == [True, False, True]
    assert either.load(package.encode()) == 0, cudla_sim.last_explanation()
    (given,) = either.descriptors(2)
    assert (given.n, given.c, given.h, given.w) == (1, 3, 8, 8)
    assert given.dataType == c.CUDLA_DATA_TYPE_FLOAT
    assert given.dataFormat == c.CUDLA_DATA_FORMAT_NCHW
    assert list(given.stride)[:4] == [4, 32, 256, 768]
    middle, best, last = either.descriptors(3)
    assert middle.dataType == c.CUDLA_DATA_TYPE_HALF
    assert (best.dataType, best.size) == (c.CUDLA_DATA_TYPE_UNKNOWN, 36 * 8)
    assert (last.dataType, last.size) == (c.CUDLA_DATA_TYPE_FLOAT, 8 * 36 * 4)
    found = either.infer([X.tobytes()])
    expected = dict(zip(["a", "best", "y"], session(source).run(None, {"x": X}), strict=True))
    alone = package.run({"x": X})
    y = found[2].view(np.float32).reshape(1, 8, 6, 6)
    assert np.array_equal(y, alone["y"])
    assert decibels(expected["y"], y) > 50
    assert np.array_equal(found[1].view(np.int64).reshape(1, 6, 6), alone["best"])
    part = Loadable.parse(package.parts[1].data)
    note = described(part).outputs[0]
    assert np.array_equal(unpack(note, part.outputs[0], 32, found[0]), alone["a"])


@pytest.mark.parametrize("mode", ["hybrid", "standalone"])
def test_a_c_program_runs_it_whole(sim_cc: Compiler, tmp_path: Path, mode: str) -> None:
    nodes = [
        helper.make_node("LpNormalization", ["x"], ["n"], axis=1, name="norm"),
        helper.make_node("Conv", ["n", "w"], ["a"], name="conv"),
        helper.make_node("LpNormalization", ["a"], ["y"], axis=1, name="last"),
    ]
    source = model(nodes, {"y": (FLOATS, [1, 8, 6, 6])})
    (tmp_path / "net.nvdla").write_bytes(compiled(source).encode())
    (tmp_path / "x.bin").write_bytes(X.tobytes())
    program = sim_cc.build(HERE / "programs" / "parts.c", options=["-Wextra"])
    ran = sim_cc.run(program, str(tmp_path / "net.nvdla"), str(tmp_path / "x.bin"), mode)
    assert ran.status == 0, ran.out + ran.err
    found = np.array([float(line) for line in ran.out.split()], np.float32)
    assert decibels(session(source).run(None, {"x": X})[0].ravel(), found) > 30


def test_an_input_that_several_parts_read_is_linear(either: Client) -> None:
    """Two parts for the hardware and one on the host; the input goes out, too."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("LpNormalization", ["x"], ["n"], axis=1, name="norm"),
        helper.make_node("Conv", ["n", "w"], ["b"], name="other"),
        helper.make_node("Add", ["a", "b"], ["s"], name="sum"),
        helper.make_node("MaxPool", ["x"], ["p"], name="pool", kernel_shape=[3, 3]),
        helper.make_node("LpNormalization", ["p"], ["y"], axis=1, name="last"),
    ]
    source = model(nodes, {"s": (FLOATS, [1, 8, 6, 6]), "y": (FLOATS, [1, 3, 6, 6])})
    package = compiled(source, "fp16")
    readers = [part.host for part in package.parts if "x" in part.inputs]
    assert True in readers
    assert False in readers
    assert either.load(package.encode()) == 0, cudla_sim.last_explanation()
    (given,) = either.descriptors(2)
    assert (given.dataType, given.size) == (c.CUDLA_DATA_TYPE_FLOAT, X.nbytes)
    first, last = either.infer([X.tobytes()])
    expected = session(source).run(None, {"x": X})
    alone = package.run({"x": X})
    assert np.array_equal(last.view(np.float32).reshape(1, 3, 6, 6), alone["y"])
    part = next(part for part in package.parts if "s" in part.outputs)
    loadable = Loadable.parse(part.data)
    place = part.outputs.index("s")
    note = described(loadable).outputs[place]
    found = unpack(note, loadable.outputs[place], 32, first)
    assert np.array_equal(found, alone["s"])
    assert decibels(expected[0], found) > 50


def test_integers_go_in_and_out(either: Client) -> None:
    """The host picks lines by numbers that the program gives."""
    constants = [numpy_helper.from_array((rng.normal(size=(8, 3, 3, 3)) / 5).astype("f4"), "w")]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("Gather", ["a", "i"], ["y"], name="pick", axis=2),
    ]
    ports = [
        helper.make_tensor_value_info("x", FLOATS, [1, 3, 8, 8]),
        helper.make_tensor_value_info("i", WHOLE, [2]),
    ]
    made = [helper.make_tensor_value_info("y", FLOATS, [1, 8, 2, 6])]
    graph = helper.make_graph(nodes, "g", ports, made, constants)
    opset = helper.make_opsetid("", 17)
    source = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    feeds = {"x": X, "i": np.array([4, 1])}
    package = compile_partitions(source, Options(precision="fp16"), [feeds])
    assert either.load(package.encode()) == 0, cudla_sim.last_explanation()
    picture, numbers = either.descriptors(2)
    assert (picture.dataType, numbers.dataType) == (
        c.CUDLA_DATA_TYPE_HALF,
        c.CUDLA_DATA_TYPE_UNKNOWN,
    )
    loadable = Loadable.parse(package.parts[0].data)
    packed = pack(described(loadable).inputs[0], loadable.inputs[0], 32, X).tobytes()
    (found,) = either.infer([packed, feeds["i"].tobytes()])
    result = found.view(np.float32).reshape(1, 8, 2, 6)
    assert np.array_equal(result, package.run(feeds)["y"])
    assert decibels(session(source).run(None, feeds)[0], result) > 50


def test_what_the_data_choose(either: Client) -> None:
    """As many boxes as there are; -1 and NaN behind them."""
    package = compile_partitions(detector(), Options(precision="fp16"))
    assert either.load(package.encode()) == 0, cudla_sim.last_explanation()
    loadable = Loadable.parse(package.parts[0].data)
    note = described(loadable).inputs[0]
    counts = []
    for factor in (0, 1, 4):
        x = factor * np.random.default_rng(2).normal(size=(1, 3, 32, 32)).astype(np.float32)
        data = pack(note, loadable.inputs[0], 32, x).tobytes()
        *_, chosen, pixels = either.infer([data])
        alone = package.run({"x": x})
        count = len(alone["chosen"])
        counts.append(count)
        rows, places = chosen.view(np.int64).reshape(40, 3), pixels.view(np.float32)
        assert np.array_equal(rows[:count], alone["chosen"])
        assert (rows[count:] == -1).all()
        assert np.array_equal(places.reshape(40, 4)[:count], alone["pixels"][0])
        assert np.isnan(places.reshape(40, 4)[count:]).all()
    assert counts[0] == 0 < counts[1] < 40


def test_two_streams_run_one_module(client: Callable[..., Client]) -> None:
    opened = client(HYBRID)
    package = compiled(outside(), "fp16")
    assert opened.load(package.encode()) == 0
    api, streams = opened.api, [pointer(), pointer()]
    pictures = [rng.normal(size=X.shape).astype(np.float32) for _ in range(2)]
    work = []
    for stream, picture in zip(streams, pictures, strict=True):
        assert api.cudaStreamCreate(ctypes.byref(stream)) == 0
        into = [opened.allocate(d.size) for d in opened.descriptors(2)]
        out = [opened.allocate(d.size) for d in opened.descriptors(3)]
        into[0].array[:] = picture.view(np.uint8).ravel()
        work.append((stream, opened.task(into, out), out))
    for _ in range(20):
        for stream, task, _out in work:
            assert opened.submit(task, stream=stream) == 0
    for stream, _task, out in work:
        assert api.cudaStreamSynchronize(stream) == 0
        picture = pictures[streams.index(stream)]
        expected = package.run({"x": picture})["y"]
        assert np.array_equal(out[2].array.view(np.float32).reshape(expected.shape), expected)


def test_statistics_name_host_parts(either: Client) -> None:
    assert either.load(compiled(outside(), "fp16").encode()) == 0
    (statistics,) = either.descriptors(5)
    kinds: list[str] = []

    def note(event: Any) -> None:
        if event.kind == "layer":
            kinds.append(event.name)

    unsubscribe = cudla_sim.process.events.subscribe(note)
    either.infer([X.tobytes()])
    unsubscribe()
    assert (kinds[0], kinds[-1]) == ("HOST", "HOST")
    assert statistics.size >= 32 + 80 * len(kinds)


def test_parts_on_the_host_end_with_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    space, core = AddressSpace("a program's memory"), Core("nv_full")
    parts = PartsOnCore(compiled(outside(), "fp16"), space, lambda loadable: core.config, 0)
    into = [space.allocate(X.nbytes, name="x")]
    out = [space.allocate(4096, name="out") for _ in parts.outputs]
    bases = [region.base for region in into], [region.base for region in out]
    with pytest.raises(EngineTimeout, match="before a part on the host"):
        parts.run(core, *bases, monotonic() - 1)

    def endless(self: Any, names: Any, feeds: Any, seconds: float | None = None) -> Any:
        assert seconds is not None
        assert 0 < seconds <= 60
        raise TooLong("it took long")

    assert parts.run(core, *bases, monotonic() + 60).layers
    monkeypatch.setattr("cudla_sim.nvdla.parts.host.Session.run", endless)
    with pytest.raises(EngineTimeout, match="it took long"):
        parts.run(core, *bases, monotonic() + 60)
    parts.close()


def test_without_onnxruntime_it_is_refused(
    client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = compiled(inside()).encode()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert client().load(data) == Status.cudlaErrorUmd
    assert "pip install 'cudla-sim[onnx]'" in cudla_sim.last_explanation()


def test_what_is_no_package(client: Callable[..., Client]) -> None:
    opened = client()
    package = compiled(inside())
    for data, why in (
        (package.encode()[:-20], "not a network in parts"),
        (b"PK\x03\x04", "not a network in parts"),
        (
            Package(package.config, package.inputs, ("n",), package.parts[:2]).encode(),
            "does not say what 'n' holds",
        ),
    ):
        assert opened.load(data) == Status.cudlaErrorUmd
        assert why in cudla_sim.last_explanation()
