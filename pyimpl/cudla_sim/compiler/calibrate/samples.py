"""Calibration samples: arrays and pictures from files and folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core import untrusted
from cudla_sim.nvdla import pictures
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.pictures import Preparation

from ..errors import CompileError
from ..graph import Graph, Port

Arrays = dict[str, NDArray[Any]]
_ARRAYS = {".npy", ".npz"}


@dataclass(frozen=True, slots=True)
class Samples:
    """Where samples come from; iterating reads them one by one: {input name: array}.

    The arrays have the shapes of the ONNX inputs.
    """

    graph: Graph
    files: tuple[Path, ...]
    pictures: Preparation = field(default_factory=Preparation)

    def __iter__(self) -> Iterator[Arrays]:
        """Raises CompileError for a file that cannot be a sample."""
        for file in self.files:
            try:
                yield from self._of(file)
            except (OSError, ValueError) as error:
                raise CompileError(f"calibration: {file}: {error}") from None

    def _of(self, file: Path) -> Iterator[Arrays]:
        suffix = file.suffix.lower()
        if suffix == ".npy":
            array = untrusted.read_npy(file)
            yield from _split(file, {self._port(file).name: array}, self.graph)
        elif suffix == ".npz":
            arrays = untrusted.read_npz(file)
            yield from _split(file, self._named(file, arrays), self.graph)
        else:
            port = self._port(file)
            yield {port.name: read_picture(file, port, self.pictures)}

    def _port(self, file: Path) -> Port:
        """The input that a file of one array is for: the only one, or that of its name."""
        ports = self.graph.inputs
        named = [port for port in ports if port.name == file.stem]
        if named:
            return named[0]
        if len(ports) == 1:
            return ports[0]
        names = ", ".join(port.name for port in ports)
        raise CompileError(
            f"calibration: {file} holds one array, the network has the inputs {names}; give .npz "
            "files with arrays of these names"
        )

    def _named(self, file: Path, arrays: Arrays) -> Arrays:
        names = [port.name for port in self.graph.inputs]
        if len(names) == 1 and len(arrays) == 1:
            return {names[0]: next(iter(arrays.values()))}
        absent = [name for name in names if name not in arrays]
        if absent:
            raise CompileError(
                f"calibration: {file} lacks the input {absent[0]!r}; it has "
                f"{', '.join(arrays) or 'nothing'}"
            )
        return {name: arrays[name] for name in names}


def load_samples(
    graph: Graph,
    paths: Sequence[str | Path],
    *,
    mean: Sequence[float] = (),
    scale: Sequence[float] = (),
) -> Samples:
    """The samples of files and folders (.npy, .npz, pictures). Raises CompileError."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(
                p for p in path.rglob("*") if p.suffix.lower() in _ARRAYS | pictures.SUFFIXES
            )
            if not found:
                raise CompileError(f"calibration: {path} holds no .npy, .npz or pictures")
            files += found
        elif not path.exists():
            raise CompileError(f"calibration: {path} does not exist")
        elif path.suffix.lower() in _ARRAYS | pictures.SUFFIXES:
            files.append(path)
        else:
            raise CompileError(
                f"calibration: {path} is neither .npy, .npz, a picture nor a folder of these"
            )
    return Samples(graph, tuple(files), Preparation(tuple(mean), tuple(scale)))


def _split(file: Path, arrays: Arrays, graph: Graph) -> Iterator[Arrays]:
    """One sample, or as many as the arrays have in front of (or in place of) the batch."""
    ports = {port.name: port for port in graph.inputs}
    parts = {name: _stack(file, array, ports[name]) for name, array in arrays.items()}
    counts = {len(part) for part in parts.values()}
    if len(counts) != 1:
        raise CompileError(f"calibration: {file} has different numbers of samples: {counts}")
    for index in range(counts.pop()):
        yield {name: part[index] for name, part in parts.items()}


def _stack(file: Path, array: NDArray[Any], port: Port) -> NDArray[Any]:
    """[samples, *shape of the input]."""
    if array.dtype.kind not in "fiub":
        raise CompileError(f"calibration: {file} has elements of type {array.dtype}")
    shape = port.shape
    if array.shape == shape:
        stacked = array[None]
    elif array.shape[1:] == shape:
        stacked = array
    elif shape and shape[0] == 1 and array.shape[1:] == shape[1:]:
        stacked = array[:, None]
    elif shape and shape[0] == 1 and array.shape == shape[1:]:
        stacked = array[None, None]
    else:
        raise CompileError(
            f"calibration: {file} is {_times(array.shape)}; input {port.name!r} is {_times(shape)}"
            " (or several of them along the first dimension)"
        )
    if not np.isfinite(stacked).all():
        raise CompileError(f"calibration: {file} holds NaN or infinity")
    return stacked


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "one number"


def read_picture(file: Path, port: Port, how: Preparation) -> NDArray[Any]:
    """A picture as the ONNX tensor of *port*. Raises CompileError."""
    try:
        real = pictures.read(file, port.value.shape, how)
    except NvdlaError as error:
        raise CompileError(f"calibration: {error}") from None
    if port.scale is None:
        return port.from_value(real)
    plain = Port(name="", shape=port.shape, value=port.value, order=port.order, split=port.split)
    return pictures.whole(plain.from_value(real), port.dtype)
