"""The register file behind the configuration space bus.

``S_`` registers exist once. From ``D_OP_ENABLE`` on, every register exists in two groups; reads
and writes go to the group that ``S_POINTER.PRODUCER`` selects. A write to a group that is enabled
is dropped. ``CONSUMER`` names the group the unit works on; it toggles when the unit is done.
Source: nvdla/hw ``vmod/nvdla/*/NV_NVDLA_*_regfile.v``, hardware manual "Ping-pong mechanism".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..facts import registers
from ..facts.configs import HardwareConfig
from ..facts.legal_registers import has_block, interrupt_bits
from ..facts.registers import MapName
from ..facts.tables import LUT_SIZES
from .glb import Glb
from .units.bdma.registers import Bdma

CONVOLUTION = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
"""The blocks of the convolution pipeline."""

LAUNCHED = (
    *CONVOLUTION,
    "SDP_RDMA",
    "SDP",
    "PDP_RDMA",
    "PDP",
    "CDP_RDMA",
    "CDP",
    "RBK",
)
"""Blocks with register groups."""


_STARTS = ("D_OP_ENABLE", "CFG_LAUNCH0", "CFG_LAUNCH1")
"""Registers that start a block."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A register access that hardware ignores, kept for reports."""

    reason: str
    address: int
    value: int


class LookupTable:
    """The LE and LO tables of SDP or CDP behind their access port."""

    __slots__ = ("address", "table", "tables", "version", "write")

    def __init__(self) -> None:
        self.tables = tuple([0] * size for size in LUT_SIZES)
        self.table = 0
        self.address = 0
        self.write = 0
        self.version = 0

    def configure(self, value: int) -> None:
        """Write to S_LUT_ACCESS_CFG: entry, table, direction."""
        self.address = value & 0x3FF
        self.table = value >> 16 & 1
        self.write = value >> 17 & 1

    @property
    def configuration(self) -> int:
        """Value of S_LUT_ACCESS_CFG."""
        return self.address | self.table << 16 | self.write << 17

    def put(self, value: int) -> None:
        """Write to S_LUT_ACCESS_DATA: store and go to the next entry, stopping at the last."""
        table = self.tables[self.table]
        if self.write and self.address < len(table):
            table[self.address] = value & 0xFFFF
            self.version += 1
        self._advance(table)

    def get(self) -> int:
        """Read S_LUT_ACCESS_DATA."""
        table = self.tables[self.table]
        value = table[self.address] if self.address < len(table) else 0
        if not self.write:
            self._advance(table)
        return value

    def _advance(self, table: list[int]) -> None:
        if self.address < len(table) - 1:
            self.address += 1


class MissingTable(LookupTable):
    """The access port of tables that a configuration does not have: nothing is stored, data read
    0, and the address stays."""

    def put(self, value: int) -> None:
        """Ignore a write to S_LUT_ACCESS_DATA."""

    def get(self) -> int:
        """Return 0."""
        return 0


class BlockState:
    """Registers of one block: ``single`` once, ``groups`` twice, both by word offset. What units
    counted is apart from what was written: ``counted``, twice, too."""

    __slots__ = (
        "consumer",
        "counted",
        "enabled",
        "first",
        "groups",
        "layout",
        "lut",
        "name",
        "producer",
        "single",
    )

    def __init__(self, layout: registers.Block) -> None:
        self.name = layout.name
        self.layout = layout
        self.first = layout.first_grouped // 4
        words = layout.registers[-1].offset // 4 + 1
        self.single = [0] * words
        self.groups = ([0] * words, [0] * words)
        self.counted = ([0] * words, [0] * words)
        for item in layout.registers:
            for bank in (self.single, *self.groups, *self.counted):
                bank[item.offset // 4] = item.reset
        self.enabled = [False, False]
        self.producer = 0
        self.consumer = 0
        self.lut = LookupTable() if "S_LUT_ACCESS_CFG" in layout.by_name else None

    @property
    def active(self) -> list[int]:
        """Registers of the group the unit works on."""
        return self.groups[self.consumer]

    @property
    def ready(self) -> bool:
        """True if the group the unit works on is enabled."""
        return self.enabled[self.consumer]

    def status(self) -> int:
        """Value of S_STATUS: per group idle, running or pending."""
        value = 0
        for group in (0, 1):
            if self.enabled[group]:
                value |= (1 if group == self.consumer else 2) << (16 * group)
        return value

    def finish(self) -> int:
        """Release the group the unit has worked on; return its number."""
        group = self.consumer
        self.enabled[group] = False
        self.consumer = 1 - group
        return group


class Position(NamedTuple):
    """All that decides which unit starts next, but for the registers of the groups. Producers
    decide nothing but where software writes."""

    consumers: list[int]
    enabled: list[list[bool]]
    mask: int
    status: int
    bdma: tuple[bool, ...]
    """What of it is under way."""

    def moves(self, to: Position) -> list[Move]:
        """What has to change in blocks to come to another position."""
        pairs = zip(self.consumers, self.enabled, to.consumers, to.enabled, strict=True)
        return [
            (number, consumer, groups)
            for number, (old, enabled, consumer, groups) in enumerate(pairs)
            if old != consumer or enabled != groups
        ]


Move = tuple[int, int, list[bool]]
"""Number of a block, its consumer, which groups are enabled."""

_Slot = tuple[BlockState, int, int, int, str]


class RegisterFile:
    """All registers of one engine, addressed by CSB byte address.

    ``on_enable`` is called with a block name when one of its groups becomes enabled; it must only
    take note. Accesses that hardware ignores are appended to ``rejected``.
    Blocks that *config* does not have read 0 and keep nothing (None: all blocks of the map exist).
    Without *spare_tables*, that holds for the look-up tables of SDP, too.
    """

    def __init__(
        self,
        line: MapName,
        on_enable: Callable[[str], None],
        config: HardwareConfig | None = None,
        spare_tables: bool = True,
    ) -> None:
        self.line = line
        self.glb = Glb() if config is None else Glb(interrupt_bits(config))
        self.bdma = Bdma()
        self.rejected: deque[Rejected] = deque(maxlen=256)
        self.blocks = {name: BlockState(item) for name, item in registers.blocks(line).items()}
        if config is not None and not config.lut and not spare_tables:
            self.blocks["SDP"].lut = MissingTable()
        self.started_missing = ""
        """A block that software started although the configuration does not have it."""
        self._states = [*self.blocks.values()]
        self._enabled = [state.enabled for state in self._states]
        self._idle = [[False, False] for _ in self._states]
        self._on_enable = on_enable
        self._cbuf_flushed = 0
        self.plain: dict[int, tuple[BlockState, int, int, int]] = {}
        """Grouped registers that only hold a number, by address: block, index, masks for writing
        and reading. Writing to ``groups[producer]`` is all there is to it, unless that group is
        enabled."""
        self._slots: dict[int, _Slot] = {}
        self._missing: dict[int, tuple[str, str]] = {}
        """Names of blocks and registers that do not exist, by address."""
        for name, state in self.blocks.items():
            if config is not None and not has_block(config, name):
                for item in state.layout.registers:
                    self._missing[state.layout.base + item.offset] = name, item.name
                continue
            for item in state.layout.registers:
                kind = self._kind(name, item.name, item.write_mask)
                entry = (state, item.offset // 4, item.write_mask, item.read_mask, kind)
                self._slots[state.layout.base + item.offset] = entry
                if not kind and entry[1] >= state.first:
                    self.plain[state.layout.base + item.offset] = entry[:4]

    @staticmethod
    def _kind(block: str, register: str, write_mask: int) -> str:
        """Name the special behaviour of a register, "" for plain storage."""
        if block == "GLB" or register in ("S_POINTER", "S_STATUS", "S_CBUF_FLUSH_STATUS"):
            return register
        if register.startswith("S_LUT_ACCESS"):
            return register
        if register == "D_OP_ENABLE":
            return register
        if block == "BDMA" and register in ("CFG_OP", "CFG_LAUNCH0", "CFG_LAUNCH1", "STATUS"):
            return register
        if block == "CFGROM" or write_mask == 0:
            return "read_only"
        return ""

    def _reject(self, reason: str, address: int, value: int) -> None:
        self.rejected.append(Rejected(reason, address, value))

    def write(self, address: int, value: int) -> None:
        """Write 32 bits; never fails (what hardware ignores is ignored and recorded)."""
        slot = self._slots.get(address)
        if slot is None:
            self._write_nowhere(address, value)
            return
        state, index, mask, _, kind = slot
        if kind:
            self._write_special(state, kind, address, value)
        elif index < state.first:
            state.single[index] = value & mask
        elif state.enabled[state.producer]:
            self._reject("write to a group that is enabled", address, value)
        else:
            state.groups[state.producer][index] = value & mask

    def _write_nowhere(self, address: int, value: int) -> None:
        """Ignore a write; drivers reset the pointers of blocks that may be missing."""
        missing = self._missing.get(address)
        if missing is None:
            self._reject("write to an address without register", address, value)
        elif missing[1] in _STARTS and value & 1:
            self.started_missing = missing[0]

    def place(self, address: int) -> tuple[list[int], int] | None:
        """Where a write to *address* would be stored now; None for registers that do more than
        hold a number, and where it would be ignored."""
        slot = self._slots.get(address)
        if slot is None or slot[4] or slot[0].name == "BDMA":
            return None
        state, index = slot[0], slot[1]
        if index < state.first:
            return state.single, index
        return None if state.enabled[state.producer] else (state.groups[state.producer], index)

    def named(self, address: int) -> tuple[BlockState, str] | None:
        """The block of a register, and which special one it is ("": none); None for a register
        that the configuration does not have."""
        slot = self._slots.get(address)
        return None if slot is None else (slot[0], slot[4])

    def selected(self, address: int) -> BlockState | None:
        """The block whose producer says which group an access means; None where none does."""
        slot = self._slots.get(address)
        return None if slot is None or slot[1] < slot[0].first else slot[0]

    def idle_state(self) -> tuple[int, ...] | None:
        """All that decides how an idle engine answers software that selects a group before it
        touches one: the groups that come next, and interrupts. None while something is enabled or
        under way.

        Not the flush of the convolution buffer: it is over for all who come behind the first that
        looked.
        """
        if self.bdma.launched or self.bdma.stored or self._enabled != self._idle:
            return None
        return (*[state.consumer for state in self._states], self.glb.mask, self.glb.status)

    @property
    def _bdma(self) -> tuple[bool, ...]:
        return (bool(self.bdma.launched or self.bdma.stored), *self.bdma.busy)

    def position(self) -> Position:
        """Where everything stands now."""
        consumers = [state.consumer for state in self._states]
        enabled = [groups.copy() for groups in self._enabled]
        return Position(consumers, enabled, self.glb.mask, self.glb.status, self._bdma)

    def stands(self, position: Position) -> bool:
        """Whether everything stands there."""
        return (
            self._enabled == position.enabled
            and [state.consumer for state in self._states] == position.consumers
            and self.glb.mask == position.mask
            and self.glb.status == position.status
            and self._bdma == position.bdma
        )

    def settle(self, position: Position, moves: Sequence[Move]) -> None:
        """Put consumers, enabled groups and interrupts where they stood at another time. *moves*:
        from where they are. BDMA stays."""
        self.glb.mask, self.glb.status = position.mask, position.status
        for number, consumer, groups in moves:
            self._states[number].consumer = consumer
            self._enabled[number][:] = groups

    def _write_special(self, state: BlockState, kind: str, address: int, value: int) -> None:
        if kind == "S_POINTER":
            state.producer = value & 1
        elif kind == "D_OP_ENABLE":
            if value & 1:
                if state.enabled[state.producer]:
                    self._reject("enable of a group that is enabled", address, value)
                    return
                state.enabled[state.producer] = True
                self._on_enable(state.name)
        elif kind.startswith("CFG_"):
            self._write_bdma(state, kind, address, value)
        elif kind == "S_LUT_ACCESS_DATA":
            assert state.lut is not None
            state.lut.put(value)
        elif kind == "S_LUT_ACCESS_CFG":
            assert state.lut is not None
            state.lut.configure(value)
        elif kind == "S_INTR_STATUS":
            self.glb.clear_bits(value)
        elif kind == "S_INTR_MASK":
            self.glb.mask = value & 0x003F03FF
        elif kind == "S_INTR_SET":
            self.glb.set_bits(value)
        else:
            self._reject("write to a read-only register", address, value)

    def _write_bdma(self, state: BlockState, kind: str, address: int, value: int) -> None:
        state.single[state.layout.by_name[kind].offset // 4] = value & 1
        if not value & 1:
            return
        if kind == "CFG_OP":
            if not self.bdma.store(state.single):
                self._reject("all BDMA descriptors are in use", address, value)
            return
        self.bdma.launch(int(kind[-1]))
        self._on_enable("BDMA")

    def read(self, address: int) -> int:
        """Read 32 bits; addresses without a register read 0."""
        slot = self._slots.get(address)
        if slot is None:
            if address not in self._missing:
                self._reject("read from an address without register", address, 0)
            return 0
        state, index, _, mask, kind = slot
        if kind and kind != "read_only":
            return self._read_special(state, kind)
        if index < state.first:
            return state.single[index] & mask
        banks = state.counted if kind else state.groups
        return banks[state.producer][index] & mask

    def _read_special(self, state: BlockState, kind: str) -> int:
        if kind == "S_POINTER":
            return state.producer | state.consumer << 16
        if kind == "S_STATUS":
            return state.status()
        if kind == "D_OP_ENABLE":
            return int(state.enabled[state.producer])
        if kind == "S_CBUF_FLUSH_STATUS":
            # The flush after reset takes a while: who looks once sees it under way, who polls
            # sees it done.
            done, self._cbuf_flushed = self._cbuf_flushed, 1
            return done
        if kind == "STATUS":
            return self.bdma.status
        if kind.startswith("CFG_"):
            return state.single[state.layout.by_name[kind].offset // 4]
        if kind == "S_INTR_STATUS":
            return self.glb.status
        if kind == "S_INTR_MASK":
            return self.glb.mask
        if kind == "S_NVDLA_HW_VERSION":
            return self.blocks["GLB"].single[0]
        if kind == "S_LUT_ACCESS_DATA" and state.lut is not None:
            return state.lut.get()
        if kind == "S_LUT_ACCESS_CFG" and state.lut is not None:
            return state.lut.configuration
        return 0

    def latch(self, block: str, register: str, value: int) -> None:
        """Store a status counter (a read-only register) of the group that *block* works on."""
        state = self.blocks[block]
        state.counted[state.consumer][state.layout.by_name[register].offset // 4] = (
            value & 0xFFFFFFFF
        )
