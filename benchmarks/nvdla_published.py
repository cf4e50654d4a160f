"""The pipeline model beside published times of NVDLA, for networks whose shapes are known.

Weights are random: only shapes count. The published figures come from ``CUDLA_SIM_FIXTURES``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests.conftest import FIXTURES

from .nvdla_resnet50 import STAGES, weights

RECORDED = FIXTURES / "nvdla" / "timing"


def lenet5(config: str) -> Network:
    """Caffe's LeNet for MNIST: the one that nv_small's demonstrations run."""
    random = np.random.default_rng(0)
    net = Network(("data", (1, 1, 28, 28)), "int8", config)
    net.conv2d(weights(random, 20, 1, 5))
    net.max_pool(2)
    net.conv2d(weights(random, 50, 20, 5))
    net.max_pool(2)
    net.fully_connected(weights(random, 500, 800, 1)[:, :, 0, 0], relu=True)
    net.fully_connected(weights(random, 10, 500, 1)[:, :, 0, 0])
    return net


def resnet18_cifar(config: str) -> Network:
    """ResNet-18 with the 7x7 stem of ImageNet, on 32x32 pictures."""
    random = np.random.default_rng(0)
    net = Network(("data", (1, 3, 32, 32)), "int8", config)
    net.conv2d(weights(random, 64, 3, 7), stride=2, padding=3, relu=True)
    net.max_pool(3, 2, 1)
    channels = 64
    for stage, kernels in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            shortcut = net.output
            net.conv2d(weights(random, kernels, channels, 3), stride=stride, padding=1, relu=True)
            branch = net.conv2d(weights(random, kernels, kernels, 3), padding=1)
            if stride == 2:
                projection = weights(random, kernels, channels, 1)
                shortcut = net.conv2d(projection, stride=2, source=shortcut)
            net.add(branch, shortcut, relu=True)
            channels = kernels
    net.fully_connected(weights(random, 10, 512, 1)[:, :, 0, 0])
    return net


def resnet50(config: str) -> Network:
    """ResNet-50 for 224x224 pictures."""
    random = np.random.default_rng(0)
    net = Network(("data", (1, 3, 224, 224)), "int8", config)
    net.conv2d(weights(random, 64, 3, 7), stride=2, padding=3, relu=True)
    net.max_pool(3, 2, 1)
    channels = 64
    for blocks, middle, first_stride in STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            shortcut = net.output
            net.conv2d(weights(random, middle, channels, 1), relu=True)
            net.conv2d(weights(random, middle, middle, 3), stride=stride, padding=1, relu=True)
            branch = net.conv2d(weights(random, 4 * middle, middle, 1))
            if block == 0:
                projection = weights(random, 4 * middle, channels, 1)
                shortcut = net.conv2d(projection, stride=stride, source=shortcut)
            net.add(branch, shortcut, relu=True)
            channels = 4 * middle
    net.avg_pool(7)
    net.fully_connected(weights(random, 1000, 2048, 1)[:, :, 0, 0])
    return net


def alexnet(config: str) -> Network:
    """AlexNet without its groups of channels, as the spreadsheet has it."""
    random = np.random.default_rng(0)
    net = Network(("data", (1, 3, 227, 227)), "int8", config)
    net.conv2d(weights(random, 96, 3, 11), stride=4, relu=True)
    net.max_pool(3, 2)
    net.conv2d(weights(random, 256, 96, 5), padding=2, relu=True)
    net.max_pool(3, 2)
    for kernels, channels in ((384, 256), (384, 384), (256, 384)):
        net.conv2d(weights(random, kernels, channels, 3), padding=1, relu=True)
    net.max_pool(3, 2)
    for outputs, inputs in ((4096, 9216), (4096, 4096), (1000, 4096)):
        net.fully_connected(weights(random, outputs, inputs, 1)[:, :, 0, 0], relu=True)
    return net


class Case(NamedTuple):
    """Published times, by their names in the fixtures, and the shapes that they are for. ``clock``
    in MHz."""

    names: tuple[str, ...]
    build: Callable[[str], Network]
    shape: tuple[int, ...]
    config: str
    clock: float


CASES = (
    Case(("bm_lenet5", "zynq_lenet_log"), lenet5, (1, 1, 28, 28), "nv_small", 100),
    Case(("zynq_rn18c10",), resnet18_cifar, (1, 3, 32, 32), "nv_small", 100),
    Case(("bm_resnet50",), resnet50, (1, 3, 224, 224), "nv_small", 100),
    Case(("hw202_alexnet",), alexnet, (1, 3, 227, 227), "nv_full", 1000),
)
GOOD, POOR = {"latency": 32, "bytes_per_cycle": 0.0}, {"latency": 100, "bytes_per_cycle": 4.0}


class Row(NamedTuple):
    """Milliseconds: as published, with an ideal memory, and with a poor one (small ports only)."""

    what: str
    published: float
    ideal: float
    poor: float | None


def rows() -> Iterator[Row]:
    """All published times for which the shapes are known."""
    entries = json.loads(Path(RECORDED / "published.json").read_text())["entries"]
    published = {e["id"]: e for e in entries}
    for case in CASES:
        picture = np.random.default_rng(0).normal(size=case.shape).astype(np.float32)
        loadable = Loadable.parse(case.build(case.config).build(calibration=picture, checked=False))

        def ms(memory: dict[str, float], case: Case = case, loadable: Loadable = loadable) -> float:
            around = Surroundings(clock_mhz=case.clock, **memory)  # type: ignore[arg-type]
            return runs.loadable(loadable, "", case.config, around).seconds * 1e3

        for name in case.names:
            entry = published[name]
            value = float(np.median(entry["value"]))
            yield Row(
                f"{entry['what'].split(',')[0]}, {case.config}, {case.clock:g} MHz",
                value / case.clock / 1e3 if entry["unit"] == "cycles" else value,
                ms(GOOD),
                ms(POOR) if case.config == "nv_small" else None,
            )


def table() -> str:
    """As in docs/timing.md."""
    lines = [
        "| network | published | model, ideal memory | latency 100, 4 bytes a cycle |",
        "|---|---|---|---|",
    ]
    for r in rows():
        poor = "" if r.poor is None else f"{r.poor:.4g} ms ({_off(r.poor, r.published)})"
        lines.append(
            f"| {r.what} | {r.published:.4g} ms | {r.ideal:.4g} ms ({_off(r.ideal, r.published)}) "
            f"| {poor} |"
        )
    return "\n".join(lines)


def _off(found: float, published: float) -> str:
    return f"{100 * (found / published - 1):+.0f} %"
