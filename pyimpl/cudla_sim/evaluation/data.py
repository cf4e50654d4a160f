"""Samples: arrays and pictures from files, folders or the program's own arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import untrusted
from ..nvdla.pictures import SUFFIXES, Preparation
from .errors import EvaluationError
from .runner import Arrays, EvaluatedNetwork, InputTensor

ARRAYS = {".npy", ".npz"}


class Inputs:
    """The samples of a data set, by number. ``names``: one for each, unique.

    ``fingerprint`` changes when the files do. Raises EvaluationError for what cannot be a sample of
    the network.
    """

    def __init__(self, network: EvaluatedNetwork, source: Any, preparation: Preparation) -> None:
        self._network = network
        self._preparation = preparation
        self._tensors = {t.name: t for t in network.inputs}
        self.names: list[str] = []
        self._places: list[tuple[int, int]] = []  # (source, number in it)
        self._last: tuple[int, Arrays] | None = None
        digest = hashlib.sha256(repr(preparation).encode())
        if isinstance(source, str | Path):
            self._files = _files(Path(source))
            self._given: Arrays = {}
            root = Path(source)
            for index, file in enumerate(self._files):
                status = file.stat()
                name = str(file.relative_to(root)) if root.is_dir() else file.name
                digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
                self._add(index, name, self._count(file))
        else:
            self._files = []
            self._given = self._named(source, "the inputs")
            for name in sorted(self._given):
                array = np.ascontiguousarray(self._given[name])
                digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
                digest.update(array.data)
            self._last = (0, self._stacked(self._given, "the inputs"))
            self._add(0, "sample", len(next(iter(self._last[1].values()))), alone=False)
        if not self.names:
            raise EvaluationError("the inputs hold no sample")
        self.fingerprint = digest.hexdigest()

    def __len__(self) -> int:
        return len(self.names)

    def read(self, numbers: Sequence[int]) -> Iterator[Arrays]:
        """Samples in the network's shapes (1 in front where several run at once)."""
        for number in numbers:
            source, index = self._places[number]
            try:
                yield self._read(source, index)
            except (OSError, ValueError) as error:
                raise EvaluationError(f"{self.names[number]}: {error}") from None

    @property
    def bytes_per_sample(self) -> int:
        """About."""
        first = next(self.read([0]))
        return sum(int(a.nbytes) for a in first.values())

    def _add(self, source: int, name: str, count: int, *, alone: bool = True) -> None:
        for index in range(count):
            self.names.append(name if alone and count == 1 else f"{name}[{index}]")
            self._places.append((source, index))

    # ---- files ----

    def _count(self, file: Path) -> int:
        """Samples in a file, from the headers of its arrays."""
        if file.suffix.lower() in SUFFIXES:
            self._picture_port(file)
            return 1
        try:
            shapes = _shapes(file)
        except (OSError, ValueError, KeyError) as error:
            raise EvaluationError(f"{file}: {error}") from None
        named = self._named(shapes, str(file))
        counts = {self._samples_in(shape, self._tensors[n], file) for n, shape in named.items()}
        if len(counts) != 1:
            raise EvaluationError(f"{file}: its arrays have different numbers of samples: {counts}")
        return counts.pop()

    def _read(self, source: int, index: int) -> Arrays:
        if self._files and self._files[source].suffix.lower() in SUFFIXES:
            file = self._files[source]
            tensor = self._picture_port(file)
            return {tensor.name: self._picture(file, tensor)}
        if self._last is None or self._last[0] != source:
            file = self._files[source]
            self._last = source, self._stacked(self._named(_load(file), str(file)), str(file))
        return {name: np.array(array[index]) for name, array in self._last[1].items()}

    def _picture_port(self, file: Path) -> InputTensor:
        if len(self._tensors) != 1:
            raise EvaluationError(
                f"{file} is a picture, the network has the inputs {', '.join(self._tensors)}; give "
                ".npz files with arrays of these names"
            )
        return next(iter(self._tensors.values()))

    def _picture(self, file: Path, tensor: InputTensor) -> NDArray[Any]:
        how = self._preparation
        if tensor.raw is not None:
            from ..nvdla import images, layout

            try:
                factors = how.factors or ((1.0,) if how.mean else None)
                data = images.load(file, tensor.raw, how.mean, 1.0, factors)
            except images.InputError as error:
                raise EvaluationError(str(error)) from None
            return layout.unpack_tensor(tensor.raw, data)[:1]
        from ..compiler.calibrate.samples import read_picture
        from ..compiler.errors import CompileError

        try:
            return read_picture(file, _port(tensor, self._network.group), how)
        except CompileError as error:
            text = str(error).removeprefix("calibration: ")
            raise EvaluationError(text) from None

    # ---- arrays ----

    def _named(self, found: Any, where: str) -> dict[str, Any]:
        """Arrays (or shapes) by the names of the inputs."""
        names = list(self._tensors)
        if not isinstance(found, Mapping):
            found = {"": found}
        if len(names) == 1 and len(found) == 1:
            return {names[0]: next(iter(found.values()))}
        absent = [name for name in names if name not in found]
        if absent:
            raise EvaluationError(
                f"{where}: no array for the input {absent[0]!r}; there are "
                f"{', '.join(map(repr, found)) or 'none'}"
            )
        return {name: found[name] for name in names}

    def _one(self, tensor: InputTensor) -> tuple[int, ...]:
        """The shape of one sample."""
        return (1, *tensor.shape[1:]) if self._network.group > 1 else tensor.shape

    def _samples_in(self, shape: tuple[int, ...], tensor: InputTensor, where: Any) -> int:
        one = self._one(tensor)
        if shape[1:] == one:
            return shape[0]
        if one and one[0] == 1 and shape[1:] == one[1:]:
            return shape[0]
        if shape in (one, one[1:]):
            return 1
        want = " x ".join(map(str, one)) or "one number"
        raise EvaluationError(
            f"{where} is {' x '.join(map(str, shape)) or 'one number'}; input {tensor.name!r} is "
            f"{want} (or several of them along the first dimension)"
        )

    def _stacked(self, arrays: dict[str, Any], where: str) -> Arrays:
        """[samples, *shape of one]."""
        found = {}
        for name, given in arrays.items():
            array, tensor = np.asarray(given), self._tensors[name]
            if array.dtype.kind not in "fiub":
                raise EvaluationError(
                    f"{where}: elements of type {array.dtype}; samples are numbers"
                )
            count = self._samples_in(array.shape, tensor, where)
            if tensor.raw is not None:
                array = _elements(array, tensor, where)
            found[name] = array.reshape(count, *self._one(tensor))
        if len({len(a) for a in found.values()}) != 1:
            raise EvaluationError(f"{where}: the arrays have different numbers of samples")
        return found


def _elements(array: NDArray[Any], tensor: InputTensor, where: str) -> NDArray[Any]:
    """As the buffer holds them, when nothing is lost."""
    from ..nvdla import layout

    assert tensor.raw is not None
    dtype = layout.tensor_dtype(tensor.raw)
    made = array.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(made, array):
        raise EvaluationError(
            f"{where} holds numbers that are no {dtype}; the loadable does not say what its "
            "elements mean, so inputs are the elements themselves"
        )
    return made


def _files(path: Path) -> list[Path]:
    known = ARRAYS | SUFFIXES
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in known and p.is_file())
        if not found:
            raise EvaluationError(f"{path} holds no .npy, .npz or pictures")
        return found
    if not path.exists():
        raise EvaluationError(f"{path} does not exist")
    if path.suffix.lower() not in known:
        raise EvaluationError(f"{path} is neither .npy, .npz, a picture nor a folder of these")
    return [path]


def _load(file: Path) -> Any:
    if file.suffix.lower() == ".npy":
        return untrusted.read_npy(file, mapped=True)
    return untrusted.read_npz(file)


def _shapes(file: Path) -> Any:
    if file.suffix.lower() == ".npy":
        return untrusted.read_npy(file, mapped=True).shape
    return {name: array.shape for name, array in untrusted.read_npz(file).items()}


def _port(tensor: InputTensor, group: int) -> Any:
    """The input as the compiler describes it."""
    from ..compiler.graph import Port, Value

    note = tensor.note
    if note is None:
        shape = tensor.shape
        n, c, h, w = (*shape, 1, 1, 1, 1)[:4]
        order = (0, 1, 2, 3)
        if len(shape) == 4 and c not in (1, 3, 4) and w in (1, 3, 4):
            (n, h, w, c), order = shape, (0, 2, 3, 1)
        return Port(
            name=tensor.name, shape=shape, value=Value(tensor.name, (n, c, h, w)), order=order
        )
    shape, value, split = note.shape, note.value, note.split
    if group > 1:
        shape, value = (1, *shape[1:]), (1, *value[1:])
        split = (1, *split[1:]) if split else split
    return Port(
        name=note.name,
        shape=shape,
        value=Value(note.name, value),
        order=note.order,
        dtype=note.dtype,
        split=split,
        scale=note.integer_scale,
        zero_point=note.integer_zero,
    )
