"""The built-in module that CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS loads: a self test of the core.

The real test vectors are private to the firmware. Ours runs a small int8 network, built on the spot
with seeded weights, and compares every output element with the floating-point result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constants import cudla as c
from ..constants.cudla import cudlaStatus as Status
from ..core.memory import AddressSpace
from ..nvdla.timing.parameters import Surroundings
from ..nvdla.timing.runs import TimedRun
from .errors import CudlaError
from .memory import DeviceMemory
from .module import TensorDescriptor
from .selftest import SelfTest

RESULT_BYTES = 64


class DiagnosticsModule:
    """No inputs, one output of 64 bytes: uint32 tests run, uint32 tests failed, zeros."""

    diagnostics = True

    def __init__(self, memory: DeviceMemory, config_name: str) -> None:
        self.owner: Any = None
        """The device handle that it was loaded on."""
        self.uses = 0
        self.unloaded = False
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

    def run(
        self, engine: Any, inputs: Sequence[int], outputs: Sequence[int], **options: Any
    ) -> Any:
        """Raises CudlaError (DlaErrDataMismatch) when the core computes a wrong value."""
        report, tests, wrong = self._test.run(engine, **options)
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
        self.unloaded = True
        self._test.close()
