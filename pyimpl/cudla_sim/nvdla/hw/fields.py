"""Decoding the registers of one group into a parameter object.

A unit declares what it reads as a dataclass::

    @dataclass(slots=True)
    class Cacc(Params, block="CACC"):
        truncate: int = bits("D_CLIP_CFG.CLIP_TRUNCATE")

and calls ``Cacc.decode(group)``, where *group* holds the register values by word offset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..facts import registers

if TYPE_CHECKING:
    from typing_extensions import Self

_Step = tuple[int, int, int, int, int]

_MOST_KNOWN = 8192


def bits(where: str, *, plus: int = 0, signed: bool = False) -> Any:
    """A field ``REGISTER.FIELD`` (or a whole ``REGISTER``), *plus* a constant."""
    return dataclasses.field(metadata={"where": where, "plus": plus, "signed": signed})


def address(high: str, low: str) -> Any:
    """A 64-bit value from two registers."""
    return dataclasses.field(metadata={"high": high, "low": low})


@dataclasses.dataclass(slots=True)
class Params:
    """Base of the parameter classes; subclasses name their register block."""

    _block: ClassVar[str] = ""
    _plan: ClassVar[dict[type, tuple[_Step, ...]]] = {}
    _known: ClassVar[dict[tuple[Any, ...], Any]] = {}

    @classmethod
    def decode(cls, group: Sequence[int]) -> Self:
        """Read all declared fields from the register values of one group.

        Equal register values give the same object: it must not be changed.
        """
        key = (cls, *group)
        found: Self | None = Params._known.get(key)
        if found is None:
            if len(Params._known) >= _MOST_KNOWN:
                Params._known.clear()
            found = Params._known[key] = cls._read(group)
        return found

    @classmethod
    def _read(cls, group: Sequence[int]) -> Self:
        plan = Params._plan.get(cls)
        if plan is None:
            plan = Params._plan[cls] = cls._compile()
        values = []
        for index, shift, mask, sign, plus in plan:
            value = (group[index] >> shift) & mask
            if sign < 0:  # a 64-bit pair: the index of the high word is coded in sign
                value |= group[-1 - sign] << 32
            elif value & sign:
                value -= sign << 1
            values.append(value + plus)
        return cls(*values)

    @classmethod
    def _compile(cls) -> tuple[_Step, ...]:
        names = registers.block("master", cls._block).by_name
        plan: list[_Step] = []
        for item in dataclasses.fields(cls):
            meta = item.metadata
            if "high" in meta:
                high, low = names[meta["high"]].offset // 4, names[meta["low"]].offset // 4
                plan.append((low, 0, 0xFFFFFFFF, -1 - high, 0))
                continue
            register, _, field = meta["where"].partition(".")
            if field:
                found = names[register].field(field)
                lsb, width = found.lsb, found.msb - found.lsb + 1
            else:
                lsb, width = 0, 32
            sign = 1 << (width - 1) if meta["signed"] else 0
            offset = names[register].offset // 4
            plan.append((offset, lsb, (1 << width) - 1, sign, meta["plus"]))
        return tuple(plan)
