"""The example of the manual as a library, and networks to run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim import paths
from cudla_sim.core.memory import AddressSpace, Bytes
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from tests.conftest import ROOT
from tests.docs.blocks import blocks

PAGE = ROOT / "docs" / "nvdla" / "cosim.md"


def compiled(folder: Path, source: str, name: str = "chip", *flags: str) -> Path:
    """A shared library made of C."""
    file = folder / f"{name}.c"
    file.write_text(source)
    library = folder / f"lib{name}.so"
    command = ["gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", *flags]
    include = f"-I{paths.include_dir()}"
    subprocess.run([*command, include, str(file), "-o", str(library), "-lm"], check=True)
    return library


@pytest.fixture(scope="session")
def small_chip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small chip of the manual's page."""
    source = next(b.text for b in blocks(PAGE) if b.title == "small_chip.c")
    return compiled(tmp_path_factory.mktemp("chip"), source, "small_chip")


def relu(config: str = "nv_small") -> bytes:
    """A network that is one SDP operation."""
    net = Network(input=("x", (1, 12, 5, 6)), precision="int8", config=config)
    net.relu()
    return net.build(calibration=np.linspace(-1, 1, 360).reshape(1, 12, 5, 6))


def several(config: str = "nv_small", precision: str = "int8", softmax: bool = True) -> bytes:
    """Convolution with ReLU, pooling, fully connected, and a software task."""
    rng = np.random.default_rng(3)
    net = Network(input=("x", (1, 8, 8, 8)), precision=precision, config=config)
    net.conv2d(rng.normal(size=(12, 8, 3, 3)), padding=1, relu=True)
    net.max_pool(2)
    net.fully_connected(rng.normal(size=(10, 12 * 16)))
    if softmax:
        net.softmax()
    return net.build(calibration=rng.normal(size=(4, 8, 8, 8)))


def run(core: Core, data: bytes, seed: int = 1) -> list[Bytes]:
    """Run a loadable on random inputs; the outputs' buffers."""
    loadable, space = Loadable.parse(data), AddressSpace()
    network = LoadedNetwork(loadable, space, core.config)
    inputs = [space.allocate(t.size, name=t.name) for t in loadable.inputs]
    outputs = [space.allocate(t.size, name=t.name) for t in loadable.outputs]
    for region in inputs:
        region.data[:] = np.random.default_rng(seed).integers(0, 256, region.size, np.uint8)
    core.run(network, [r.base for r in inputs], [r.base for r in outputs])
    return [r.data.copy() for r in outputs]
