"""The chains of units that work together: declared once, for the chip that computes and for the one
that only tells times.

A chain can start when its rule finds all of its blocks ready. When it is done its blocks leave
their register groups part by part, each part announced by an interrupt or by none. What a chain
computes is said by ``units/registry.py``, what it costs by ``timing/pipeline.py``.

* convolution: CDMA, CSC, CMAC_A, CMAC_B, CACC and SDP in flying mode, SDP_RDMA if an operand
  comes from memory, PDP if SDP hands its result on;
* SDP with SDP_RDMA (and PDP as above), PDP with PDP_RDMA, CDP with CDP_RDMA;
* SDP_RDMA that was enabled without anything to fetch is done at once;
* BDMA and RUBIK alone.

Source: nvdla hardware manual "Programming guide".
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from itertools import product

from .csb import CONVOLUTION, RegisterFile
from .glb import Interrupt
from .units.pdp.registers import Pdp
from .units.sdp.registers import Sdp, needs_rdma


@dataclass(slots=True)
class Release:
    """Blocks that leave their group, and the interrupt that announces it."""

    blocks: tuple[str, ...]
    interrupt: Interrupt | None
    group: int

    def raises(self, bits: int) -> bool:
        """Whether its interrupt is among *bits* of the status register."""
        return self.interrupt is not None and bool(bits >> (self.interrupt + self.group) & 1)

    def happen(self, csb: RegisterFile) -> None:
        """Units leave their groups, the interrupt is raised."""
        for name in self.blocks:
            if name == "BDMA":
                csb.bdma.finish()
            else:
                csb.blocks[name].finish()
        if self.interrupt is not None:
            csb.glb.raise_bit(self.interrupt, self.group)


@dataclass(frozen=True, slots=True)
class Part:
    """What leaves together: *blocks*, announced for the group that *announces* works on."""

    blocks: tuple[str, ...]
    interrupt: Interrupt | None
    announces: str


@dataclass(frozen=True, slots=True)
class Chain:
    """*blocks* must all be ready, *parts* leave in this order; *shown* are the blocks whose groups
    reports name."""

    name: str
    blocks: tuple[str, ...]
    parts: tuple[Part, ...]
    shown: tuple[str, ...]

    def releases(self, csb: RegisterFile) -> list[Release]:
        """The parts, for the register groups that the blocks work on now."""
        return [Release(p.blocks, p.interrupt, _group(csb, p.announces)) for p in self.parts]

    def groups(self, csb: RegisterFile) -> dict[str, int]:
        """The register groups that reports name."""
        return {name: _group(csb, name) for name in self.shown}


def _group(csb: RegisterFile, block: str) -> int:
    return csb.bdma.launched[0][0] if block == "BDMA" else csb.blocks[block].consumer


Running = Set[str]
"""Blocks that work on their group: enabled, but not for anything else."""
Rule = Callable[[RegisterFile, Running], Chain | None]
"""Finds the chain that could start now."""


def _single(name: str, blocks: tuple[str, ...], interrupt: Interrupt | None) -> Chain:
    """A chain whose blocks leave together."""
    last = blocks[-1]
    shown = (last,) if interrupt is not None else ()
    return Chain(name, blocks, (Part(blocks, interrupt, last),), shown)


def _of_sdp(flying: bool, rdma: bool, to_pdp: bool) -> Chain:
    blocks = (
        *CONVOLUTION * flying, "SDP", *("SDP_RDMA",) * rdma, *("PDP",) * to_pdp
    )  # fmt: skip
    parts = []
    if flying:
        parts = [
            Part((), Interrupt.CDMA_DAT, "CDMA"),
            Part(("CDMA",), Interrupt.CDMA_WT, "CDMA"),
            Part(CONVOLUTION[1:], Interrupt.CACC, "CACC"),
        ]
    parts.append(Part((*("SDP_RDMA",) * rdma, "SDP"), Interrupt.SDP, "SDP"))
    if to_pdp:
        parts.append(Part(("PDP",), Interrupt.PDP, "PDP"))
    name = "+".join((*("CONV",) * flying, "SDP", *("PDP",) * to_pdp))
    return Chain(name, blocks, tuple(parts), blocks)


_SDP = {which: _of_sdp(*which) for which in product((False, True), repeat=3)}
"""By: behind a convolution, with SDP_RDMA, before PDP."""

PDP = _single("PDP", ("PDP_RDMA", "PDP"), Interrupt.PDP)
IDLE_RDMA = _single("SDP_RDMA", ("SDP_RDMA",), None)
CDP = _single("CDP", ("CDP_RDMA", "CDP"), Interrupt.CDP)
BDMA = _single("BDMA", ("BDMA",), Interrupt.BDMA)
RUBIK = _single("RUBIK", ("RBK",), Interrupt.RUBIK)


def _ready(csb: RegisterFile, running: Running, *blocks: str) -> bool:
    """Whether all of these blocks have an enabled group that their unit could begin with."""
    states = csb.blocks
    return all(states[name].ready and name not in running for name in blocks)


def _sdp(csb: RegisterFile, running: Running) -> Chain | None:
    if not _ready(csb, running, "SDP"):
        return None
    active = csb.blocks["SDP"].active
    p = Sdp.decode(active)
    chain = _SDP[bool(p.flying), needs_rdma(active), bool(p.to_pdp)]
    if not _ready(csb, running, *chain.blocks):
        return None
    if p.to_pdp and Pdp.decode(csb.blocks["PDP"].active).off_flying:
        return None  # that PDP waits for its own PDP_RDMA
    return chain


def _pdp(csb: RegisterFile, running: Running) -> Chain | None:
    if not _ready(csb, running, *PDP.blocks) or not Pdp.decode(csb.blocks["PDP"].active).off_flying:
        return None
    return PDP


def _idle_rdma(csb: RegisterFile, running: Running) -> Chain | None:
    if not _ready(csb, running, "SDP_RDMA"):
        return None
    rdma = csb.blocks["SDP_RDMA"]
    group, by_name = rdma.active, rdma.layout.by_name
    names = ("D_FEATURE_MODE_CFG", "D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG")
    # bit 0: on the fly, and each operand switched off
    return IDLE_RDMA if all(group[by_name[name].offset // 4] & 1 for name in names) else None


def _cdp(csb: RegisterFile, running: Running) -> Chain | None:
    return CDP if _ready(csb, running, *CDP.blocks) else None


def _bdma(csb: RegisterFile, running: Running) -> Chain | None:
    return BDMA if csb.bdma.launched and "BDMA" not in running else None


def _rubik(csb: RegisterFile, running: Running) -> Chain | None:
    return RUBIK if _ready(csb, running, *RUBIK.blocks) else None


RULES: dict[str, Rule] = {
    "SDP_RDMA": _idle_rdma,  # before an SDP that comes later could take it
    "SDP": _sdp,
    "PDP": _pdp,
    "CDP": _cdp,
    "BDMA": _bdma,
    "RUBIK": _rubik,
}
"""By unit, in the order in which ready ones start."""
