"""Attribute lists: what one party wants of a buffer or sync object.

Values are kept as the bytes C wrote, checked against the key's form. Sources: the comments of the
NvSciBuf and NvSciSync headers (types of values, which keys an application may write).
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import NvSciError, bad_parameter

_CODES = {"bool": "?", "u8": "B", "u32": "I", "i32": "i", "u64": "Q", "f32": "f"}


@dataclass(frozen=True)
class Key:
    """One attribute key: its name, the form of its value, and whether an application writes it.

    ``form`` is an element type (``bool u32 i32 u64 f32 bytesN``), with ``[]`` for an array of 1
    or more. ``answered`` is False for a wish that reconciliation answers with another key.
    ``check`` returns what is wrong with a decoded value, or "".
    """

    name: str
    form: str
    writable: bool = True
    answered: bool = True
    check: Callable[[Any], str] | None = None

    @property
    def element_size(self) -> int:
        base = self.form.removesuffix("[]")
        return int(base[5:]) if base.startswith("bytes") else struct.calcsize(_CODES[base])

    def decode(self, raw: bytes) -> Any:
        """The value as Python: a number, bytes, or a tuple of them for an array."""
        base, size = self.form.removesuffix("[]"), self.element_size
        if base.startswith("bytes"):
            values: tuple[Any, ...] = tuple(raw[i : i + size] for i in range(0, len(raw), size))
        else:
            values = struct.unpack(f"<{len(raw) // size}{_CODES[base]}", raw)
        return values if self.form.endswith("[]") else values[0]

    def encode(self, value: Any) -> bytes:
        base = self.form.removesuffix("[]")
        values = value if self.form.endswith("[]") else (value,)
        if base.startswith("bytes"):
            return b"".join(values)
        return struct.pack(f"<{len(values)}{_CODES[base]}", *values)

    def validate(self, raw: bytes) -> None:
        """Raises NvSciError (BadParameter) when ``raw`` cannot be a value of this key."""
        size = self.element_size
        if self.form.endswith("[]"):
            if not raw or len(raw) % size:
                raise bad_parameter(
                    f"{self.name}: len is {len(raw)}; it is a multiple of {size} bytes"
                )
        elif len(raw) != size:
            raise bad_parameter(f"{self.name}: len is {len(raw)}; the value has {size} bytes")
        if self.check is not None and (wrong := self.check(self.decode(raw))):
            raise bad_parameter(f"{self.name}: {wrong}")


Slot = dict[int, bytes]
List = TypeVar("List", bound="AttrList")


class AttrList:
    """A list with one slot per party (unreconciled), or one slot with the outcome (reconciled)."""

    def __init__(self, schema: Schema, module: Any, slots: list[Slot] | None = None) -> None:
        self.schema = schema
        self.module = module
        self.slots: list[Slot] = slots if slots is not None else [{}]
        self.writable = slots is None  # what was put together from other lists stays as it is
        self.written: set[int] = set()  # not those of the list that this one is a clone of
        self.reconciled = False
        self.engines: set[str] = set()  # hardware that filled in its own part of the list
        self.owned: Any = None  # the handle of a list that belongs to its object
        self.lent: dict[tuple[int, bytes], Any] = {}  # values that C looks at, by key

    def set_attrs(self, pairs: Iterable[tuple[int, bytes | None]]) -> None:
        """Writes attributes to slot 0; all or none.

        Raises NvSciError (BadParameter): reconciled or appended list, unknown or output-only key,
        key already set or twice in the call, NULL value, wrong length, value out of range.
        """
        if self.reconciled:
            raise bad_parameter("attrList is reconciled; attributes are set before reconciliation")
        if not self.writable:
            raise bad_parameter(
                "attrList was put together from other lists (appended, or the conflicts of a "
                "reconciliation), so it is read-only; a clone of it is writable"
            )
        fresh: Slot = {}
        slot = self.slots[0]
        for number, raw in pairs:
            key = self.schema.key(number)
            if not key.writable:
                raise bad_parameter(f"{key.name} is answered by reconciliation; it cannot be set")
            if number in fresh:
                raise bad_parameter(f"{key.name} occurs twice in pairArray")
            if number in self.written:
                raise bad_parameter(f"{key.name} is set already; attributes are written once")
            if raw is None:
                raise bad_parameter(f"{key.name}: value is NULL")
            key.validate(raw)
            fresh[number] = raw
        self.schema.check_new(slot, fresh)
        slot.update(fresh)
        self.written.update(fresh)

    def get(self, number: int, slot: int = 0) -> bytes:
        """The value as C sees it; empty when it is not set. Raises NvSciError (BadParameter)."""
        if not 0 <= slot < len(self.slots):
            raise bad_parameter(f"slotIndex is {slot}; attrList has {len(self.slots)} slots")
        key = self.schema.key(number)
        if self.schema.reads_by_kind:
            if self.reconciled and not key.answered:
                raise bad_parameter(
                    f"{key.name} is a wish, which a reconciled list does not answer; read "
                    "ActualPerm of it"
                )
            if not self.reconciled and not key.writable:
                raise bad_parameter(
                    f"{key.name} is answered by reconciliation; attrList is not reconciled"
                )
        return self.slots[slot].get(number, b"")

    def value(self, number: int, default: Any = None, slot: int = 0) -> Any:
        """The decoded value, ``default`` when it is not set."""
        raw = self.slots[slot].get(number)
        return default if raw is None else self.schema.key(number).decode(raw)

    def clone(self: List) -> List:
        """The same kind of list with the same values; an unreconciled one may set them anew."""
        twin = copy.copy(self)
        twin.slots = [dict(s) for s in self.slots]
        twin.writable, twin.written = not self.reconciled, set()
        twin.engines, twin.owned, twin.lent = set(self.engines), None, {}
        return twin

    def dump(self) -> str:
        """The list as text, a line per attribute."""
        lines = [f"{self.schema.name} attribute list, {'' if self.reconciled else 'un'}reconciled"]
        for index, slot in enumerate(self.slots):
            lines.append(f"slot {index}")
            for number in sorted(slot):
                key = self.schema.key(number)
                lines.append(f"  {key.name} = {key.decode(slot[number])}")
        return "\n".join(lines) + "\n"


class Conflict(NvSciError):
    """Reconciliation failed; ``culprits``: a slot for each party, with what it set of ``keys``."""

    def __init__(self, status: int, explanation: str, lists: list[AttrList], *keys: int) -> None:
        super().__init__(status, explanation)
        slots = [slot for each in lists for slot in each.slots]
        found = [{key: slot[key] for key in keys if key in slot} for slot in slots]
        self.culprits = AttrList(lists[0].schema, lists[0].module, found)


class Schema:
    """The keys of one library, and the rules that involve several of them.

    ``reads_by_kind``: wishes are not read from reconciled lists, answers not from others.
    ``lists_once``: no list may be twice among those of one call.
    """

    reads_by_kind = False
    lists_once = False

    def __init__(self, name: str, keys: Mapping[int, Key]) -> None:
        self.name = name
        self.keys = dict(keys)

    def key(self, number: int) -> Key:
        """Raises NvSciError (BadParameter) for a number that is no key."""
        found = self.keys.get(number)
        if found is None:
            raise bad_parameter(f"attribute key {number:#x} does not exist in {self.name}")
        return found

    def check_new(self, present: Slot, fresh: Slot) -> None:
        """Rules about keys that need each other. Raises NvSciError (BadParameter)."""


def append(lists: list[AttrList]) -> AttrList:
    """One unreconciled list with the slots of all. Raises NvSciError (BadParameter)."""
    for index, each in enumerate(lists):
        if each.reconciled:
            raise bad_parameter(
                f"attribute list {index} is reconciled; only unreconciled ones append"
            )
        if each.module is not lists[0].module:
            raise bad_parameter(f"attribute list {index} comes from another module than list 0")
    joined = AttrList(lists[0].schema, lists[0].module, [dict(s) for a in lists for s in a.slots])
    joined.engines = set().union(*(a.engines for a in lists))
    return joined
