"""Telling for which hardware configuration a loadable was compiled.

Every data cube and every convolution is compatible with some configurations only: lines must not
overlap for the memory atom, precisions must exist, and ``entry_per_slice`` follows from the size
of the convolution buffer. A configuration is excluded by a single contradiction.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..core import process
from . import annotation, descriptors
from .descriptors import (
    DEPENDENCY_SIZE,
    NETWORK_SIZE,
    OPERATION_SIZE,
    SURFACE_SIZE,
    BdmaSurface,
    CommonOpDesc,
    ConvOp,
    ConvSurface,
    DataCube,
    MemoryType,
    NetworkDesc,
    Operation,
    OpType,
    RubikOp,
    SdpOp,
    SdpSurface,
    Surface,
)
from .errors import NvdlaError
from .facts import precisions
from .facts.cbuf import entries_per_slice
from .facts.configs import CONFIGS, OF_NVDLA_COMPILER, HardwareConfig, config
from .facts.formats import FEATURE
from .facts.modes import Rubik
from .facts.precisions import INT8, element_size
from .loadable import Interface, Loadable, TaskEntry
from .settings import Settings


@dataclass(frozen=True, slots=True)
class LayerDesc:
    """One hardware operation of a DLA task, decoded."""

    task: int
    index: int
    op_type: OpType
    dependency: CommonOpDesc
    operation: Operation
    surface: Surface


def memory_image(loadable: Loadable, mem_id: int) -> bytes:
    """Return the initial content of a memory, up to its last blob."""
    return memory_part(loadable, mem_id, 0, loadable.memories[mem_id].size)


def memory_part(loadable: Loadable, mem_id: int, start: int, end: int) -> bytes:
    """Bytes *start* to *end* of :func:`memory_image`."""
    entry = loadable.memories[mem_id]
    image = bytearray()
    for name, offset in zip(entry.contents, entry.offsets, strict=False):
        blob = loadable.blobs.get(name)
        if blob is None or entry.bindable or offset + blob.size > entry.size:
            continue
        first, last = max(offset, start), min(offset + blob.size, end)
        if last > start:
            image.extend(bytes(max(min(first, last) - start - len(image), 0)))
        if first < last:
            image[first - start : last - start] = blob.data[first - offset : last - offset]
    return bytes(image)


def _list(loadable: Loadable, task: TaskEntry, index: int) -> bytes:
    if not 0 <= index < len(task.address_list):
        raise NvdlaError(f"address index {index}: the task has {len(task.address_list)}")
    return memory_image(loadable, loadable.addresses[task.address_list[index]].mem_id)


def network_desc(loadable: Loadable, task: TaskEntry) -> NetworkDesc:
    """Return the network descriptor of a DLA task; NvdlaError if it is not there."""
    raw = _list(loadable, task, 0)
    if len(raw) < NETWORK_SIZE:
        raise NvdlaError(f"the network descriptor has {len(raw)} bytes of {NETWORK_SIZE}")
    return NetworkDesc.decode(raw)


def layers(loadable: Loadable) -> Iterator[LayerDesc]:
    """Decode all hardware operations, task by task; NvdlaError if lists are too short."""
    for number, task in enumerate(loadable.tasks):
        if task.interface != Interface.DLA1:
            continue
        network = network_desc(loadable, task)
        if network.num_operations == 0:
            continue
        operations = _list(loadable, task, network.operation_desc_index)
        surfaces = _list(loadable, task, network.surface_desc_index)
        graph = _list(loadable, task, network.dependency_graph_index)
        for index in range(network.num_operations):
            try:
                dependency = CommonOpDesc.decode(graph, offset=index * DEPENDENCY_SIZE)
                op_type = OpType(dependency.op_type)
                start = index * OPERATION_SIZE
                operation = descriptors.operation(op_type, operations[start : start + 116])
                start = index * SURFACE_SIZE
                surface = descriptors.surface(
                    op_type, surfaces[start : start + SURFACE_SIZE], loadable.new_layout
                )
            except (struct.error, ValueError) as error:
                raise NvdlaError(f"task {number} operation {index}: {error}") from None
            yield LayerDesc(number, index, op_type, dependency, operation, surface)


def cubes(layer: LayerDesc) -> Iterator[tuple[str, DataCube, int]]:
    """Yield (name, cube, precision) of the feature cubes of a layer that lie in memory."""
    operation, surface = layer.operation, layer.surface
    pairs: list[tuple[str, DataCube, int]] = []
    if isinstance(operation, ConvOp) and isinstance(surface, ConvSurface):
        if operation.data_format == FEATURE:
            pairs.append(("source", surface.src, operation.in_precision))
    elif isinstance(operation, SdpOp) and isinstance(surface, SdpSurface):
        pairs.append(("source", surface.src, operation.src_precision))
        pairs.append(("destination", surface.dst, operation.dst_precision))
    elif not isinstance(surface, BdmaSurface | ConvSurface | SdpSurface):
        precision = getattr(operation, "precision", getattr(operation, "in_precision", 0))
        pairs.append(("source", surface.src, precision))
        pairs.append(("destination", surface.dst, precision))
    for item in pairs:
        if item[1].type in (MemoryType.MC, MemoryType.CV):
            yield item


def _precisions(layer: LayerDesc) -> set[int]:
    operation = layer.operation
    return {getattr(operation, name) for name in precisions.ALL if hasattr(operation, name)}


def written(operation: Operation, surface: Surface) -> tuple[DataCube, int] | None:
    """The feature cube that an operation writes, and its precision; None where it is none, or goes
    on to the next unit."""
    if isinstance(surface, BdmaSurface):
        return None
    if isinstance(operation, RubikOp) and operation.mode == Rubik.SPLIT:
        return None  # split writes planes
    if surface.dst.type not in (MemoryType.MC, MemoryType.CV):
        return None
    members = (getattr(operation, name, None) for name in precisions.WRITTEN)
    return surface.dst, next((number for number in members if number is not None), 0)


def contradiction(layer: LayerDesc, hardware: HardwareConfig) -> str | None:
    """Return why a layer was not compiled for *hardware*, or None."""
    where = f"{layer.op_type.name} operation {layer.index}"
    for precision in _precisions(layer) - set(hardware.precisions):
        return f"{where} uses {precisions.name(precision)}"
    atom = hardware.memory_atom
    for name, cube, precision in cubes(layer):
        line = cube.width * atom
        if cube.height > 1 and cube.line_stride < line:
            return f"{where}: {name} line stride {cube.line_stride} for {cube.width} pixels"
        if cube.height > 1 and cube.line_stride != line and _fits_other(cube, precision, atom):
            return f"{where}: {name} line stride {cube.line_stride} for {cube.width} pixels"
        if cube.line_stride % atom or cube.surf_stride % atom:
            return f"{where}: {name} strides {cube.line_stride}, {cube.surf_stride}"
    operation, surface = layer.operation, layer.surface
    if isinstance(operation, ConvOp) and isinstance(surface, ConvSurface):
        return _convolution(where, operation, surface, hardware)
    return None


def _fits_other(cube: DataCube, precision: int, atom: int) -> bool:
    """True if the strides are exactly those of a packed cube with another memory atom."""
    for other in (8, 16, 32):
        if other == atom or cube.line_stride != cube.width * other:
            continue
        surfaces = -(-cube.channel * element_size(precision) // other)
        packed = cube.surf_stride == cube.line_stride * cube.height
        if packed and surfaces * cube.surf_stride <= cube.size:
            return True
    return False


def _convolution(
    where: str, operation: ConvOp, surface: ConvSurface, hardware: HardwareConfig
) -> str | None:
    dst = surface.dst
    if dst.width == 1 and dst.height == 1 and dst.line_stride != hardware.memory_atom:
        return f"{where}: 1 x 1 output with line stride {dst.line_stride}"
    direct = operation.data_format == FEATURE and operation.conv_mode == 0
    if direct and operation.in_precision == operation.out_precision:
        src = surface.src
        expected = entries_per_slice(hardware, src.width, src.channel, operation.in_precision)
        if operation.in_precision == INT8 and operation.entry_per_slice != expected:
            return f"{where}: entry_per_slice {operation.entry_per_slice} (here {expected})"
    return None


def candidates(loadable: Loadable) -> dict[str, str | None]:
    """Return, for each configuration, why the loadable is not for it (None: it may be)."""
    try:
        decoded = list(layers(loadable))
    except NvdlaError:
        return dict.fromkeys(CONFIGS)
    result: dict[str, str | None] = {}
    for name, hardware in CONFIGS.items():
        reasons = (contradiction(layer, hardware) for layer in decoded)
        result[name] = next((reason for reason in reasons if reason is not None), None)
    return result


AUTO = "auto"
"""In place of a configuration: the one that the loadable was compiled for."""

DEFAULT = "nv_full"
"""Where a loadable says nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A configuration for a loadable; *among* are those that it fits where nothing but our choice
    decided on one of several."""

    name: str
    among: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"fits {', '.join(self.among)}: taking {self.name}" if self.among else self.name


def choose(loadable: Loadable, wish: str = "") -> str:
    """The name of :func:`choice`."""
    return choice(loadable, wish).name


def choice(loadable: Loadable, wish: str = "") -> Choice:
    """The configuration that a loadable is for: the wish, or ("" or "auto") what it says of itself,
    or, of those that it fits, the one of the settings, one that NVIDIA's compiler knows, or the
    first. Raises NvdlaError for a wish that is no configuration."""
    if wish and wish != AUTO:
        return Choice(config(wish).name)
    return _choice(loadable, candidates(loadable))


def _choice(loadable: Loadable, found: dict[str, str | None]) -> Choice:
    """The choice among candidates. What a loadable says counts unless its operations contradict;
    where they contradict every configuration, nothing else is known."""
    possible = [name for name, reason in found.items() if reason is None]
    said = compiled_for(loadable)
    if said in found and (said in possible or not possible):
        return Choice(said)
    if not possible:
        return Choice(DEFAULT)
    setting = process.current().config.of(Settings).config
    liked = [name for name in (setting, *OF_NVDLA_COMPILER) if name in possible]
    return Choice((liked or possible)[0], tuple(possible) if possible[1:] else ())


def compiled_for(loadable: Loadable) -> str:
    """The configuration that the annotation names, "" where there is none."""
    try:
        note = annotation.read(loadable)
    except NvdlaError:  # who needs the annotation says what is wrong with it
        return ""
    name = note.options.get("config") if note is not None else None
    return name if isinstance(name, str) else ""


def mismatch(loadable: Loadable, hardware: HardwareConfig) -> str | None:
    """Return an explanation if the loadable is clearly for another configuration."""
    found = candidates(loadable)
    reason = found.get(hardware.name)
    possible = [name for name, why in found.items() if why is None]
    if reason is None or not possible:
        return None
    best = _choice(loadable, found).name
    said = compiled_for(loadable)
    fits = f"was compiled for {said}" if said in possible else f"fits {', '.join(possible)}"
    return (
        f"the loadable {fits}, this engine is"
        f" {hardware.name} ({reason}); CUDLA_SIM_CONFIG={best} makes it fit, and"
        " CUDLA_SIM_CONFIG=auto takes what the first loadable is for"
    )
