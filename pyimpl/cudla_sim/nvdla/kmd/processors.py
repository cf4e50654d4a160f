"""The six processors as the firmware sees them, and how each is enabled.

Source: nvdla/sw firmware, engine data and the ``*_enable``, ``*_set_producer`` functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..descriptors import Operation, OpType, Surface
from ..hw.glb import Interrupt
from . import program_conv, program_misc, program_pdp, program_sdp
from .context import Program
from .graph import Node


@dataclass(slots=True)
class Group:
    """A register group of a processor and the operation in it."""

    id: int
    rdma_id: int = 0
    active: bool = False
    pending: bool = False
    programming: bool = False
    rdma_needed: bool = False
    lut_index: int = -1
    events: int = 0
    roi: int = 0
    start_us: int = 0
    node: Node | None = None
    operation: Operation | None = None
    surface: Surface | None = None
    consumers: list[Node | None] = field(default_factory=lambda: [None] * 6)
    fused_parent: Node | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """Register blocks of a processor: pointers in write order, enables in write order."""

    name: str
    program: Callable[[Any, Any, Any], Program]
    main: str
    rdma: str | None
    pointers: tuple[str, ...]
    enables: tuple[str, ...]
    interrupts: Interrupt | None
    idle: tuple[str, ...] = ()


UNITS: dict[OpType, Unit] = {
    OpType.BDMA: Unit("BDMA", program_misc.bdma, "BDMA", None, (), (), Interrupt.BDMA),
    OpType.CONV: Unit(
        "CONV",
        program_conv.program,
        "CACC",
        None,
        ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"),
        ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"),
        None,
        ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"),
    ),
    OpType.SDP: Unit(
        "SDP",
        program_sdp.program,
        "SDP",
        "SDP_RDMA",
        ("SDP", "SDP_RDMA"),
        ("SDP_RDMA", "SDP"),
        Interrupt.SDP,
    ),
    OpType.PDP: Unit(
        "PDP",
        program_pdp.program,
        "PDP",
        "PDP_RDMA",
        ("PDP", "PDP_RDMA"),
        ("PDP_RDMA", "PDP"),
        Interrupt.PDP,
    ),
    OpType.CDP: Unit(
        "CDP",
        program_misc.cdp,
        "CDP",
        "CDP_RDMA",
        ("CDP", "CDP_RDMA"),
        ("CDP_RDMA", "CDP"),
        Interrupt.CDP,
    ),
    OpType.RUBIK: Unit(
        "RUBIK", program_misc.rubik, "RBK", None, ("RBK",), ("RBK",), Interrupt.RUBIK
    ),
}


@dataclass(slots=True)
class Processor:
    """State of one processor. ``group_status`` and ``rdma_status`` are bit masks of busy ones."""

    op_type: OpType
    unit: Unit
    groups: tuple[Group, Group] = field(default_factory=lambda: (Group(0), Group(1)))
    group_status: int = 0
    rdma_status: int = 0
    last_group: int = 1
    roi: int = 0
    tail: Node | None = None
    seen: set[tuple[int, int]] = field(default_factory=set)


def processors() -> dict[OpType, Processor]:
    """Return fresh processor states."""
    return {op_type: Processor(op_type, unit) for op_type, unit in UNITS.items()}
