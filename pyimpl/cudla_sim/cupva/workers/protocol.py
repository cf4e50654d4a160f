"""What host and workers share: the mirror of shim/vpu_run/protocol.h."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Self

from ..executable import PROTOCOL_VERSION as PROTOCOL_VERSION
from .checks import Checks

if TYPE_CHECKING:
    from ..dma import Descriptors

GATE_AT = 0xF80
REQUEST_AT = 0x1000
LISTS_AT = 0x10000
CONTROL_SIZE = 0x2000_0000
VMEM_WINDOW = 0x1000_0000
BANK_STRIDE = 0x40000
VMEM_SIZE = 3 * BANK_STRIDE
MAX_FLOWS = 64

REQUEST = struct.Struct("<5I2H2I")
PARAMETER = struct.Struct("<IIQ")
FLOW = struct.Struct("<iiQQ")
INFO = struct.Struct("<I15i")
REPLY_HEAD = struct.Struct("<IIIi")
"""Version, status, cause, value: all that matters of a launch that ended well."""
_REPLY = struct.Struct("<IIIiQQII8Q256s")
_FLOW_STATE = struct.Struct("<4I")
_WRITTEN = struct.Struct("<QQII")
FLOWS_AT = _REPLY.size
_WRITTEN_AT = FLOWS_AT + MAX_FLOWS * _FLOW_STATE.size
REPLY_SIZE = _WRITTEN_AT + _WRITTEN.size

DELIVERY = ("trigger", "sync", "random")
"""``enum pva_delivery``: when the data of a trigger moves."""
ALLOWED = {"files": 1, "network": 2, "all": 7}
"""``PVA_ALLOW_...``: what a kernel may do to this machine."""

INFO_FIELDS = (
    *("layout", "reads", "line_pitch", "bpp_log2", "buffer", "tiles", "half", "advance", "ring"),
    *("planes", "niter_hw", "niter_c", "plane_size", "remainder", "bpp"),
)


class Status(IntEnum):
    """``enum pva_status``."""

    RUNNING = 0
    DONE = 1
    FAULT = 2
    DMA_TIMEOUT = 3
    UNFINISHED = 4
    INTERRUPTED = 5


class Cause(IntEnum):
    """``enum pva_cause``: why a launch did not end well."""

    NONE = 0
    MEMORY = 1
    DIVISION = 2
    INSTRUCTION = 3
    ABORT = 4
    OVERRUN = 5
    SYNC = 6
    TRIGGER = 7
    HANDLER = 8
    RANGE = 9
    ORDER = 10
    STACK = 11
    UNFINISHED = 12
    NAN = 13
    PENDING = 14
    REMARKS = 15


@dataclass(eq=False)
class FlowRequest:
    """A dataflow of a launch.

    ``kind``: executable.Kind of the handler variable. ``handler_offset``: its place in VMEM, bytes;
    -1 for a dataflow without handler, which runs to its end before the kernel starts.
    ``descriptors``: as dma.pack gives them; not changed afterwards by whoever gives them. A launch
    with the same objects as the one before has nothing to write for them.

    ``info`` (all optional, default 0): ``layout`` 1 single, 2 double, 3 circular; ``line_pitch``
    pixels; ``bpp_log2``; ``bpp`` bytes of a pixel (default 1 << bpp_log2); ``buffer`` VMEM
    offset of the tile buffer; ``tiles`` in all; ``half`` bytes from the first half of a double
    buffer to the second; ``advance`` and ``ring`` of a circular one, pixels; for tensors
    ``planes`` of a full tile, ``niter_hw``, ``niter_c``, ``plane_size`` pixels, ``remainder``
    planes of the last tile. For gather and scatter ``planes`` is the tiles of one trigger, and
    ``advance`` and ``ring`` are width and height of the memory outside VMEM (0: no limit),
    ``layout`` is the mode of padding (1 constant, 2 nearest pixel).
    ``reads`` (1: into VMEM) is taken from the descriptors when it is missing.
    """

    kind: int
    handler_offset: int
    descriptors: Descriptors
    info: Mapping[str, int] = field(default_factory=dict)

    def pack_info(self) -> bytes:
        info = self.info
        unknown = set(info) - set(INFO_FIELDS)
        if unknown:
            raise ValueError(f"unknown device information: {', '.join(sorted(unknown))}")
        values = {name: int(info.get(name, 0)) for name in INFO_FIELDS}
        values["bpp"] = values["bpp"] or 1 << values["bpp_log2"]
        if "reads" not in info and len(self.descriptors):
            values["reads"] = int(self.descriptors["dst"]["space"][0] == 1)
        return INFO.pack(0, *values.values())


@dataclass
class LaunchRequest:
    """``parameters``: (VMEM offset, bytes). ``vpu``: 0 or 1. ``dma_timeout_s`` is what a message
    says a channel would have waited (CUPVA_DMATIMEOUT); 0: for ever. ``delivery``: when data moves,
    one of DELIVERY, with the ``seed`` of "random". ``checks``: what is looked for besides.
    ``allowed``: a sum of ALLOWED."""

    parameters: list[tuple[int, bytes]] = field(default_factory=list)
    flows: list[FlowRequest] = field(default_factory=list)
    vpu: int = 0
    dma_timeout_s: float = 60.0
    delivery: str = "trigger"
    seed: int = 0
    checks: Checks = field(default_factory=Checks)
    allowed: int = 0


@dataclass
class LaunchResult:
    """How a launch ended.

    ``status``: done, fault, timeout (the deadline), dma_timeout (a sync that nothing can ever end),
    unfinished (the kernel ended before a dataflow), died (the process was killed or left).
    ``value``: what the kernel returned. ``cause`` tells faults apart. ``text``: one line for a
    person, empty when all is well. ``flow``: number of the dataflow that the text is about, from 0,
    -1 for none. ``triggers``: of each dataflow. ``warnings``: what hardware may do otherwise, one
    line each.
    """

    status: str = "done"
    value: int = 0
    text: str = ""
    cause: Cause = Cause.NONE
    flow: int = -1
    triggers: tuple[int, ...] = ()
    vmem: bytes | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """``struct pva_reply``; addresses are link addresses, ``chain``: callers, innermost first."""

    version: int
    status: int
    cause: Cause
    value: int
    address: int
    pc: int
    flow: int
    chain: tuple[int, ...]
    text: str
    triggers: tuple[int, ...]
    syncs: tuple[int, ...]
    unsynced: tuple[int, ...] = ()
    """Triggers that the kernel has not waited for; 1 for any number of a gather's."""
    written: tuple[int, int, int] = (0, 0, 0)
    """VMEM that changed before its sync: address, where that was seen, dataflow from 1."""

    @classmethod
    def unpack(cls, data: bytes, flows: int) -> Self:
        version, status, cause, value, address, pc, flow, length, *rest = _REPLY.unpack_from(data)
        known = Cause(cause) if cause in Cause.__members__.values() else Cause.NONE
        text = rest[8].split(b"\0", 1)[0].decode(errors="replace")
        states = [
            _FLOW_STATE.unpack_from(data, FLOWS_AT + i * _FLOW_STATE.size) for i in range(flows)
        ]
        return cls(
            version, status, known, value, address, pc, flow, tuple(rest[: min(length, 8)]), text,
            tuple(s[0] for s in states), tuple(s[1] for s in states),
            tuple(s[3] for s in states), _WRITTEN.unpack_from(data, _WRITTEN_AT)[:3],
        )  # fmt: skip
