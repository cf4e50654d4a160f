"""The network behind the diagnostics module, and what its output should be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.memory import AddressSpace
from ..nvdla import layout
from ..nvdla.build import Network
from ..nvdla.loadable import Loadable
from ..nvdla.network import LoadedNetwork

SEED = 1
TOLERANCE_STEPS = 2  # rounding of weights, of each layer's output, and of the comparison


class SelfTest:
    """A seeded int8 network (convolutions, pooling) on memory of its own."""

    def __init__(self, config_name: str) -> None:
        random = np.random.default_rng(SEED)
        net = Network(input=("pattern", (1, 8, 12, 12)), config=config_name)
        net.conv2d(random.normal(size=(16, 8, 3, 3)), random.normal(size=16), padding=1, relu=True)
        net.max_pool(2)
        net.conv2d(random.normal(size=(8, 16, 3, 3)), stride=2)
        pattern = random.uniform(-1, 1, (1, 8, 12, 12))
        image = net.build(calibration=pattern)
        self._expected = net.reference(pattern)[0] / net.output.scale
        self._space = AddressSpace("the diagnostics module's memory")
        loadable = Loadable.parse(image)
        self._network: Any = LoadedNetwork(loadable, self._space, config_name)
        self._input = self._space.allocate(loadable.inputs[0].size, name="test pattern")
        self._output = self._space.allocate(loadable.outputs[0].size, name="test result")
        self._tensor = loadable.outputs[0]
        packed = layout.pack_tensor(loadable.inputs[0], net.quantize_input(pattern))
        self._input.data[: len(packed)] = packed

    def run(self, engine: Any, **options: Any) -> tuple[Any, int, int]:
        """The engine's report, elements compared, elements that are wrong."""
        report = engine.run(self._network, [self._input.base], [self._output.base], **options)
        found = layout.unpack_tensor(self._tensor, self._output.data)[0]
        wrong = np.abs(found - self._expected) > TOLERANCE_STEPS
        return report, wrong.size, int(wrong.sum())

    def close(self) -> None:
        self._network.close()
