"""What registers of a configuration exist, and which values of their fields its units have.

One table for the register model, the firmware, the checker and the compiler: ``OPTIONAL_BLOCKS``
says which blocks a configuration can lack, ``RULES`` which values of a field are legal and what a
chip makes of the others. Fields without a rule have no value that a unit lacks.

Source: nvdla/hw ``spec/defs/*.spec`` (what a configuration has), ``vmod/nvdla/csb_master``
(windows), ``vmod/nvdla/glb`` (interrupts). What a chip makes of other values was found by running
the RTL of nv_small (``tests/nvdla/golden/sweep``); configurations that compute int8 only come from
the same sources.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple

from . import fields, precisions, registers
from .configs import HardwareConfig
from .limits import POOLING_KERNEL
from .modes import Alu, Pooling
from .precisions import FP16, INT8, INT16

# -- blocks -----------------------------------------------------------------------------------

OPTIONAL_BLOCKS: dict[str, Callable[[HardwareConfig], bool]] = {
    "CFGROM": lambda config: config.line == "master",
    "GEC": lambda config: config.line == "v1",
    "CVIF": lambda config: config.second_memory,
    "BDMA": lambda config: config.bdma,
    "RBK": lambda config: config.rubik,
}
"""Whether a configuration has a block. The window of a block that is not there reads 0."""


def has_block(config: HardwareConfig, block: str) -> bool:
    """Whether the configuration has a block of its register map."""
    present = OPTIONAL_BLOCKS.get(block)
    return present is None or present(config)


_INTERRUPTS = {"BDMA": 0x000000C0, "RBK": 0x00000300}
_ALL_INTERRUPTS = 0x003F03FF


def interrupt_bits(config: HardwareConfig) -> int:
    """Bits of S_INTR_STATUS that units of the configuration can set.

    The bits of missing units read 0, also after a write to S_INTR_SET; S_INTR_MASK keeps all bits.
    """
    missing = sum(bits for block, bits in _INTERRUPTS.items() if not has_block(config, block))
    return _ALL_INTERRUPTS & ~missing


# -- fields -----------------------------------------------------------------------------------


class Taken(Enum):
    """What a chip makes of a value that a rule does not allow."""

    HANGS = "the unit never ends"
    UNKNOWN = "what the chip computes then is not known"


@dataclass(frozen=True, slots=True)
class LowBits:
    """A chip takes the low *width* bits of the value."""

    width: int


Outcome = int | LowBits | Taken


class Legal(NamedTuple):
    """Legal values of a field and, for messages, their description and what the configuration
    lacks (a precision: "" and its number is named)."""

    values: Container[int]
    valid: str
    lack: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """Legal values of a field.

    *place* is ``BLOCK.REGISTER.FIELD``, *values* the legal ones of a configuration (None: all).
    *chip* is what a chip makes of another value: a number that it takes instead, ``LowBits``, or
    ``Taken``; or each of these by value. *when* names fields of the same block and the values that
    they have where this one matters. Where *computed* is set, the model computes what the unit of
    other configurations would, and reports it.
    """

    place: str
    values: Callable[[HardwareConfig], Legal | None]
    chip: Outcome | Mapping[int, Outcome]
    when: tuple[tuple[str, int], ...] = ()
    computed: bool = False

    @property
    def block(self) -> str:
        return self.place.split(".")[0]


_NO_PRECISION = "precision"


def _precision(config: HardwareConfig) -> Legal:
    names = ", ".join(f"{p} ({precisions.name(p)})" for p in sorted(config.precisions))
    return Legal(config.precisions, names, _NO_PRECISION)


def _int8_only(config: HardwareConfig) -> Legal | None:
    return _precision(config) if config.precisions == {INT8} else None


def _memory(config: HardwareConfig) -> Legal | None:
    """RAM types: 0 is the second memory, 1 the first."""
    return None if config.second_memory else Legal((1,), "1 (MC)", "second memory")


def _up_to(most: int, words: str) -> Callable[[HardwareConfig], Legal]:
    return lambda config: Legal(range(most + 1), words)


def _without(
    has: Callable[[HardwareConfig], bool], words: str
) -> Callable[[HardwareConfig], Legal | None]:
    """Only 0 where the configuration lacks something."""
    return lambda config: None if has(config) else Legal((0,), "0", words)


def _y_stage(config: HardwareConfig) -> Legal | None:
    return None if config.lut else Legal((1,), "1", "Y stage (EW, LUT)")


def _x_stage(name: str) -> Iterator[Rule]:
    on = (f"D_DP_{name}_CFG.{name}_BYPASS", 0)
    yield Rule(
        f"SDP.D_DP_{name}_CFG.{name}_ALU_ALGO",
        _up_to(Alu.SUM, "0 (MAX), 1 (MIN), 2 (SUM)"),
        int(Alu.SUM),
        (on, (f"D_DP_{name}_CFG.{name}_ALU_BYPASS", 0)),
    )
    yield Rule(
        f"SDP.D_DP_{name}_MUL_CFG.{name}_MUL_SHIFT_VALUE",
        lambda config: Legal(range(64), "0..63") if config.line == "master" else None,
        LowBits(6),
        (on,),
    )


def _operand_dma(dma: str) -> Rule:
    used = ((f"D_{dma}_CFG.{dma}_DISABLE", 0),)
    return Rule(f"SDP_RDMA.D_{dma}_CFG.{dma}_RAM_TYPE", _memory, Taken.HANGS, used)


_KERNEL = f"0..{POOLING_KERNEL - 1} (windows of 1 to {POOLING_KERNEL})"
_COMPRESSION = _without(lambda config: config.compression, "weight compression")
_BATCH = _without(lambda config: config.batch, "batches")
_WINOGRAD = _without(lambda config: config.winograd, "Winograd mode")
_FROM_MEMORY = (("D_FEATURE_MODE_CFG.FLYING_MODE", 0),)

_INPUT_OF_SDP: dict[int, Outcome] = {INT16: INT16, FP16: INT16, 3: INT8}
"""With int16, each atom of 8 bytes is taken as four numbers, which are the first of the output's
eight."""
_OUTPUT_OF_SDP: dict[int, Outcome] = {INT16: Taken.UNKNOWN, FP16: INT8, 3: INT8}

RULES: tuple[Rule, ...] = (
    # convolution
    Rule("CDMA.D_MISC_CFG.CONV_MODE", _WINOGRAD, Taken.HANGS),
    Rule("CDMA.D_MISC_CFG.IN_PRECISION", _precision, INT8),
    Rule("CDMA.D_MISC_CFG.PROC_PRECISION", _precision, Taken.UNKNOWN, (("D_CVT_CFG.CVT_EN", 1),)),
    Rule("CDMA.D_MISC_CFG.PROC_PRECISION", _precision, INT8),
    Rule("CDMA.D_DAIN_RAM_TYPE.DATAIN_RAM_TYPE", _memory, Taken.HANGS),
    Rule("CDMA.D_WEIGHT_RAM_TYPE.WEIGHT_RAM_TYPE", _memory, Taken.HANGS),
    Rule("CDMA.D_BATCH_NUMBER.BATCHES", _BATCH, Taken.UNKNOWN),
    Rule("CDMA.D_WEIGHT_FORMAT.WEIGHT_FORMAT", _COMPRESSION, 0),
    Rule("CSC.D_MISC_CFG.CONV_MODE", _WINOGRAD, 0),
    Rule("CSC.D_MISC_CFG.PROC_PRECISION", _precision, INT8),
    Rule("CSC.D_BATCH_NUMBER.BATCHES", _BATCH, 0),
    Rule("CSC.D_WEIGHT_FORMAT.WEIGHT_FORMAT", _COMPRESSION, Taken.UNKNOWN),
    Rule(
        "CSC.D_POST_Y_EXTENSION.Y_EXTENSION",
        lambda config: Legal((0,), "0 for features, 0..2 for images"),
        Taken.UNKNOWN,
        (("D_DATAIN_FORMAT.DATAIN_FORMAT", 0),),
    ),
    # SDP
    Rule("SDP_RDMA.D_FEATURE_MODE_CFG.IN_PRECISION", _int8_only, _INPUT_OF_SDP, _FROM_MEMORY),
    Rule("SDP_RDMA.D_FEATURE_MODE_CFG.IN_PRECISION", _precision, Taken.UNKNOWN, _FROM_MEMORY),
    Rule("SDP_RDMA.D_FEATURE_MODE_CFG.PROC_PRECISION", _int8_only, Taken.UNKNOWN),
    Rule("SDP_RDMA.D_SRC_DMA_CFG.SRC_RAM_TYPE", _memory, Taken.HANGS, _FROM_MEMORY),
    _operand_dma("BRDMA"),
    _operand_dma("NRDMA"),
    *_x_stage("BS"),
    *_x_stage("BN"),
    Rule("SDP.D_DP_EW_CFG.EW_BYPASS", _y_stage, 1, computed=True),
    Rule("SDP.D_DATA_FORMAT.PROC_PRECISION", _precision, Taken.HANGS),
    Rule("SDP.D_DATA_FORMAT.OUT_PRECISION", _int8_only, _OUTPUT_OF_SDP),
    Rule("SDP.D_DATA_FORMAT.OUT_PRECISION", _precision, Taken.UNKNOWN),
    Rule("SDP.D_FEATURE_MODE_CFG.BATCH_NUMBER", _BATCH, 0),
    Rule(
        "SDP.D_DST_DMA_CFG.DST_RAM_TYPE",
        _memory,
        Taken.HANGS,
        (("D_FEATURE_MODE_CFG.OUTPUT_DST", 0),),
    ),
    # PDP
    Rule("PDP_RDMA.D_SRC_RAM_CFG.SRC_RAM_TYPE", _memory, Taken.HANGS),
    Rule("PDP.D_POOLING_KERNEL_CFG.KERNEL_WIDTH", _up_to(POOLING_KERNEL - 1, _KERNEL), LowBits(3)),
    Rule("PDP.D_POOLING_KERNEL_CFG.KERNEL_HEIGHT", _up_to(POOLING_KERNEL - 1, _KERNEL), LowBits(3)),
    Rule(
        "PDP.D_OPERATION_MODE_CFG.POOLING_METHOD",
        _up_to(max(Pooling), "0 (average), 1 (max), 2 (min)"),
        Taken.UNKNOWN,
    ),
    Rule("PDP.D_DATA_FORMAT.INPUT_DATA", _precision, INT8),
    Rule("PDP.D_DST_RAM_CFG.DST_RAM_TYPE", _memory, Taken.HANGS),
    # CDP
    Rule("CDP_RDMA.D_SRC_DMA_CFG.SRC_RAM_TYPE", _memory, Taken.HANGS),
    Rule("CDP_RDMA.D_DATA_FORMAT.INPUT_DATA", _precision, INT8),
    Rule("CDP.D_DATA_FORMAT.INPUT_DATA_TYPE", _precision, INT8),
    Rule("CDP.D_DST_DMA_CFG.DST_RAM_TYPE", _memory, Taken.HANGS),
)
"""By block; the first rule of a field whose condition holds counts."""


class _Place(NamedTuple):
    """Where a field is in a register group."""

    word: int
    lsb: int
    mask: int

    def value(self, group: Sequence[int]) -> int:
        return (group[self.word] & self.mask) >> self.lsb


@dataclass(frozen=True, slots=True)
class Illegal:
    """A field of a register group with a value that its unit does not have."""

    rule: Rule
    value: int
    message: str
    place: _Place

    @property
    def chip(self) -> Outcome:
        """What a chip makes of the value."""
        chip = self.rule.chip
        return chip[self.value] if isinstance(chip, Mapping) else chip

    def corrected(self, group: list[int]) -> list[int] | None:
        """The registers as a chip takes them; None where no value stands for it."""
        chip = self.chip
        if isinstance(chip, Taken):
            return None
        value = self.value & (1 << chip.width) - 1 if isinstance(chip, LowBits) else chip
        word, lsb, mask = self.place.word, self.place.lsb, self.place.mask
        result = list(group)
        result[word] = result[word] & ~mask | value << lsb
        return result


def _place(line: registers.MapName, block: str, field: str) -> _Place:
    register, _, name = field.partition(".")
    item = registers.block(line, block).by_name[register]
    found = item.field(name)
    return _Place(item.offset // 4, found.lsb, found.mask)


class _Compiled(NamedTuple):
    rule: Rule
    place: _Place
    when: tuple[tuple[_Place, int], ...]
    legal: Legal


@cache
def _compiled(config: HardwareConfig, block: str) -> tuple[_Compiled, ...]:
    """The rules that forbid values of a block's fields."""
    result = []
    for rule in RULES:
        legal = rule.values(config) if rule.block == block else None
        if legal is None:
            continue
        place = _place(config.line, block, rule.place.partition(".")[2])
        when = tuple((_place(config.line, block, name), value) for name, value in rule.when)
        result.append(_Compiled(rule, place, when, legal))
    return tuple(result)


def illegal(config: HardwareConfig, block: str, group: Sequence[int]) -> list[Illegal]:
    """Fields of a register group whose values the configuration does not have."""
    found: list[Illegal] = []
    for item in _compiled(config, block):
        value = item.place.value(group)
        if value in item.legal.values or any(p.value(group) != wanted for p, wanted in item.when):
            continue
        if all(other.rule.place != item.rule.place for other in found):
            message = _message(config, item, value)
            found.append(Illegal(item.rule, value, message, item.place))
    return found


def _message(config: HardwareConfig, item: _Compiled, value: int) -> str:
    text = f"{item.rule.place.partition('.')[2]} is {value}"
    lack = precisions.name(value) if item.legal.lack is _NO_PRECISION else item.legal.lack
    if lack:
        text += f", and {config.name} has no {lack}"
    return f"{text}; must be {item.legal.valid}"


@cache
def largest(config: HardwareConfig, place: str) -> int:
    """The largest legal value of the field ``BLOCK.REGISTER.FIELD`` that is numeric."""
    most = fields.most(config, place)
    rules = [rule.values(config) for rule in RULES if rule.place == place]
    found = [legal.values for legal in rules if legal is not None]
    if not found:
        return most
    return max(value for value in range(most + 1) if all(value in values for values in found))
