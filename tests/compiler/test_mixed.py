"""Layers in fp16 until an int8 network comes near enough: measured, not guessed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.mixed import WHOLE, Found, Search
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests.compiler.reference import run

RANDOM = np.random.default_rng(0)
SAMPLES = [{"x": RANDOM.normal(size=(1, 3, 12, 12)).astype(np.float32)} for _ in range(4)]


def model() -> onnx.ModelProto:
    """Convolutions of which one has kernels of very different sizes."""
    nodes, stored, name, channels = [], [], "x", 3
    for number, kernels in enumerate((16, 16, 24, 8)):
        weights = RANDOM.normal(size=(kernels, channels, 3, 3)) / np.sqrt(9 * channels)
        stored.append(numpy_helper.from_array(weights.astype(np.float32), f"w{number}"))
        made = helper.make_node("Conv", [name, f"w{number}"], [f"c{number}"], pads=[1] * 4)
        made.name = f"conv{number}"
        nodes += [made, helper.make_node("Relu", [f"c{number}"], [f"r{number}"], f"relu{number}")]
        name, channels = f"r{number}", kernels
    ports = [
        helper.make_tensor_value_info(port, TensorProto.FLOAT, [1, c, 12, 12])
        for port, c in (("x", 3), (name, channels))
    ]
    graph = helper.make_graph(nodes, "mixed", ports[:1], ports[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MODEL = model()


def found(target: float, **more: Any) -> Found:
    graph = front.load(MODEL)
    scales, seen = calibrate.ranges(graph, SAMPLES), calibrate.statistics(graph, SAMPLES)
    options = more.pop("options", Options())
    search = Search(graph, scales, options, SAMPLES, seen.means, seen.spans, **more)
    return search.run(target)


def decibels(loadable: bytes) -> float:
    signal = noise = 0.0
    with RealNetwork(loadable) as network:
        for sample in SAMPLES:
            (want,) = run(MODEL, sample).values()
            (made,) = network.run(sample).values()
            signal, noise = (
                signal + float((want**2).sum()),
                noise + float(((made - want) ** 2).sum()),
            )
    return float(10 * np.log10(signal / noise))


def test_the_figures_are_those_of_the_loadable() -> None:
    plain = found(0.0)
    assert plain.choice.layers == 0
    assert decibels(plain.compiled.loadable) == pytest.approx(plain.choice.decibels, abs=0.1)
    better = found(plain.choice.decibels + 2)
    assert 0 < better.choice.layers < WHOLE
    assert better.choice.decibels >= plain.choice.decibels + 2
    assert decibels(better.compiled.loadable) == pytest.approx(better.choice.decibels, abs=0.1)
    network = Loadable.parse(better.compiled.loadable)
    timed = runs.loadable(network, "", "nv_full", Surroundings())
    assert timed.seconds * 1e3 == pytest.approx(better.choice.milliseconds)
    assert set(better.choice.keep) <= {node.name for node in MODEL.graph.node}
    # the fastest of those that come near enough
    for other in better.tried:
        if other.decibels >= plain.choice.decibels + 2:
            assert other.milliseconds >= better.choice.milliseconds


def test_what_int8_inputs_cannot_reach() -> None:
    assert found(55.0).choice.layers < WHOLE
    whole = found(55.0, whole=True)
    assert whole.choice.layers == WHOLE
    assert whole.compiled.precision == "fp16"
    assert decibels(whole.compiled.loadable) > 55


def test_a_configuration_without_halves() -> None:
    with pytest.raises(CompileError, match="nv_small has no fp16"):
        found(30.0, options=Options(config="nv_small"))
