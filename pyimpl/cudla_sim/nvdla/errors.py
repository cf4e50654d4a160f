"""What can go wrong in the NVDLA part, with the numbers of the vendor's error lists.

Every exception carries the status the driver stack would give and one sentence that says which
function or table is concerned, what was found there and what would be right.
Source: nvdla/sw ``dlaerror.h`` (user mode) and ``dla_err.h`` (firmware).
"""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """NvDlaError values of the user-mode driver."""

    SUCCESS = 0
    NOT_IMPLEMENTED = 1
    NOT_SUPPORTED = 2
    NOT_INITIALIZED = 3
    BAD_PARAMETER = 4
    TIMEOUT = 5
    INSUFFICIENT_MEMORY = 6
    READ_ONLY_ATTRIBUTE = 7
    INVALID_STATE = 8
    INVALID_ADDRESS = 9
    INVALID_SIZE = 0xA
    BAD_VALUE = 0xB
    ALREADY_ALLOCATED = 0xD
    BUSY = 0xE
    RESOURCE_ERROR = 0xF
    COUNT_MISMATCH = 0x10
    OVERFLOW = 0x11
    DISCONNECTED = 0x12
    FILE_NOT_FOUND = 0x13
    TEST_APPLICATION_FAILED = 0x14
    DEVICE_NOT_FOUND = 0x15
    SURFACE_NOT_SUPPORTED = 0x10003
    FILE_WRITE_FAILED = 0x30000
    FILE_READ_FAILED = 0x30001
    END_OF_FILE = 0x30002
    FILE_OPERATION_FAILED = 0x30003
    DIR_OPERATION_FAILED = 0x30004
    END_OF_DIR_LIST = 0x30005
    IOCTL_FAILED = 0x3000F
    PATH_ALREADY_EXISTS = 0x30014
    MODULE_NOT_PRESENT = 0xA000E


class Firmware(IntEnum):
    """Error numbers of the kernel-mode firmware; functions return them negated."""

    NONE = 0
    INVALID_METHOD = 1
    INVALID_TASK = 2
    INVALID_INPUT = 3
    INVALID_FALC_DMA = 4
    INVALID_QUEUE = 5
    INVALID_PREACTION = 6
    INVALID_POSTACTION = 7
    NO_MEM = 8
    INVALID_DESC_VER = 9
    INVALID_ENGINE_ID = 10
    INVALID_REGION = 11
    PROCESSOR_BUSY = 12
    RETRY = 13
    TASK_STATUS_MISMATCH = 14


class NvdlaError(Exception):
    """A failure of the NVDLA model: ``code`` is the NvDlaError value, ``str()`` the explanation."""

    def __init__(self, message: str, code: Status = Status.BAD_PARAMETER) -> None:
        super().__init__(message)
        self.code = code


class BadLoadable(NvdlaError):
    """The bytes are not a loadable, or its tables contradict each other."""

    def __init__(self, message: str, code: Status = Status.BAD_VALUE) -> None:
        super().__init__(message, code)


class WrongConfiguration(NvdlaError):
    """The loadable was compiled for another hardware configuration."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Status.NOT_SUPPORTED)


class UnsupportedOperation(NvdlaError):
    """The hardware has this mode, the simulator does not have it yet."""

    def __init__(self, unit: str, mode: str) -> None:
        super().__init__(f"{unit}: {mode} is not simulated yet", Status.NOT_SUPPORTED)
        self.unit = unit
        self.mode = mode


class HardwareFault(NvdlaError):
    """Register settings that real hardware does not define or that would hang it."""

    def __init__(self, unit: str, message: str) -> None:
        super().__init__(f"{unit}: {message}", Status.INVALID_STATE)
        self.unit = unit


class MemoryAccessError(NvdlaError):
    """A DMA access outside the memory that belongs to the task."""

    def __init__(self, message: str, address: int, size: int, write: bool) -> None:
        super().__init__(message, Status.INVALID_ADDRESS)
        self.address = address
        self.size = size
        self.write = write


class EngineTimeout(NvdlaError):
    """The deadline of a task passed before its last layer was done."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Status.TIMEOUT)


class KmdError(NvdlaError):
    """The kernel-mode firmware refused a task; ``firmware`` is its (negative) return value."""

    def __init__(self, error: Firmware, message: str) -> None:
        super().__init__(f"{message} (firmware error {-int(error)})", Status.IOCTL_FAILED)
        self.firmware = -int(error)
        self.reason = message
