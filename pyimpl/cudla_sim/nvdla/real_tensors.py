"""Real numbers in the buffers of a loadable of the ONNX compiler, and out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.memory import Bytes
from . import annotation, layout
from .annotation import Annotation, PortNote
from .errors import NvdlaError
from .loadable import DataCategory, Loadable, TensorDesc
from .scaled_inputs import remark

Real = NDArray[np.float32]


def steps_of(values: NDArray[Any], dtype: np.dtype[Any], scale: float | None, zero: int) -> Any:
    """Real numbers as elements of a buffer; what does not fit takes the nearest that does."""
    if scale is None:
        limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        whole = values if dtype.kind == "f" else np.rint(values)
        return np.clip(whole, float(limits.min), float(limits.max)).astype(dtype)
    bounds = np.iinfo(dtype)
    found = np.rint(values.astype(np.float64) / scale) + zero
    return np.clip(found, bounds.min, bounds.max).astype(dtype)


def reals_of(elements: NDArray[Any], scale: float | None, zero: int = 0) -> Real:
    """Elements of a buffer as real numbers."""
    if scale is None:
        return elements.astype(np.float32)
    return ((elements.astype(np.float64) - zero) * scale).astype(np.float32)


def described(loadable: Loadable) -> Annotation:
    """What a loadable says of its tensors. Raises NvdlaError where it says nothing, or something
    else than its tensor descriptors."""
    found = annotation.read(loadable)
    if found is None:
        raise NvdlaError(
            "the loadable does not say how its tensors hold real numbers (it is not from"
            " cudla-sim compile or Network); run it on raw buffers"
        )
    for kind, ports, tensors in (
        ("inputs", found.inputs, loadable.inputs),
        ("outputs", found.outputs, loadable.outputs),
    ):
        if len(ports) != len(tensors):
            raise NvdlaError(f"{len(ports)} {kind} are described, the loadable has {len(tensors)}")
        for port, tensor in zip(ports, tensors, strict=True):
            n, c, h, w = port.value
            if (n, h, w) != (tensor.n, tensor.h, tensor.w) or c > tensor.c:
                raise NvdlaError(
                    f"{port.name!r} is described as {port.value}, its tensor in the loadable is"
                    f" {(tensor.n, tensor.c, tensor.h, tensor.w)}"
                )
    return found


def pack(
    note: PortNote,
    tensor: TensorDesc,
    atom: int,
    array: NDArray[Any],
    told: Callable[[str, str], None] | None = None,
) -> Bytes:
    """The buffer of a tensor that holds an array in the shape of the ONNX model; *atom*: bytes of
    the configuration's memory atom. *told* gets name and text where the numbers are odd. Raises
    NvdlaError for NaN where there are integers."""
    moved = _to_value(note, array)
    dtype = layout.tensor_dtype(tensor)
    if dtype.kind != "f" and np.isnan(moved).any():
        raise NvdlaError(f"input {note.name!r} has NaN, its buffer holds {dtype}")
    if told is not None and (text := remark(note, moved, dtype)):
        told(note.name, text)
    elements = steps_of(moved, dtype, note.scale, note.zero)
    missing = tensor.c - elements.shape[1]
    if missing > 0:
        elements = np.pad(elements, ((0, 0), (0, missing), (0, 0), (0, 0)))
    line, surface = tensor.strides[1], tensor.strides[2]
    if tensor.data_category == DataCategory.PLANAR:
        data = layout.pack_planar(elements, line, surface)
    elif layout.tensor_atom(tensor):
        steps = (line, surface, tensor.size // max(tensor.n, 1))
        data = layout.pack_feature(elements, atom, steps, tensor.size)
    else:
        data = layout.pack_tensor(tensor, elements)
    return np.pad(data[: tensor.size], (0, max(tensor.size - len(data), 0)))


def unpack(note: PortNote, tensor: TensorDesc, atom: int, buffer: Bytes) -> NDArray[Any]:
    """The array in the shape of the ONNX model that a buffer holds."""
    shape, dtype = (tensor.n, tensor.c, tensor.h, tensor.w), layout.tensor_dtype(tensor)
    line, surface = tensor.strides[1], tensor.strides[2]
    if tensor.data_category == DataCategory.PLANAR:
        elements = layout.unpack_planar(buffer, shape, dtype, line, surface)
    elif layout.tensor_atom(tensor):
        steps = (line, surface, tensor.size // max(tensor.n, 1))
        elements = layout.unpack_feature(buffer, shape, dtype, atom, steps)
    else:
        elements = layout.unpack_tensor(tensor, buffer)
    return _from_value(note, reals_of(elements[:, : note.value[1]], note.scale, note.zero))


def _to_value(note: PortNote, array: NDArray[Any]) -> NDArray[Any]:
    """From the ONNX tensor to real numbers [n, c, h, w]."""
    stored = note.split or note.value
    moved = array.reshape([stored[axis] for axis in note.order])
    if note.integer_scale is not None:
        moved = (moved.astype(np.float64) - note.integer_zero) * note.integer_scale
    return moved.transpose(np.argsort(note.order)).reshape(note.value)


def _from_value(note: PortNote, values: Real) -> NDArray[Any]:
    """From real numbers [n, c, h, w] to the ONNX tensor."""
    moved = values.reshape(note.split or note.value).transpose(note.order).reshape(note.shape)
    if note.integer_scale is None:
        return np.array(moved, order="C")  # of any rank, 0 too
    return np.asarray(steps_of(moved, np.dtype(note.dtype), note.integer_scale, note.integer_zero))
