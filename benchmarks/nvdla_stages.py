"""SDP, its look-up tables, CDP, PDP and RUBIK on cubes in memory: time an element of the output,
and against their numpy twins and a memcpy of the bytes read and written, in one run.

Times are CPU time of the layer alone, as the engine runs it; the least of many.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.hw import launch

from .report import Figure

SHAPE = (1, 64, 28, 112)
RUNS = 9


def _relu(net: Network) -> None:
    net.relu()


def _scale(net: Network) -> None:
    net.scale(np.linspace(-1.0, 1.0, SHAPE[1]))


def _add(net: Network) -> None:
    net.add(net.relu(), net.output)


def _sigmoid(net: Network) -> None:
    net.sigmoid()


def _lrn(net: Network) -> None:
    net.lrn()


def _max_pool(net: Network) -> None:
    net.max_pool(3, 2)


def _avg_pool(net: Network) -> None:
    net.avg_pool(3, 2)


def _deconv(net: Network) -> None:
    net.deconv2d(np.ones((SHAPE[1], 16, 2, 2)), stride=2)


STAGES: tuple[tuple[str, str, Callable[[Network], None], tuple[str, ...]], ...] = (
    ("ReLU", "SDP", _relu, ("int8", "int16", "fp16")),
    ("factor a channel", "SDP", _scale, ("int8", "int16", "fp16")),
    ("look-up table", "SDP", _sigmoid, ("int8", "int16", "fp16")),
    ("normalisation", "CDP", _lrn, ("int8", "int16", "fp16")),
    ("maximum 3x3", "PDP", _max_pool, ("int8", "int16", "fp16")),
    ("average 3x3", "PDP", _avg_pool, ("int8", "int16", "fp16")),
    ("contract", "RUBIK", _deconv, ("int8", "int16")),
)


GOALS = {
    "look-up table": (3.0, 3.0, 3.0), "normalisation": (4.0, 4.0, 4.0),
    "maximum 3x3": (None, None, 3.0), "average 3x3": (1.0, 1.0, 3.0),
}  # fmt: skip
"""Nanoseconds with AVX2 only, for int8, int16, fp16."""


def layer(
    add: Callable[[Network], None], unit: str, precision: str, arithmetic: str, runs: int
) -> tuple[float, int, int]:
    """Nanoseconds of the last layer of that unit, its input's elements, its output's."""
    random = np.random.default_rng(1)
    net = Network(("data", SHAPE), precision, "nv_full")
    add(net)
    floating = precision == "fp16"
    image = net.build(calibration=None if floating else random.normal(size=SHAPE))
    loadable, space = Loadable.parse(image), AddressSpace()
    network = LoadedNetwork(loadable, space, net.config)
    engine = Engine(net.config, arithmetic=arithmetic)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    if floating:
        source.data.view(np.float16)[:] = random.normal(size=source.size // 2)
    else:
        source.data[:] = random.integers(0, 256, source.size, np.uint8)
    best, shapes = float("inf"), (0, 0)
    for _ in range(runs):
        for item in engine.run(network, [source.base], [target.base]).layers:
            if item.unit == unit:
                best = min(best, item.end_ns - item.start_ns)
                shapes = (int(np.prod(item.input_shape)), int(np.prod(item.output_shape)))
    return best, *shapes


def copy_ns(size: int) -> float:
    """CPU nanoseconds of a memcpy, the least of many."""
    source, target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    best = float("inf")
    for _ in range(20):
        begin = time.process_time_ns()
        np.copyto(target, source)
        best = min(best, time.process_time_ns() - begin)
    return best


def figures() -> list[Figure]:
    launch.perf_counter_ns = time.process_time_ns  # what layers are timed by
    found = []
    for name, unit, add, precisions in STAGES:
        for precision in precisions:
            best, inputs, outputs = layer(add, unit, precision, "native", RUNS)
            twin, _, _ = layer(add, unit, precision, "numpy", 2)
            item = 1 if precision == "int8" else 2
            copy = copy_ns((inputs + outputs) * item // 2)
            title = f"{unit} {name}, {precision}"
            remark = f"{twin / best:.1f} times numpy's rate, {best / copy:.1f} x memcpy"
            goal = dict(zip(precisions, GOALS.get(name, ()), strict=False)).get(precision)
            found.append(Figure(title, best / outputs, "ns/element", goal, remark=remark))
    return found
