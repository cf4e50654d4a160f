"""DMA: how the units reach memory.

Everything is a view of host memory, never a copy. An access is checked as a whole against the
ranges that the engine may touch. Feature data must lie inside them; weights and SDP operands may
run past the end of their buffer, because software stores only real kernels but the hardware also
fetches the padding ones: the missing bytes read as zero.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import HardwareFault, MemoryAccessError

Bytes = NDArray[np.uint8]

DTYPES = (np.dtype("i1"), np.dtype("<i2"), np.dtype("<f2"))
"""Element type by precision number."""


class Range(Protocol):
    """A mapped range of addresses."""

    @property
    def base(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def data(self) -> Bytes: ...
    @property
    def name(self) -> str: ...
    @property
    def writable(self) -> bool: ...


class Space(Protocol):
    """What can look up ranges (``cudla_sim.core.memory.AddressSpace`` or :class:`Windows`)."""

    @property
    def signature(self) -> tuple[int, ...] | None:
        """Where everything lies: equal ones give every access the same host address. None if nobody
        can say."""

    def find(self, address: int, /) -> Any: ...
    def explain(self, address: int, size: int, /) -> str: ...


class Window:
    """One range of addresses that a task may touch. *whole* is *data* with a margin behind it."""

    __slots__ = ("base", "data", "name", "size", "whole", "writable")

    def __init__(
        self,
        base: int,
        data: Bytes,
        name: str,
        writable: bool = True,
        whole: Bytes | None = None,
    ) -> None:
        self.base = base
        self.size = len(data)
        self.data = data
        self.name = name
        self.writable = writable
        self.whole = whole


class Windows:
    """The ranges of one task, ordered by address."""

    def __init__(self, windows: Iterable[Window]) -> None:
        self._windows = sorted(windows, key=lambda item: (item.base, item.size))
        self._bases = [item.base for item in self._windows]
        self.signature: tuple[int, ...] = tuple(
            number
            for item in self._windows
            for number in (
                item.base,
                item.size,
                item.data.__array_interface__["data"][0],
                item.writable,
            )
        )

    def find(self, address: int) -> Window | None:
        """Return the range that contains *address*, or None."""
        for index in range(bisect_right(self._bases, address) - 1, -1, -1):
            item = self._windows[index]
            if address < item.base + item.size:
                return item
        return None

    def explain(self, address: int, size: int) -> str:
        """Name the nearest ranges below and above an address."""
        index = bisect_right(self._bases, address)
        near = self._windows[max(index - 1, 0) : index + 1]
        if not near:
            return "the task has no memory at all"
        return "nearest are " + " and ".join(
            f"{item.name} 0x{item.base:x}..0x{item.base + item.size:x}" for item in near
        )


def touch(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays share memory without being the same elements in the same places."""
    if not np.may_share_memory(one, other):
        return False
    same = (
        one.__array_interface__["data"][0] == other.__array_interface__["data"][0]
        and one.strides == other.strides
        and one.shape == other.shape
    )
    return not same


Span = tuple[int, int]
"""Host addresses: the first one, and the first one behind."""


def _span(data: Bytes) -> Span:
    host: int = data.__array_interface__["data"][0]
    return host, host + data.nbytes


class Access(NamedTuple):
    """Bytes that a unit touches."""

    unit: str
    address: int
    size: int
    write: bool


class Padded(NamedTuple):
    """Bytes that a unit reads, and the copy of them, with zeros behind, that it was given."""

    access: Access
    copy: Bytes


class Memory:
    """One memory port of the engine. ``noted`` collects its accesses while it is a list; None in it
    stands for one that was given neither as a view of the memory nor as a copy that can be made
    another time. ``written`` collects where views to write to lie, while it is a list."""

    __slots__ = ("_warned", "noted", "space", "warn", "written")

    def __init__(self, space: Space) -> None:
        self.space = space
        self.warn: Callable[[str], None] = lambda text: None
        self._warned: set[str] = set()
        self.noted: list[Access | Padded | None] | None = None
        self.written: list[Span] | None = None

    def _fail(self, unit: str, address: int, size: int, write: bool) -> MemoryAccessError:
        verb = "writes" if write else "reads"
        return MemoryAccessError(
            f"{unit} {verb} {size} bytes at 0x{address:x}, which is not inside one mapped range;"
            f" {self.space.explain(address, size)}",
            address,
            size,
            write,
        )

    def view(self, unit: str, address: int, size: int, write: bool = False) -> Bytes:
        """Return *size* bytes at *address*; MemoryAccessError if they are not all mapped."""
        region = self.space.find(address)
        if region is None or address + size > region.base + region.size:
            return self._margin(region, unit, address, size, write)
        if write and not region.writable:
            raise self._fail(unit, address, size, write)
        start = address - region.base
        data: Bytes = region.data[start : start + size]
        if self.noted is not None:
            self.noted.append(Access(unit, address, size, write))
        if write and self.written is not None:
            self.written.append(_span(data))
        return data

    def host(self, access: Access) -> int:
        """The host address of an access; 0 where it is not (completely) inside mapped memory."""
        region = self.space.find(access.address)
        if region is None or access.address + access.size > region.base + region.size:
            return 0
        if access.write and not region.writable:
            return 0
        base: int = region.data.__array_interface__["data"][0]
        return base + access.address - region.base

    def _margin(self, region: Any, unit: str, address: int, size: int, write: bool) -> Bytes:
        """Bytes that run into the margin of a range, where it has one (setting overrun)."""
        whole = None if region is None else region.whole
        if whole is None or address + size > region.base + len(whole):
            raise self._fail(unit, address, size, write)
        if self.noted is not None:
            self.noted.append(None)
        text = (
            f"{unit} {'writes' if write else 'reads'} {size} bytes at 0x{address:x},"
            f" {address + size - region.base - region.size} bytes past the end of {region.name}"
            f" ({region.size} bytes); the margin of CUDLA_SIM_OVERRUN=warn takes them"
        )
        if text not in self._warned:
            self._warned.add(text)
            self.warn(text)
        data: Bytes = whole[address - region.base : address - region.base + size]
        if write and self.written is not None:
            self.written.append(_span(data))
        return data

    def read_padded(
        self, unit: str, address: int, size: int, slack: int, lasting: bool = False
    ) -> Bytes:
        """Return *size* bytes; up to *slack* bytes past the end of the mapped range are zero.

        *lasting*: a copy is all that it takes to read what memory then holds another time.
        """
        region = self.space.find(address)
        if region is None:
            raise self._fail(unit, address, size, False)
        start = address - region.base
        data: Bytes = region.data[start : start + size]
        missing = size - len(data)
        if missing > slack:
            raise self._fail(unit, address, size, False)
        access = Access(unit, address, len(data), False)
        if missing == 0:
            if self.noted is not None:
                self.noted.append(access)
            return data
        copy: Bytes = np.concatenate([data, np.zeros(missing, np.uint8)])
        if self.noted is not None:
            self.noted.append(Padded(access, copy) if lasting else None)
        return copy

    def strided(
        self,
        unit: str,
        address: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        write: bool = False,
    ) -> NDArray[Any]:
        """Return a view of *shape* with byte *strides* (none negative) at *address*.

        Raises HardwareFault if elements must overlap.
        """
        size, amount = dtype.itemsize, dtype.itemsize
        for count, stride in zip(shape, strides, strict=True):
            size += (count - 1) * stride
            amount *= count
        if amount > size:
            raise HardwareFault(unit, f"{amount} bytes of data overlap in {size} bytes of memory")
        data = self.view(unit, address, size, write)
        return np.ndarray(shape, dtype, data, 0, strides)

    def cube(
        self,
        unit: str,
        address: int,
        precision: int,
        shape: tuple[int, int, int],
        line_stride: int,
        surface_stride: int,
        atom: int,
        write: bool = False,
    ) -> NDArray[Any]:
        """View a feature cube of *shape* (channels, height, width) as [surface, y, x, channel].

        The last axis has ``atom`` bytes; channels after the real ones are padding. Lines and
        surfaces must not overlap. Source: nvdla hardware manual "In-memory data formats".
        """
        channels, height, width = shape
        dtype = DTYPES[precision]
        per_atom = atom // dtype.itemsize
        surfaces = -(-channels // per_atom)
        line = width * atom
        if height > 1 and line_stride < line:
            raise HardwareFault(
                unit, f"line stride {line_stride} is less than {width} pixels of {atom} bytes"
            )
        plane = (height - 1) * line_stride + line
        if surfaces > 1 and surface_stride < plane:
            raise HardwareFault(
                unit,
                f"surface stride {surface_stride} is less than the {plane} bytes of a surface"
                f" of {height} lines",
            )
        strides = (surface_stride, line_stride, atom, dtype.itemsize)
        return self.strided(
            unit, address, dtype, (surfaces, height, width, per_atom), strides, write
        )
