"""What goes wrong with hardware that is not ours."""

from __future__ import annotations

from ..errors import EngineTimeout, NvdlaError, Status


class CosimError(NvdlaError):
    """The library behind ``nvdla/cosim.h`` cannot be used, or one of its functions failed."""

    def __init__(self, message: str, code: Status = Status.IOCTL_FAILED) -> None:
        super().__init__(message, code)


class CosimDifference(NvdlaError):
    """Memory of the hardware is not what our model computes.

    ``task`` and ``operation`` name the operation after which it was found (-1: not during one),
    ``address`` the first byte that differs, ``count`` how many do.
    """

    def __init__(self, message: str, task: int, operation: int, address: int, count: int) -> None:
        super().__init__(message, Status.INVALID_STATE)
        self.task = task
        self.operation = operation
        self.address = address
        self.count = count


class CosimHang(EngineTimeout):
    """No interrupt came for as many cycles as were allowed."""
