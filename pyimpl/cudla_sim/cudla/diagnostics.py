"""The built-in module that CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS loads: a self test of the core.

The real test vectors are private to the firmware. Ours runs a small int8 network, built on the spot
with seeded weights, and compares every output element with the floating-point result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..constants import cudla as c
from ..constants.cudla import cudlaStatus as Status
from ..core.memory import AddressSpace
from ..nvdla import layout
from ..nvdla.build import Network
from ..nvdla.loadable import Loadable
from ..nvdla.network import LoadedNetwork
from ..nvdla.timing.parameters import Surroundings
from ..nvdla.timing.runs import TimedRun
from .errors import CudlaError
from .memory import DeviceMemory
from .module import TensorDescriptor

if TYPE_CHECKING:
    from ..nvdla.dla_core import Core
    from ..nvdla.task_report import TaskReport

RESULT_BYTES = 64
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
        self._network = LoadedNetwork(loadable, self._space, config_name)
        self._input = self._space.allocate(loadable.inputs[0].size, name="test pattern")
        self._output = self._space.allocate(loadable.outputs[0].size, name="test result")
        self._tensor = loadable.outputs[0]
        packed = layout.pack_tensor(loadable.inputs[0], net.quantize_input(pattern))
        self._input.data[: len(packed)] = packed

    def run(self, core: Core, deadline: float) -> tuple[TaskReport, int, int]:
        """The core's report, elements compared, elements that are wrong."""
        report = core.run(self._network, [self._input.base], [self._output.base], deadline)
        found = layout.unpack_tensor(self._tensor, self._output.data)[0]
        wrong = np.abs(found - self._expected) > TOLERANCE_STEPS
        return report, wrong.size, int(wrong.sum())

    def close(self) -> None:
        self._network.close()


class DiagnosticsModule:
    """No inputs, one output of 64 bytes: uint32 tests run, uint32 tests failed, zeros."""

    diagnostics: Literal[True] = True

    def __init__(self, memory: DeviceMemory, config_name: str) -> None:
        self.owner: Any = None
        """The device handle that it was loaded on."""
        self.uses = 0
        self.inputs: list[TensorDescriptor] = []
        self.outputs = [
            TensorDescriptor(
                "diagnostics_result",
                RESULT_BYTES,
                1,
                1,
                1,
                RESULT_BYTES,
                c.CUDLA_DATA_FORMAT_UNKNOWN,
                c.CUDLA_DATA_TYPE_UINT8,
                c.CUDLA_DATA_CATEGORY_PLANAR,
                c.CUDLA_PIXEL_FORMAT_UNKNOWN,
                c.CUDLA_PIXEL_MAPPING_PITCH_LINEAR,
                (1, RESULT_BYTES, RESULT_BYTES, 0, 0, 0, 0, 0),
            )
        ]
        self.statistics: list[TensorDescriptor] = []
        self._space: AddressSpace = memory.space
        self._test = SelfTest(config_name)

    def run(self, core: Core, outputs: Sequence[int], deadline: float) -> TaskReport:
        """Raises CudlaError (DlaErrDataMismatch) when the core computes a wrong value."""
        report, tests, wrong = self._test.run(core, deadline)
        result = self._space.view(outputs[0], RESULT_BYTES, write=True)
        result[:] = 0
        result[:8] = np.array([tests, wrong], np.uint32).view(np.uint8)
        if wrong:
            raise CudlaError(
                Status.cudlaErrorDlaErrDataMismatch,
                f"diagnostics: {wrong} of {tests} output elements are wrong",
            )
        return report

    def timed(self, around: Surroundings) -> TimedRun:
        """A self test has no statistics."""
        raise AssertionError("the diagnostics module offers no statistics buffer")

    def unload(self) -> None:
        self._test.close()
