"""A network that is ready to run samples: a loadable, or parts of one for two machines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.config import Config
from ..core.memory import AddressSpace, MemoryFault
from ..core.process import Process
from ..nvdla import annotation, layout, target
from ..nvdla.dla_core import Core
from ..nvdla.errors import NvdlaError
from ..nvdla.facts.configs import CONFIGS, config
from ..nvdla.loadable import Loadable, TensorDesc
from ..nvdla.network import LoadedNetwork
from ..nvdla.parts.package import MAGIC, Package
from ..nvdla.real_numbers import RealNetwork
from ..nvdla.settings import Settings
from .errors import EvaluationError

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class InputTensor:
    """An input or output as samples have it. *order* is (n, c, h, w) in the array's axes."""

    name: str
    shape: tuple[int, ...]
    note: annotation.PortNote | None = None
    raw: TensorDesc | None = None
    """Of a loadable that does not say what its numbers mean."""


@dataclass(frozen=True)
class EvaluatedNetwork:
    """The bytes of a network and what must be known to feed it.

    *group* samples run at once: the first dimension of every tensor, when all have the same.
    """

    image: bytes
    hardware: str
    settings: Config
    inputs: tuple[InputTensor, ...]
    outputs: tuple[str, ...]
    group: int
    output_bytes: int | None = None
    """Of a sample, where that is known."""

    @property
    def digest(self) -> str:
        """Of everything that results depend on."""
        whole = hashlib.sha256(self.image)
        fp16, overrun = self.settings.of(Settings).fp16, self.settings.general.overrun
        whole.update(f"{self.hardware} {fp16} {overrun}".encode())
        return whole.hexdigest()


def describe(image: bytes, hardware: str, settings: Config) -> EvaluatedNetwork:
    """Reads a loadable or a network in parts. Raises EvaluationError."""
    try:
        if image.startswith(MAGIC):
            return _describe_package(image, settings)
        return _describe_loadable(image, hardware, settings)
    except NvdlaError as error:
        raise EvaluationError(f"the network: {error}") from None


def _describe_package(image: bytes, settings: Config) -> EvaluatedNetwork:
    package = Package.decode(image)
    inputs = tuple(InputTensor(name, shape) for name, shape in package.inputs.items())
    known = [package.tensors.get(name) for name in package.outputs]
    if None in known:
        return EvaluatedNetwork(image, package.config, settings, inputs, package.outputs, 1)
    shapes = [*package.inputs.values(), *(tensor.shape for tensor in known if tensor)]
    group = _group({shape[0] if shape else 0 for shape in shapes})
    size = sum(tensor.size for tensor in known if tensor) // group
    return EvaluatedNetwork(image, package.config, settings, inputs, package.outputs, group, size)


def _describe_loadable(image: bytes, hardware: str, settings: Config) -> EvaluatedNetwork:
    loadable = Loadable.parse(image)
    name = target.choose(loadable, hardware)
    note = annotation.read(loadable)
    if note is None:
        raw = tuple(InputTensor(t.name, (t.n, t.c, t.h, t.w), raw=t) for t in loadable.inputs)
        outputs = tuple(t.name for t in loadable.outputs)
        sizes = {t.n for t in (*loadable.inputs, *loadable.outputs)}
        group = _group(sizes)
        size = sum(t.n * t.c * t.h * t.w * t.element_size for t in loadable.outputs) // group
        return EvaluatedNetwork(image, name, settings, raw, outputs, group, size)
    inputs = tuple(InputTensor(p.name, p.shape, p) for p in note.inputs)
    sizes = {p.shape[0] if p.shape else 0 for p in (*note.inputs, *note.outputs)}
    if any(p.value[0] != p.shape[0] for p in (*note.inputs, *note.outputs) if p.shape):
        sizes.add(0)
    group, names = _group(sizes), tuple(p.name for p in note.outputs)
    size = sum(prod(p.shape) * np.dtype(p.dtype).itemsize for p in note.outputs) // group
    return EvaluatedNetwork(image, name, settings, inputs, names, group, size)


def _group(sizes: set[int]) -> int:
    return max(sizes.pop(), 1) if len(sizes) == 1 else 1


class _Loaded(Protocol):
    def run(self, feeds: Mapping[str, Any]) -> Arrays: ...

    def close(self) -> None: ...


class Runner:
    """A network in memory; for one thread at a time."""

    def __init__(self, network: EvaluatedNetwork) -> None:
        self.network = network
        process = Process(network.settings)
        if network.image.startswith(MAGIC):
            self._loaded: _Loaded = Package.decode(network.image).load(process)
        elif network.inputs and network.inputs[0].raw is not None:
            self._loaded = _RawNetwork(network, process)
        else:
            self._loaded = RealNetwork(network.image, network.hardware, process)

    def run(self, samples: Sequence[Arrays]) -> list[Arrays]:
        """Outputs of each sample, by name. Raises EvaluationError.

        Samples have the shapes of the inputs, with 1 in front where several run at once.
        """
        size = self.network.group
        found: list[Arrays] = []
        for first in range(0, len(samples), size):
            part = samples[first : first + size]
            results = self._once(part)
            found += [
                {name: a[i : i + 1] if size > 1 else a for name, a in results.items()}
                for i in range(len(part))
            ]
        return found

    def _once(self, part: Sequence[Arrays]) -> Arrays:
        feeds = part[0]
        if self.network.group > 1:
            padded = [*part, *[part[-1]] * (self.network.group - len(part))]
            feeds = {name: np.concatenate([s[name] for s in padded]) for name in part[0]}
        try:
            return self._loaded.run(feeds)
        except (NvdlaError, MemoryFault, MemoryError) as error:
            raise EvaluationError(f"the network fails: {error}") from None

    def close(self) -> None:
        """Frees the network's memory."""
        self._loaded.close()


class _RawNetwork:
    """A loadable of another compiler: elements as they are, [n, c, h, w]."""

    def __init__(self, network: EvaluatedNetwork, process: Process) -> None:
        self._loadable = Loadable.parse(network.image)
        self._space = AddressSpace("the network's memory")
        margin = process.config.general.margin
        self._network = LoadedNetwork(self._loadable, self._space, network.hardware, margin)
        self._core = Core(network.hardware, process.config.of(Settings).fp16, process=process)
        self._buffers = [
            [self._space.allocate(t.size, name=t.name) for t in tensors]
            for tensors in (self._loadable.inputs, self._loadable.outputs)
        ]

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        inputs, outputs = self._buffers
        for tensor, region in zip(self._loadable.inputs, inputs, strict=True):
            data = layout.pack_tensor(tensor, feeds[tensor.name])
            region.data[: len(data)] = data
        self._core.run(self._network, [r.base for r in inputs], [r.base for r in outputs])
        return {
            t.name: layout.unpack_tensor(t, r.data)
            for t, r in zip(self._loadable.outputs, outputs, strict=True)
        }

    def close(self) -> None:
        self._network.close()
        for region in (*self._buffers[0], *self._buffers[1]):
            self._space.unmap(region)


def hardware_name(name: str) -> str:
    """The configuration's full name. Raises EvaluationError."""
    try:
        return config(name).name if name else ""
    except NvdlaError:
        raise EvaluationError(f"config {name!r}: it is one of {', '.join(CONFIGS)}") from None
