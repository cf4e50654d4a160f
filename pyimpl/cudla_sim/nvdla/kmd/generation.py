"""Which of the two surface layouts a task was written with.

Descriptors do not say it: the loadable does, and the firmware never sees that. But in the wrong
layout every cube after the first is read four bytes off, so that sizes and strides appear as
memory types and addresses. Source: nvdla/sw ``dla_interface.h`` before and after firmware 0.12.
"""

from __future__ import annotations

import struct

from .. import descriptors
from ..descriptors import BdmaSurface, DataCube, MemoryType, OpType


def _cubes(op_type: OpType, raw: bytes, new: bool) -> list[DataCube]:
    surface = descriptors.surface(op_type, raw, new)
    if isinstance(surface, BdmaSurface):
        return []
    fields = (getattr(surface, name) for name in surface.__slots__)
    return [item for item in fields if isinstance(item, DataCube)]


def _contradictions(op_type: OpType, raw: bytes, addresses: int, new: bool) -> int:
    try:
        cubes = _cubes(op_type, raw, new)
    except (struct.error, ValueError):
        return 100
    wrong = 0
    for cube in cubes:
        if cube.type not in tuple(MemoryType) or not -1 <= cube.address < addresses:
            wrong += 2
        elif cube.type != MemoryType.HW and cube.address > 0 and not cube.size:
            wrong += 1
        elif cube.address == 0:  # the network descriptor is never a tensor
            wrong += int(cube.size != 0)
    return wrong


def guess(op_type: OpType, raw: bytes, addresses: int) -> bool | None:
    """True for the new layout, False for the old one, None when both make as much sense."""
    new = _contradictions(op_type, raw, addresses, True)
    old = _contradictions(op_type, raw, addresses, False)
    return None if new == old else new < old
