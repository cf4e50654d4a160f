"""Describing a loadable: as plain data for machines, as text for people."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from itertools import zip_longest
from typing import Any

from ..core.text import printable
from . import emu, target
from .annotation import BLOB, PortNote
from .descriptors import (
    Activation,
    ConvOp,
    ConvSurface,
    DataCube,
    MemoryType,
    PdpOp,
    Precision,
    SdpOp,
    SdpOpType,
    SdpStage,
)
from .errors import NvdlaError
from .facts.formats import FEATURE, FEATURE_X8
from .facts.modes import Alu, Pooling, word
from .hw.units.conv.pixels import NAMES
from .loadable import (
    DataCategory,
    DataType,
    Interface,
    Loadable,
    MemoryDomain,
    MemoryFlags,
    TensorDesc,
)
from .real_tensors import described

_DATA_FORMATS = {0: "unknown", 1: "NCHW", 2: "NHWC", 3: "NCxHWx"}
_MODES = ("per layer", "per kernel", "per point")


def _pixel_format(number: int) -> str:
    return {FEATURE: "FEATURE", FEATURE_X8: "FEATURE_X8"}.get(
        number, NAMES.get(number, f"format {number}")
    )


def _enum(kind: Any, value: int) -> str:
    try:
        return str(kind(value).name)
    except ValueError:
        return str(value)


def _tensor(tensor: TensorDesc, note: PortNote | None) -> dict[str, Any]:
    """A tensor descriptor, with what the numbers in it mean where the loadable says that."""
    real = {}
    if note is not None:
        real["real"] = {
            "name": note.name,
            "shape": list(note.shape),
            "dtype": note.dtype,
            "scale": note.scale,
            "zero_point": note.zero,
        }
    return {
        "name": tensor.name,
        "shape": [tensor.n, tensor.c, tensor.h, tensor.w],
        "data_type": _enum(DataType, tensor.data_type).lower(),
        "data_format": _DATA_FORMATS.get(tensor.data_format, str(tensor.data_format)),
        "data_category": _enum(DataCategory, tensor.data_category).lower(),
        "pixel_format": _pixel_format(tensor.pixel_format),
        "size": tensor.size,
        "offset": tensor.offset,
        "strides": [stride for stride in tensor.strides if stride],
        **real,
    }


def _tensors(loadable: Loadable, problems: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Inputs and outputs, in bind order."""
    try:
        note = described(loadable) if BLOB in loadable.blobs else None
    except NvdlaError as error:
        problems.append(str(error))
        note = None
    return {
        "inputs": [
            _tensor(*two) for two in zip_longest(loadable.inputs, note.inputs if note else ())
        ],
        "outputs": [
            _tensor(*two) for two in zip_longest(loadable.outputs, note.outputs if note else ())
        ],
    }


def _cube(cube: DataCube) -> dict[str, Any] | None:
    """Size and place of a cube, None if it is not used."""
    if cube.width == 0 and cube.size == 0:
        return None
    return {
        "shape": [cube.channel, cube.height, cube.width],
        "memory": _enum(MemoryType, cube.type),
        "address": cube.address,
        "offset": cube.offset,
        "size": cube.size,
        "line_stride": cube.line_stride,
        "surface_stride": cube.surf_stride,
    }


def _stage(stage: SdpStage) -> str | None:
    """One line about an SDP stage, None if it is off."""
    if not stage.enable:
        return None
    words = []
    if stage.type in (SdpOpType.ADD, SdpOpType.BOTH):
        words.append(word(Alu, stage.alu_type))
    if stage.type in (SdpOpType.MUL, SdpOpType.BOTH):
        words.append("mul")
    if words:
        words.append(_MODES[stage.mode] if stage.mode < 3 else f"mode {stage.mode}")
    if stage.act in list(Activation)[1:]:
        words.append(word(Activation, stage.act))
    return " ".join(words) or "pass"


def _summary(layer: target.LayerDesc) -> str:
    """What a layer does, in a few words."""
    operation, surface = layer.operation, layer.surface
    if isinstance(operation, ConvOp) and isinstance(surface, ConvSurface):
        mode = "winograd" if operation.conv_mode else "direct"
        kind = _pixel_format(operation.data_format)
        return (
            f"{mode} {operation.kernel_height_csc}x{operation.kernel_width_csc}"
            f" c{operation.kernel_channel_csc} k{surface.dst.channel}"
            f" stride {operation.conv_stride_y},{operation.conv_stride_x}"
            f" pad {operation.pad_y_top},{operation.pad_y_bottom},"
            f"{operation.pad_x_left},{operation.pad_x_right}"
            f" dilation {operation.dilation_y},{operation.dilation_x} {kind}"
        )
    if isinstance(operation, SdpOp):
        stages = (("x1", operation.x1), ("x2", operation.x2), ("y", operation.y))
        parts = [f"{name}: {text}" for name, item in stages if (text := _stage(item))]
        cvt = operation.out_cvt
        parts.append(f"cvt ({cvt.offset}, {cvt.scale}, >>{cvt.truncate})")
        return ", ".join(parts)
    if isinstance(operation, PdpOp):
        return (
            f"{word(Pooling, operation.pool_mode)}"
            f" {operation.pool_height + 1}x{operation.pool_width + 1}"
            f" stride {operation.stride_y},{operation.stride_x}"
            f" pad {operation.pad_top},{operation.pad_bottom},"
            f"{operation.pad_left},{operation.pad_right}"
        )
    return ""


def _plain(value: Any) -> Any:
    """Turn descriptors into JSON-able data."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(item) for key, item in asdict(value).items()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def _layer(layer: target.LayerDesc) -> dict[str, Any]:
    cubes = {}
    for name in ("src", "weight", "x1", "x2", "y", "dst"):
        cube = getattr(layer.surface, name, None)
        described = _cube(cube) if cube is not None else None
        if described is not None:
            cubes[name] = described
    precision = next(
        (
            getattr(layer.operation, name)
            for name in ("out_precision", "dst_precision", "precision")
            if hasattr(layer.operation, name)
        ),
        0,
    )
    waits = [
        {"operation": item.index, "event": item.event}
        for item in (*layer.dependency.consumers, layer.dependency.fused_parent)
        if item.index != -1
    ]
    return {
        "task": layer.task,
        "index": layer.index,
        "unit": layer.op_type.name,
        "precision": _enum(Precision, precision).lower(),
        "summary": _summary(layer),
        "dependencies": layer.dependency.dependency_count,
        "tells": waits,
        "cubes": cubes,
        "parameters": _plain(layer.operation),
    }


def _emu_layers(loadable: Loadable, number: int) -> list[dict[str, Any]]:
    import numpy as np

    task = loadable.tasks[number]

    def resolve(position: int) -> Any:
        address = loadable.addresses[task.address_list[position]]
        image = target.memory_image(loadable, address.mem_id)
        return np.frombuffer(image, np.uint8)[address.offset :]

    result = []
    for index, operation in enumerate(emu.operations(resolve, loadable.new_layout)):
        name = _enum(emu.EmuOp, operation.op_type).lower()
        shape = [operation.src.channel, operation.src.height, operation.src.width]
        result.append(
            {
                "task": number,
                "index": index,
                "unit": "EMU",
                "precision": "fp16" if operation.src.format == emu.EmuFormat.FF16 else "int8",
                "summary": f"{name} of {shape[0]} channels on the host",
                "dependencies": 0,
                "tells": [],
                "cubes": {},
                "parameters": _plain(operation),
            }
        )
    return result


def describe(loadable: Loadable) -> dict[str, Any]:
    """Return what a loadable holds as JSON-able data.

    Keys: version, interface_version, inputs and outputs (with "real" where our compiler made them:
    name, shape and dtype of the ONNX tensor, scale and zero_point of real = (element - zero_point)
    * scale, None for elements that are real numbers themselves), memory, tasks, layers, target
    (possible configurations and why others are excluded), problems (lists that do not decode).
    """
    problems: list[str] = []
    layers: list[dict[str, Any]] = []
    try:
        layers = [_layer(item) for item in target.layers(loadable)]
    except NvdlaError as error:
        problems.append(str(error))
    for number, task in enumerate(loadable.tasks):
        if task.interface == Interface.EMU1:
            try:
                layers += _emu_layers(loadable, number)
            except (NvdlaError, IndexError) as error:
                problems.append(f"task {number}: {error}")
    order = {task: place for place, task in enumerate(_task_order(loadable))}
    layers.sort(key=lambda item: (order.get(item["task"], 0), item["index"]))
    found = target.candidates(loadable)
    return {
        "version": str(loadable.version),
        "interface_version": str(loadable.interface_version),
        "descriptor_layout": "new (32-byte cubes)"
        if loadable.new_layout
        else "old (28-byte cubes)",
        **_tensors(loadable, problems),
        "memory": [
            {
                "index": index,
                "size": entry.size,
                "domain": _enum(MemoryDomain, entry.domain).lower(),
                "flags": [flag.name for flag in MemoryFlags if flag & entry.flags],
                "bind_id": entry.bind_id if entry.bindable else None,
                "contents": [
                    {"blob": name, "offset": offset}
                    for name, offset in zip(entry.contents, entry.offsets, strict=False)
                    if name
                ],
            }
            for index, entry in enumerate(loadable.memories)
        ],
        "tasks": [
            {
                "index": index,
                "interface": _enum(Interface, task.interface),
                "instance": task.instance,
                "addresses": list(task.address_list),
            }
            for index, task in enumerate(loadable.tasks)
        ],
        "layers": layers,
        "target": {
            "compiled_for": target.compiled_for(loadable) or None,
            "possible": [name for name, why in found.items() if why is None],
            "excluded": {name: why for name, why in found.items() if why is not None},
        },
        "problems": problems,
    }


def _task_order(loadable: Loadable) -> list[int]:
    return [task for submit in loadable.submits for task in submit.task_id]


def _shape_text(shape: list[int]) -> str:
    return "x".join(str(value) for value in shape)


def render(description: dict[str, Any]) -> str:
    """Return a description as text: tensors, memory, layers, target."""
    lines = [
        f"loadable {description['version']}, interface {description['interface_version']},"
        f" {description['descriptor_layout']}"
    ]
    possible, said = (description["target"][name] for name in ("possible", "compiled_for"))
    if said is not None:
        lines.append(f"compiled for {said}")
    if said is None or said not in possible:
        lines.append("fits " + (", ".join(possible) or "no known configuration"))
    for name, why in description["target"]["excluded"].items():
        lines.append(f"  not {name}: {why}")
    for kind in ("inputs", "outputs"):
        for number, item in enumerate(description[kind]):
            lines.append(
                f"{kind[:-1]} {number} {item['name']!r}: {_shape_text(item['shape'])}"
                f" {item['data_type']} {item['pixel_format']}, {item['size']} bytes,"
                f" strides {item['strides']}"
            )
            if "real" in item:
                lines.append(f"  {_meaning(item['real'])}")
    total = sum(item["size"] for item in description["memory"])
    lines.append(f"memory: {len(description['memory'])} buffers, {total} bytes")
    for item in description["memory"]:
        names = ", ".join(part["blob"] for part in item["contents"][:4])
        more = len(item["contents"]) - 4
        lines.append(
            f"  {item['index']:3} {item['size']:>10} {'|'.join(item['flags']) or '-'}"
            f" {names}{f' … {more} more' if more > 0 else ''}".rstrip()
        )
    for item in description["tasks"]:
        lines.append(f"task {item['index']}: {item['interface']}")
        for layer in description["layers"]:
            if layer["task"] == item["index"]:
                lines.append(_layer_line(layer))
    lines += [f"problem: {text}" for text in description["problems"]]
    return "\n".join(printable(line) for line in lines)


def _meaning(real: dict[str, Any]) -> str:
    """How real numbers lie in a buffer."""
    of = f"{real['name']!r} {_shape_text(real['shape'])} {real['dtype']}"
    if real["scale"] is None:
        return f"holds {of} as it is"
    zero = f" - {real['zero_point']}" if real["zero_point"] else ""
    return f"holds {of} = (element{zero}) * {real['scale']:.9g}".replace("(element)", "element")


def _layer_line(layer: dict[str, Any]) -> str:
    cubes = layer["cubes"]
    shapes = " -> ".join(
        _shape_text(cubes[name]["shape"]) for name in ("src", "dst") if name in cubes
    )
    return (
        f"  {layer['index']:3} {layer['unit']:<5} {layer['precision']:<5} {shapes:<28}"
        f" {layer['summary']}"
    ).rstrip()
