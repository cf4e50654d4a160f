"""What a loadable of ours says beside the standard parts: names, scales and places.

The compiler adds a blob that belongs to no interface and to no memory, so other runtimes
pass over it. Its data are JSON in UTF-8. With it real numbers can be fed to the network, and
every value in memory can be found and compared with the float network.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from math import prod
from typing import TYPE_CHECKING, Any

from ..core import untrusted
from .errors import BadLoadable
from .loadable import Loadable

if TYPE_CHECKING:
    from typing_extensions import Self

BLOB = "cudla-sim.network"
GENERATION = 1
"""Number of the format; a reader refuses a higher one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortNote:
    """A network input or output, in bind order.

    The ONNX tensor *name* of *shape* is the value (n, c, h, w) of shape *value* (reshaped to
    *split* first, where that is given) transposed by *order* and reshaped. *dtype* is numpy's
    name of its ONNX element type; where the ONNX tensor holds integers that stand for real
    numbers, these are ``(integer - integer_zero) * integer_scale``. The buffer holds
    ``round(real / scale) + zero`` (integers) or the real number itself (*scale* None). Channels
    of the buffer beyond ``value[1]`` have no meaning.
    """

    name: str
    shape: tuple[int, ...]
    value: tuple[int, int, int, int]
    order: tuple[int, ...] = (0, 1, 2, 3)
    dtype: str = "float32"
    scale: float | None = None
    zero: int = 0
    split: tuple[int, ...] = ()
    integer_scale: float | None = None
    integer_zero: int = 0

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Self:
        """From JSON. Raises ValueError for shapes that do not go together."""
        made: Self = _made(cls, raw, ("shape", "value", "order", "split"))
        stored = made.split or made.value
        shapes = {"shape": made.shape, "value": made.value, "split": made.split}
        for name, sizes in shapes.items():
            if not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError(f"{made.name!r} has the {name} {sizes}")
        if len(made.value) != 4 or not prod(made.shape) == prod(made.value) == prod(stored):
            raise ValueError(f"{made.name!r}: {shapes} are not the same elements")
        if sorted(made.order) != list(range(len(stored))):
            raise ValueError(f"{made.name!r}: {made.order} is no order of {len(stored)} axes")
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceNote:
    """A value of the network that lies in memory when *operations* of *task* have run.

    Feature format: *address* counts in the task's address list, strides are in bytes, *value* is
    (n, c, h, w), *precision* a name of a precision; integers hold ``round(real / scale) + zero``;
    image n begins *batch* bytes after image n - 1. ``channels[i]`` is where channel i lies when
    they are not simply in order.
    """

    name: str
    value: tuple[int, int, int, int]
    operations: tuple[int, ...]
    address: int
    offset: int
    line: int
    surface: int
    batch: int = 0
    precision: str = "int8"
    scale: float | None = None
    zero: int = 0
    channels: tuple[int, ...] | None = None
    task: int = 0

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Self:
        """From JSON."""
        return _made(cls, raw, ("value", "operations", "channels"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationNote:
    """One hardware operation: names of the ONNX nodes whose work it does."""

    index: int
    nodes: tuple[str, ...]
    task: int = 0

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Self:
        """From JSON."""
        return _made(cls, raw, ("nodes",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """All of it. *options* are those of the compilation, for people to read."""

    inputs: tuple[PortNote, ...]
    outputs: tuple[PortNote, ...]
    operations: tuple[OperationNote, ...] = ()
    places: tuple[PlaceNote, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the data of the blob :data:`BLOB`."""
        content = {"generation": GENERATION, **asdict(self)}
        text = json.dumps(content, separators=(",", ":"), allow_nan=False, default=_plain)
        return text.encode()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read the data of a blob; BadLoadable if they are not what :meth:`encode` makes."""
        try:
            raw = untrusted.parse_json(data)
            generation = raw["generation"]
            if generation > GENERATION:
                raise BadLoadable(
                    f"the blob {BLOB!r} has format {generation}; this version reads {GENERATION}"
                )
            return cls(
                inputs=tuple(PortNote.of(item) for item in raw["inputs"]),
                outputs=tuple(PortNote.of(item) for item in raw["outputs"]),
                operations=tuple(OperationNote.of(item) for item in raw["operations"]),
                places=tuple(PlaceNote.of(item) for item in raw["places"]),
                options=dict(raw["options"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise BadLoadable(f"the blob {BLOB!r} cannot be read: {reason}") from None


def read(loadable: Loadable) -> Annotation | None:
    """Return what a loadable says of itself, None if it was not made by our compiler."""
    blob = loadable.blobs.get(BLOB)
    return None if blob is None else Annotation.decode(bytes(blob.data))


def _plain(number: Any) -> Any:
    """A number of numpy as one of Python."""
    return number.item()


def _made(kind: type[Any], raw: dict[str, Any], lists: tuple[str, ...]) -> Any:
    """Make a dataclass from JSON: lists become tuples, unknown members are left out."""
    known = {item.name for item in fields(kind)}
    return kind(
        **{
            name: tuple(value) if name in lists and value is not None else value
            for name, value in raw.items()
            if name in known
        }
    )
