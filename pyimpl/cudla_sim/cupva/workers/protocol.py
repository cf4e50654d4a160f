"""What the host asks of a worker, and its answer; ``constants.pva_protocol`` has the layout."""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...constants import confine
from ...constants.pva_protocol import Cause as Cause
from ...constants.pva_protocol import Delivery, cupvaFlowInfo, pva_reply
from ...constants.pva_protocol import Status as Status
from ...workers.structures import filled
from .checks import Checks

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..dma import Descriptors

DELIVERY = tuple(each.name.lower() for each in Delivery)
"""When the data of a trigger moves."""
ALLOWED = {
    "files": confine.ALLOW_FILES,
    "network": confine.ALLOW_NETWORK,
    "all": confine.ALLOW_ALL,
}
"""What a kernel may do to this machine."""

_INFO = {
    re.sub("[A-Z]+", lambda part: f"_{part[0].lower()}", name): name
    for name, *_ in cupvaFlowInfo._fields_
    if name != "flow"
}
"""Our names of what is told of a dataflow -> those of C."""


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

    def described(self) -> cupvaFlowInfo:
        """``info`` as the worker reads it."""
        info = dict(self.info)
        unknown = set(info) - set(_INFO)
        if unknown:
            raise ValueError(f"unknown device information: {', '.join(sorted(unknown))}")
        info["bpp"] = info.get("bpp") or 1 << info.get("bpp_log2", 0)
        if "reads" not in info and len(self.descriptors):
            info["reads"] = int(self.descriptors["dst"]["space"][0] == 1)
        return filled(cupvaFlowInfo, **{_INFO[name]: int(value) for name, value in info.items()})


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
    def read(cls, control: bytes | mmap.mmap, flows: int) -> Self:
        """From the beginning of the control file."""
        found = pva_reply.from_buffer_copy(control)
        known = found.cause in Cause.__members__.values()
        states = found.flows[:flows]
        return cls(
            version=found.version,
            status=found.status,
            cause=Cause(found.cause) if known else Cause.NONE,
            value=found.value,
            address=found.address,
            pc=found.pc,
            flow=found.flow,
            chain=tuple(found.chain[: min(found.chain_length, len(found.chain))]),
            text=found.text.decode(errors="replace"),
            triggers=tuple(state.triggers for state in states),
            syncs=tuple(state.syncs for state in states),
            unsynced=tuple(state.unsynced for state in states),
            written=(found.written_at, found.written_pc, found.written_flow),
        )
