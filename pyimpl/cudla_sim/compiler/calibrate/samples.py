"""Calibration samples: arrays and pictures from files and folders."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core import untrusted

from ..errors import CompileError
from ..graph import Graph, Port

Arrays = dict[str, NDArray[Any]]
PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".webp"}
_ARRAYS = {".npy", ".npz"}


@dataclass(frozen=True, slots=True)
class Samples:
    """Where samples come from; iterating reads them one by one: {input name: array}.

    The arrays have the shapes of the ONNX inputs. *mean* and *scale* apply to pictures only:
    (pixel - mean) * scale, each one number or one for each channel; pixels are 0 ... 255 in the
    order red, green, blue.
    """

    graph: Graph
    files: tuple[Path, ...]
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

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
            yield {port.name: read_picture(file, port, self.mean, self.scale)}

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
            found = sorted(p for p in path.rglob("*") if p.suffix.lower() in _ARRAYS | PICTURES)
            if not found:
                raise CompileError(f"calibration: {path} holds no .npy, .npz or pictures")
            files += found
        elif not path.exists():
            raise CompileError(f"calibration: {path} does not exist")
        elif path.suffix.lower() in _ARRAYS | PICTURES:
            files.append(path)
        else:
            raise CompileError(
                f"calibration: {path} is neither .npy, .npz, a picture nor a folder of these"
            )
    return Samples(graph, tuple(files), tuple(mean), tuple(scale))


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


def read_picture(
    file: Path, port: Port, mean: Sequence[float], scale: Sequence[float]
) -> NDArray[Any]:
    try:
        from PIL import Image
    except ImportError:
        raise CompileError("pictures need Pillow: pip install 'cudla-sim[images]'") from None
    n, c, h, w = port.value.shape
    if n != 1 or c not in (1, 3, 4):
        raise CompileError(
            f"calibration: {file} is a picture, input {port.name!r} has {n} x {c} channels"
        )
    data = untrusted.read_bytes(file)
    try:
        with Image.open(io.BytesIO(data)) as opened:
            picture = opened.convert({1: "L", 3: "RGB", 4: "RGBA"}[c])
            if picture.size != (w, h):
                picture = picture.resize((w, h), Image.Resampling.BILINEAR)
            pixels = np.asarray(picture, np.float32).reshape(h, w, c).transpose(2, 0, 1)
    except Exception as error:  # each of Pillow's formats raises others, SyntaxError among them
        raise CompileError(f"calibration: {file} is no sound picture: {error}") from None
    real = (pixels - _per_channel(mean, c, 0.0)) * _per_channel(scale, c, 1.0)
    integer = port.scale is not None
    if not integer:
        return port.from_value(real[None].astype(np.float32))
    plain = Port(name="", shape=port.shape, value=port.value, order=port.order, split=port.split)
    limits = np.iinfo(port.dtype)
    whole = np.clip(np.rint(plain.from_value(real[None])), limits.min, limits.max)
    return whole.astype(port.dtype)


def _per_channel(numbers: Sequence[float], channels: int, default: float) -> NDArray[np.float32]:
    given = list(numbers) or [default]
    if len(given) not in (1, channels):
        raise CompileError(f"{len(given)} numbers of --mean or --scale for {channels} channels")
    return np.broadcast_to(np.asarray(given, np.float32), channels).reshape(-1, 1, 1)
