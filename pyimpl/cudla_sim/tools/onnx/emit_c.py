"""``cudla-sim compile --emit-c``: a C program around one loadable.

It knows shapes, scales and places of the network's inputs and outputs, reads arrays of the ONNX
model's shapes and types from files, runs the network with cuDLA, and writes what comes out.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

from ...core.text import printable
from ...nvdla import annotation, layout
from ...nvdla.annotation import PortNote
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import DataCategory, Loadable, TensorDesc

_C_TYPES = {
    "float16": "_Float16",
    "float32": "float",
    "float64": "double",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "int64": "int64_t",
}
_TEMPLATE = Path(__file__).with_name("emitted.c")


def program(loadable: bytes, name: str) -> str:
    """The text of the program. Raises NvdlaError for a loadable that does not say what it holds."""
    network = Loadable.parse(loadable)
    note = annotation.read(network)
    if note is None:
        raise NvdlaError("the loadable does not say how its tensors hold real numbers")
    described = []
    for kind, notes, tensors in (
        ("inputs", note.inputs, network.inputs),
        ("outputs", note.outputs, network.outputs),
    ):
        ports = ",\n".join(_port(*pair) for pair in zip(notes, tensors, strict=True))
        described.append(f"static const struct port {kind}[] = {{\n{ports}\n}};\n")
    readers, writers = (_cases(word) for word in ("read", "write"))
    text = _TEMPLATE.read_text()
    for mark, made in (
        ("/* @ports@ */", "\n".join(described)),
        ("/* @read@ */", readers),
        ("/* @write@ */", writers),
        ("@name@", _plain(name)),
    ):
        text = text.replace(mark, made)
    return text


def _plain(text: str) -> str:
    """Text that ends neither a comment nor a string."""
    return printable(text).replace("*/", "* /").replace('"', "'").replace("\\", "/")


def _cases(word: str) -> str:
    """A case for each type that an array of the model can have."""
    read = "case {0}: return ((const {1} *)array)[at];"
    write = "case {0}: (({1} *)array)[at] = ({1})value; break;"
    form = read if word == "read" else write
    return "\n    ".join(form.format(name.upper(), kind) for name, kind in _C_TYPES.items())


def _port(note: PortNote, tensor: TensorDesc) -> str:
    """The initialiser of a ``struct port``."""
    if note.dtype not in _C_TYPES:
        raise NvdlaError(f"{note.name!r} has elements of type {note.dtype}, which C has not")
    stored = layout.tensor_dtype(tensor)
    sizes = list(note.split or note.value)
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    _, channels, height, width = note.value
    here = layout.element_offset(tensor, 0, 0, 0, 0)
    planar, atom = tensor.data_category == DataCategory.PLANAR, layout.tensor_atom(tensor)
    group = 1 if planar else atom // stored.itemsize if atom else channels
    places = [layout.element_offset(tensor, 0, c, 0, 0) - here for c in range(min(group, channels))]
    pixel = layout.element_offset(tensor, 0, 0, 0, 1) - here
    fields: dict[str, Any] = {
        "name": json.dumps(_plain(note.name)),
        "type": note.dtype.upper(),
        "stored": stored.name.upper(),
        "elements": prod(note.shape),
        "bytes": tensor.size,
        "dims": len(note.order),
        "size": _list(sizes[axis] for axis in note.order),
        "step": _list(steps[axis] for axis in note.order),
        "channels": channels,
        "height": height,
        "width": width,
        "group": group,
        "batch_bytes": tensor.size // max(tensor.n, 1),
        "group_bytes": tensor.strides[2] if planar or atom else 0,
        "line_bytes": tensor.strides[1],
        "pixel_bytes": pixel,
        "place": _list(places),
        "scale": _double(note.scale),
        "zero": note.zero,
        "integer_scale": _double(note.integer_scale),
        "integer_zero": note.integer_zero,
    }
    return "    {\n" + "".join(f"        .{k} = {v},\n" for k, v in fields.items()) + "    }"


def _list(numbers: Any) -> str:
    return "{" + ", ".join(str(int(number)) for number in numbers) + "}"


def _double(number: float | None) -> str:
    """Exactly, as C reads it; 1 where nothing is scaled."""
    return float.hex(1.0 if number is None else float(number))
