"""A text picture of where the elements of a tensor lie: the question users ask most."""

from __future__ import annotations

from ..core.text import printable
from . import layout
from .errors import NvdlaError
from .loadable import TensorDesc

_MOST_COLUMNS = 4
_MOST_CHANNELS = 6


def where(tensor: TensorDesc, n: int, c: int, h: int, w: int) -> str:
    """The sum that leads to element (n, c, h, w), and its result.

    Raises NvdlaError for an element outside the tensor.
    """
    limits = (tensor.n, tensor.c, tensor.h, tensor.w)
    if not all(0 <= i < limit for i, limit in zip((n, c, h, w), limits, strict=True)):
        raise NvdlaError(f"element {(n, c, h, w)} is outside (n, c, h, w) = {limits}")
    size = layout.tensor_dtype(tensor).itemsize
    atom = layout.tensor_atom(tensor)
    image = tensor.size // tensor.n
    line, surface = tensor.strides[1], tensor.strides[2]
    offset = layout.element_offset(tensor, n, c, h, w)
    parts = [f"{n}*{image}"] if tensor.n > 1 else []
    if atom:
        per_atom = atom // size
        parts += [
            f"{c // per_atom}*{surface}",
            f"{h}*{line}",
            f"{w}*{atom}",
            f"{c % per_atom}*{size}",
        ]
        names = [f"c/{per_atom}*surface", "h*line", f"w*{atom}", f"c%{per_atom}*{size}"]
    else:
        within = offset - n * image - h * line
        parts += [f"{h}*{line}", str(within)]
        names = ["h*line", "pixel and channel"]
    names = ["n*image", *names] if tensor.n > 1 else names
    return f"({n}, {c}, {h}, {w}): {' + '.join(names)} = {' + '.join(parts)} = {offset}"


def picture(tensor: TensorDesc) -> str:
    """The tensor's first pixels in memory order: a row per line, ``cN`` is channel N."""
    size = layout.tensor_dtype(tensor).itemsize
    atom = layout.tensor_atom(tensor)
    shape = f"{tensor.n}x{tensor.c}x{tensor.h}x{tensor.w}"
    lines = [
        f"{printable(tensor.name)}: {shape} {layout.tensor_dtype(tensor)}, "
        f"{tensor.size} bytes, line {tensor.strides[1]}, surface {tensor.strides[2]}"
    ]
    if atom:
        lines += _feature(tensor, atom // size, atom)
    else:
        lines += _image(tensor)
    last = (tensor.n - 1, tensor.c - 1, tensor.h - 1, tensor.w - 1)
    lines += [where(tensor, 0, 0, 0, 0), where(tensor, *last)]
    return "\n".join(lines)


def _feature(tensor: TensorDesc, per_atom: int, atom: int) -> list[str]:
    surfaces = -(-tensor.c // per_atom)
    padding = surfaces * per_atom - tensor.c
    lines = [
        f"feature format: atoms of {atom} bytes hold {per_atom} channels of one pixel; "
        f"{surfaces} surface(s), {padding} padding channel(s) at the end"
    ]
    columns = min(tensor.w, _MOST_COLUMNS)
    for surface in range(min(surfaces, 2)):
        first = surface * per_atom
        used = min(per_atom, tensor.c - first)
        shown = [f"c{first + i}" for i in range(min(used, _MOST_CHANNELS))]
        if used > _MOST_CHANNELS:
            shown[-1:] = ["..", f"c{first + used - 1}"]
        if used < per_atom:
            shown.append("pad")
        cell = " ".join(shown)
        lines.append(f"surface {surface} at {surface * tensor.strides[2]}:")
        for row in range(min(tensor.h, 2)):
            start = surface * tensor.strides[2] + row * tensor.strides[1]
            cells = "".join(f"|w{w}: {cell}" for w in range(columns))
            more = " ..." if tensor.w > columns else "|"
            lines.append(f"  h{row} at {start:6d} {cells}{more}")
    return lines


def _image(tensor: TensorDesc) -> list[str]:
    lines = ["image format: pitch-linear lines of interleaved channels"]
    columns = min(tensor.w, _MOST_COLUMNS)
    for row in range(min(tensor.h, 2)):
        cells = []
        for w in range(columns):
            places = [(layout.element_offset(tensor, 0, c, row, w), c) for c in range(tensor.c)]
            cells.append(f"|w{w}: " + " ".join(f"c{c}" for _, c in sorted(places)))
        more = " ..." if tensor.w > columns else "|"
        lines.append(f"  h{row} at {row * tensor.strides[1]:6d} {''.join(cells)}{more}")
    return lines
