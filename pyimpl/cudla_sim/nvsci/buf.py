"""Buffers: reconciliation of what several parties want of one piece of memory, and the memory."""

from __future__ import annotations

from typing import Any

from ..constants.nvsci import NvSciBufAttrKey as K
from ..constants.nvsci import (
    NvSciBufAttrValAccessPerm as Perm,
)
from ..constants.nvsci import (
    NvSciBufType as Type,
)
from ..constants.nvsci import (
    NvSciError as Status,
)
from ..core.memory import AddressSpace, Bytes, Region
from . import layouts
from .attributes import AttrList, Conflict, Slot
from .bufattrs import SCHEMA
from .errors import NvSciError, bad_parameter

READ_WRITE = Perm.NvSciBufAccessPerm_ReadWrite
_MAX_U64 = (1 << 64) - 1

_OR_KEYS = {
    K.NvSciBufGeneralAttrKey_NeedCpuAccess,
    K.NvSciBufGeneralAttrKey_EnableCpuCache,
    K.NvSciBufImageAttrKey_VprFlag,
}
_MAX_KEYS = {
    K.NvSciBufGeneralAttrKey_RequiredPerm,
    K.NvSciBufRawBufferAttrKey_Size,
    K.NvSciBufRawBufferAttrKey_Align,
    K.NvSciBufTensorAttrKey_BaseAddrAlign,
    K.NvSciBufTensorAttrKey_AlignmentPerDim,
    K.NvSciBufImageAttrKey_PlaneBaseAddrAlign,
    K.NvSciBufImageAttrKey_TopPadding,
    K.NvSciBufImageAttrKey_BottomPadding,
    K.NvSciBufImageAttrKey_LeftPadding,
    K.NvSciBufImageAttrKey_RightPadding,
}
_JOIN_KEYS = {
    K.NvSciBufGeneralAttrKey_GpuId,
    K.NvSciBufGeneralAttrKey_EnableGpuCache,
    K.NvSciBufGeneralAttrKey_EnableGpuCompression,
    K.NvSciBufGeneralAttrKey_PeerLocationInfo,
    K.NvSciBufGeneralAttrKey_PeerHwEngineArray,
}


class BufModule:
    """An open NvSciBuf. Lists and objects keep it alive after it is closed."""


class ReconciledBuf(AttrList):
    """The outcome of reconciliation, with the bytes to allocate."""

    size = 0
    align = 1


def _combine(key: int, wishes: list[Any]) -> Any:
    """One value out of several wishes; None when they contradict each other."""
    if key in _OR_KEYS:
        return any(wishes)
    if key in _JOIN_KEYS:
        return tuple(dict.fromkeys(v for wish in wishes for v in wish))
    if key in _MAX_KEYS:
        if isinstance(wishes[0], tuple):
            if len({len(w) for w in wishes}) != 1:
                return None
            return tuple(max(column) for column in zip(*wishes, strict=True))
        return max(wishes)
    return wishes[0] if all(w == wishes[0] for w in wishes) else None


def reconcile(lists: list[AttrList]) -> ReconciledBuf:
    """Merges the wishes of all parties.

    Raises NvSciError: BadParameter for a reconciled list, ReconciliationFailed (``Conflict`` when
    two parties contradict each other), UnsupportedConfig for buffers that cannot be laid out.
    """
    for index, each in enumerate(lists):
        if each.reconciled:
            raise bad_parameter(f"list {index} of the input is reconciled already")
        if each.module is not lists[0].module:
            raise bad_parameter(f"list {index} of the input comes from another module than list 0")
    slots = [slot for each in lists for slot in each.slots]
    values: dict[int, Any] = {}
    for number in sorted({n for slot in slots for n in slot}):
        key = SCHEMA.key(number)
        combined = _combine(number, [key.decode(s[number]) for s in slots if number in s])
        if combined is None:
            wishes = ", ".join(str(key.decode(s[number])) for s in slots if number in s)
            text = f"{key.name} is wanted as {wishes}; all must agree"
            raise Conflict(Status.NvSciError_ReconciliationFailed, text, lists, number)
        values[number] = combined
    types = values.get(K.NvSciBufGeneralAttrKey_Types)
    if types is None:
        raise NvSciError(
            Status.NvSciError_ReconciliationFailed,
            "NvSciBufGeneralAttrKey_Types is set in no list; it says what kind of buffer to make",
        )
    layout = layouts.lay_out(types, values)
    values.update(layout.answers)
    values.setdefault(int(K.NvSciBufGeneralAttrKey_NeedCpuAccess), False)
    perm = values.setdefault(
        int(K.NvSciBufGeneralAttrKey_RequiredPerm), int(Perm.NvSciBufAccessPerm_Readonly)
    )
    values[int(K.NvSciBufGeneralAttrKey_ActualPerm)] = perm
    values[int(K.NvSciBufGeneralAttrKey_CpuNeedSwCacheCoherency)] = False
    outcome = ReconciledBuf(SCHEMA, lists[0].module)
    outcome.slots = [{n: SCHEMA.key(n).encode(v) for n, v in values.items()}]
    outcome.reconciled = True
    outcome.size, outcome.align = layout.size, layout.align
    return outcome


def validate(reconciled: AttrList, wishes: list[Slot]) -> str:
    """What a reconciled list does not give of ``wishes``; "" when it satisfies all."""
    have = reconciled.slots[0]
    for slot in wishes:
        for number, raw in slot.items():
            key = SCHEMA.key(number)
            if number not in have:
                return f"{key.name} is wanted but not in the reconciled list"
            wish, given = key.decode(raw), key.decode(have[number])
            if number in _OR_KEYS:
                satisfied = given or not wish
            elif number in _JOIN_KEYS:
                satisfied = set(wish) <= set(given)
            elif number in _MAX_KEYS and not isinstance(wish, tuple):
                satisfied = wish <= given
            else:
                satisfied = _combine(number, [given, wish]) == given
            if not satisfied:
                return f"{key.name} is wanted as {wish} but is {given}"
    return ""


class Buffer:
    """Memory shared by all handles and imports; it goes with the last of them."""

    def __init__(self, attributes: ReconciledBuf, memory: AddressSpace) -> None:
        self.attributes = attributes
        self.size = attributes.size
        self._memory = memory
        self._users = 1
        self.region: Region = memory.allocate(
            attributes.size, name="NvSciBuf", align=max(attributes.align, 4096), owner=self
        )

    @property
    def address(self) -> int:
        return self.region.base

    def retain(self) -> Buffer:
        self._users += 1
        return self

    def release(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._memory.unmap(self.region)

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(Type(t) for t in self.attributes.value(K.NvSciBufGeneralAttrKey_Types, ()))


class BufObj:
    """One handle's view of a buffer: the memory, and what this handle may do with it.

    ``attributes`` are those of the buffer, with the ActualPerm of this handle.
    """

    def __init__(self, buffer: Buffer, perm: int, attributes: ReconciledBuf) -> None:
        self.buffer = buffer
        self.perm = perm
        self.attributes = attributes

    @classmethod
    def allocate(cls, attributes: AttrList, memory: AddressSpace) -> BufObj:
        """Raises NvSciError (BadParameter) for a list that is not reconciled; MemoryError."""
        if not isinstance(attributes, ReconciledBuf):
            raise bad_parameter("reconciledAttrList is not reconciled; reconcile it first")
        perm = attributes.value(K.NvSciBufGeneralAttrKey_ActualPerm)
        return cls(Buffer(attributes, memory), perm, attributes)

    def duplicate(self, perm: int | None = None) -> BufObj:
        """Another handle, with ``perm`` (never more than this one has)."""
        wanted = self.perm if perm is None else perm
        if wanted not in (Perm.NvSciBufAccessPerm_Readonly, READ_WRITE):
            raise bad_parameter(f"reducedPerm is {wanted}; Readonly 1 or ReadWrite 3")
        if wanted > self.perm:
            raise bad_parameter(f"reducedPerm {wanted} is more than the object's {self.perm}")
        attributes = self.attributes
        if wanted != self.perm:
            key = int(K.NvSciBufGeneralAttrKey_ActualPerm)
            attributes = attributes.clone()
            attributes.slots[0][key] = SCHEMA.key(key).encode(wanted)
        return BufObj(self.buffer.retain(), wanted, attributes)

    def free(self) -> None:
        self.buffer.release()

    @property
    def cpu_access(self) -> bool:
        return bool(self.attributes.value(K.NvSciBufGeneralAttrKey_NeedCpuAccess, False))

    def cpu_address(self, *, write: bool) -> int:
        """Where the CPU finds the memory. Raises NvSciError (BadParameter) when it may not."""
        if not self.cpu_access:
            raise bad_parameter(
                "bufObj was allocated without CPU access; set NeedCpuAccess true in a list"
            )
        if write and self.perm != READ_WRITE:
            raise bad_parameter("bufObj is read-only; use NvSciBufObjGetConstCpuPtr")
        return self.buffer.address

    def flush(self, offset: int, length: int) -> None:
        """Checks a range to flush; memory is coherent here, so there is nothing to do with it.

        Raises NvSciError: BadParameter, Overflow, NotPermitted.
        """
        if length == 0:
            raise bad_parameter("len is 0; it is 1 or more")
        if offset + length > _MAX_U64:
            raise NvSciError(
                Status.NvSciError_Overflow, f"offset {offset} + len {length} is beyond 64 bits"
            )
        if not self.cpu_access:
            raise NvSciError(
                Status.NvSciError_NotPermitted,
                "bufObj was allocated without CPU access, so the CPU has nothing to flush; set "
                "NeedCpuAccess true in a list",
            )
        if offset + length > self.buffer.size:
            raise bad_parameter(
                f"[{offset}, +{length}) is not within the buffer's {self.buffer.size} bytes"
            )


def copy_pixels(
    buffer: Buffer,
    plane: int,
    rect: tuple[int, int, int, int] | None,
    host: Bytes,
    host_pitch: int,
    *,
    to_buffer: bool,
) -> None:
    """Copies one plane's part of ``rect`` (x0, y0, x1, y1 in pixels of plane 0; None: all).

    ``host`` is the host plane (uint8) with ``host_pitch`` bytes a line. Raises NvSciError
    (BadParameter) for a rectangle outside the image or a host plane that is too small.
    """
    attributes = buffer.attributes
    width = attributes.value(K.NvSciBufImageAttrKey_PlaneWidth)
    height = attributes.value(K.NvSciBufImageAttrKey_PlaneHeight)
    x0, y0, x1, y1 = rect or (0, 0, width[0], height[0])
    if not (0 <= x0 < x1 <= width[0] and 0 <= y0 < y1 <= height[0]):
        raise bad_parameter(
            f"rect ({x0}, {y0})-({x1}, {y1}) is not within {width[0]} x {height[0]} pixels"
        )
    # A subsampled plane covers the same area with fewer pixels.
    x0, x1 = (v * width[plane] // width[0] for v in (x0, x1))
    y0, y1 = (v * height[plane] // height[0] for v in (y0, y1))
    bits = attributes.value(K.NvSciBufImageAttrKey_PlaneBitsPerPixel)[plane]
    first, line = x0 * bits // 8, (x1 - x0) * bits // 8
    lines = y1 - y0
    if host_pitch < line or host.size < (lines - 1) * host_pitch + line:
        raise bad_parameter(
            f"plane {plane} needs {lines} lines of {line} bytes; the host memory has "
            f"{host.size} bytes with a pitch of {host_pitch}"
        )
    pitch = attributes.value(K.NvSciBufImageAttrKey_PlanePitch)[plane]
    offset = attributes.value(K.NvSciBufImageAttrKey_PlaneOffset)[plane]
    size = attributes.value(K.NvSciBufImageAttrKey_PlaneAlignedSize)[plane]
    device = buffer.region.data[offset : offset + size]
    for row in range(lines):  # one memcpy a line
        d = device[(y0 + row) * pitch + first :][:line]
        h = host[row * host_pitch :][:line]
        if to_buffer:
            d[:] = h
        else:
            h[:] = d
