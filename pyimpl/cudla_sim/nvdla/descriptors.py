"""The structures through which the driver tells the firmware what to run (dla_interface).

Two generations exist: ``new=False`` has data cubes of 28 bytes, ``new=True`` (interface version
0.12) of 32 bytes with an ``offset``. Lists of them are arrays of fixed-size containers.
``dla_interface`` declares them as our header does, which follows nvdla/sw and its history.
"""

from __future__ import annotations

from functools import lru_cache

from .dla_interface import (
    DEPENDENCY_SIZE,
    LUT_SIZE,
    NETWORK_SIZE,
    OPERATION_SIZE,
    STAT_SIZE,
    STATISTICS,
    SURFACE_SIZE,
    Activation,
    BdmaOp,
    BdmaSurface,
    BdmaTransfer,
    CdpOp,
    CdpSurface,
    CommonOpDesc,
    Consumer,
    ConvOp,
    ConvSurface,
    CvtParam,
    DataCube,
    Event,
    LutParam,
    MemoryType,
    NetworkDesc,
    OpType,
    PdpOp,
    PdpSurface,
    Precision,
    Roi,
    RoiArray,
    RubikOp,
    RubikSurface,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
    Slope,
)

__all__ = [
    "DEPENDENCY_SIZE",
    "LUT_SIZE",
    "NETWORK_SIZE",
    "OPERATION_SIZE",
    "STATISTICS",
    "STAT_SIZE",
    "SURFACE_SIZE",
    "Activation",
    "BdmaOp",
    "BdmaSurface",
    "BdmaTransfer",
    "CdpOp",
    "CdpSurface",
    "CommonOpDesc",
    "Consumer",
    "ConvOp",
    "ConvSurface",
    "CvtParam",
    "DataCube",
    "Event",
    "LutParam",
    "MemoryType",
    "NetworkDesc",
    "OpType",
    "Operation",
    "PdpOp",
    "PdpSurface",
    "Precision",
    "Roi",
    "RoiArray",
    "RubikOp",
    "RubikSurface",
    "SdpMode",
    "SdpOp",
    "SdpOpType",
    "SdpStage",
    "SdpSurface",
    "Slope",
    "Surface",
    "lut",
    "operation",
    "surface",
]

Operation = BdmaOp | ConvOp | SdpOp | PdpOp | CdpOp | RubikOp
Surface = BdmaSurface | ConvSurface | SdpSurface | PdpSurface | CdpSurface | RubikSurface

_OPERATIONS: dict[int, type[Operation]] = {
    OpType.BDMA: BdmaOp,
    OpType.CONV: ConvOp,
    OpType.SDP: SdpOp,
    OpType.PDP: PdpOp,
    OpType.CDP: CdpOp,
    OpType.RUBIK: RubikOp,
}
_SURFACES: dict[int, type[Surface]] = {
    OpType.BDMA: BdmaSurface,
    OpType.CONV: ConvSurface,
    OpType.SDP: SdpSurface,
    OpType.PDP: PdpSurface,
    OpType.CDP: CdpSurface,
    OpType.RUBIK: RubikSurface,
}


@lru_cache(maxsize=2048)
def operation(op_type: int, data: bytes) -> Operation:
    """Decode an operation container (116 bytes). The result is shared: do not change it."""
    return _OPERATIONS[op_type].decode(data)


@lru_cache(maxsize=2048)
def surface(op_type: int, data: bytes, new: bool) -> Surface:
    """Decode a surface container (644 bytes). The result is shared: do not change it."""
    return _SURFACES[op_type].decode(data, new)


@lru_cache(maxsize=64)
def lut(data: bytes) -> LutParam:
    """Decode a LUT entry (700 bytes). The result is shared: do not change it."""
    return LutParam.decode(data)
