"""A network in several parts, as one file."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core import untrusted
from ...core.process import Process
from ...core.text import printable
from .. import annotation, layout, target
from ..errors import BadLoadable, NvdlaError
from ..loadable import PACKAGE, Loadable
from .host import HostError, has_external_data
from .part import DTYPES, Part, Tensor
from .running import LoadedPackage

if TYPE_CHECKING:
    from typing_extensions import Self

MAGIC = PACKAGE
"""How a package begins."""

_PLAN = "plan.json"
_GENERATION = 1


@dataclass(frozen=True, slots=True)
class Package:
    """Parts in the order in which they run. *inputs* have shapes as the ONNX model has them.

    *tensors* says what goes in, comes out and passes between parts; older packages do not.
    """

    config: str
    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[str, ...]
    parts: tuple[Part, ...]
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def encode(self) -> bytes:
        """The bytes of the file."""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            plan = {
                "generation": _GENERATION,
                "config": self.config,
                "inputs": self.inputs,
                "outputs": self.outputs,
                "parts": [
                    {
                        "host": part.host,
                        "nodes": part.nodes,
                        "inputs": part.inputs,
                        "outputs": part.outputs,
                        "file": _file(number, part.host),
                        **({} if part.macs is None else {"macs": part.macs}),
                    }
                    for number, part in enumerate(self.parts)
                ],
                "tensors": {
                    name: {
                        "dtype": tensor.dtype,
                        "shape": tensor.shape,
                        **({"varies": True} if tensor.varies else {}),
                    }
                    for name, tensor in self.tensors.items()
                },
            }
            archive.writestr(_PLAN, json.dumps(plan, indent=1))
            for number, part in enumerate(self.parts):
                archive.writestr(_file(number, part.host), part.data)
        return target.getvalue()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read a file: what :meth:`encode` makes, or a loadable. Raises BadLoadable."""
        if not data.startswith(MAGIC):
            return cls._of_loadable(data)
        try:
            files = untrusted.unzip(data)
            plan = _object(untrusted.parse_json(files[_PLAN]), _PLAN)
            if _number(plan["generation"], "generation") > _GENERATION:
                raise BadLoadable(
                    f"the package has format {plan['generation']}; this reads {_GENERATION}"
                )
            parts = tuple(
                _part(_object(item, "a part"), files) for item in _list(plan["parts"], "parts")
            )
            inputs = {
                name: tuple(_number(extent, f"the shape of {name!r}") for extent in shape)
                for name, shape in _object(plan["inputs"], "inputs").items()
            }
            outputs = _words(plan, "outputs")
            tensors = _tensors(plan.get("tensors", {}))
            _check_names(inputs, parts, outputs)
            _check_shapes(inputs, tensors)
            return cls(_word(plan["config"], "config"), inputs, outputs, parts, tensors)
        except KeyError as error:
            raise BadLoadable(f"not a network in parts: it lacks {printable(str(error))}") from None
        except (ValueError, TypeError) as error:
            raise BadLoadable(f"not a network in parts: {printable(str(error))}") from None

    @classmethod
    def _of_loadable(cls, data: bytes) -> Self:
        """A loadable as the only part; tensors of another compiler's are [n, c, h, w]."""
        loadable = Loadable.parse(data)
        note = annotation.read(loadable)
        if note is None:
            inputs, outputs = (
                {t.name: Tensor(layout.tensor_dtype(t).name, (t.n, t.c, t.h, t.w)) for t in tensors}
                for tensors in (loadable.inputs, loadable.outputs)
            )
            nodes: tuple[str, ...] = ()
        else:
            inputs, outputs = (
                {port.name: Tensor(port.dtype, port.shape) for port in ports}
                for ports in (note.inputs, note.outputs)
            )
            nodes = tuple(dict.fromkeys(node for item in note.operations for node in item.nodes))
        shapes = {name: tensor.shape for name, tensor in inputs.items()}
        part = Part(False, nodes, tuple(inputs), tuple(outputs), data)
        return cls(target.choose(loadable), shapes, tuple(outputs), (part,), {**inputs, **outputs})

    @property
    def whole(self) -> bool:
        """Whether it is a single part for the hardware: what a loadable is."""
        return len(self.parts) == 1 and not self.parts[0].host

    def load(self, within: Process | None = None, hardware: str = "") -> LoadedPackage:
        """Make it ready for many runs, with the settings of a simulated process; *hardware*: for
        another configuration than its own. Raises NvdlaError."""
        chosen = hardware or self.config
        return LoadedPackage(self.inputs, self.outputs, self.parts, chosen, within)

    def run(self, feeds: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Run once on arrays in the shapes of the ONNX model. Raises NvdlaError."""
        with self.load() as loaded:
            return loaded.run(feeds)

    def zeros(self) -> dict[str, NDArray[Any]]:
        """Zeros for all inputs."""
        return {
            name: np.zeros(shape, self.tensors[name].dtype if name in self.tensors else "float32")
            for name, shape in self.inputs.items()
        }


def network(source: str | os.PathLike[str] | bytes) -> Package:
    """A network in parts, or a loadable as one of a single part: a file or its bytes.

    Raises NvdlaError, one line that says what is wrong.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return Package.decode(bytes(source))
    try:
        return Package.decode(untrusted.read_bytes(Path(source)))
    except OSError as error:
        raise NvdlaError(f"{source}: {error.strerror}") from None
    except (NvdlaError, untrusted.Unreadable) as error:
        raise NvdlaError(f"{source}: {error}") from None


def _file(number: int, host: bool) -> str:
    return f"part{number}.{'onnx' if host else 'nvdla'}"


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is no list")
    return value


def _number(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise ValueError(f"{what} holds {value!r}; a whole number from 0 on is expected")
    return value


def _word(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} holds {value!r}; a name is expected")
    return value


def _words(item: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(_word(value, name) for value in _list(item[name], name))


def _part(item: dict[str, Any], files: dict[str, bytes]) -> Part:
    host, file = item["host"], _word(item["file"], "file")
    if not isinstance(host, bool):
        raise ValueError(f"host holds {host!r}; true or false is expected")
    data = files[file]
    if host and _outside(data):
        raise ValueError(f"{file} names data files outside of the package")
    nodes, inputs, outputs = (_words(item, name) for name in ("nodes", "inputs", "outputs"))
    macs = item.get("macs")
    if macs is not None and (type(macs) is not int or not 0 <= macs < 1 << 62):
        raise ValueError(f"macs holds {macs!r}; a whole number from 0 on is expected")
    return Part(host, nodes, inputs, outputs, data, macs)


def _outside(data: bytes) -> bool:
    """Without the package onnx nobody can tell; then the part is not run either."""
    try:
        return importlib.util.find_spec("onnx") is not None and has_external_data(data)
    except HostError as error:
        raise ValueError(str(error)) from None


def _tensors(raw: Any) -> dict[str, Tensor]:
    found = {}
    for name, item in _object(raw, "tensors").items():
        dtype = _word(_object(item, f"the tensor {name!r}")["dtype"], "dtype")
        if dtype not in DTYPES:
            raise ValueError(f"the tensor {name!r} has elements of type {dtype!r}")
        shape = _list(item["shape"], f"the shape of {name!r}")
        sizes = tuple(_number(extent, f"the shape of {name!r}") for extent in shape)
        varies = item.get("varies", False)
        if not isinstance(varies, bool):
            raise ValueError(f"varies holds {varies!r}; true or false is expected")
        found[name] = Tensor(dtype, sizes, varies)
    return found


def _check_shapes(inputs: Mapping[str, tuple[int, ...]], tensors: Mapping[str, Tensor]) -> None:
    """Raises ValueError for inputs that are said to have two shapes."""
    for name, shape in inputs.items():
        if name in tensors and tensors[name].shape != shape:
            raise ValueError(f"the input {name!r} is {shape} and {tensors[name].shape}")


def _check_names(inputs: Iterable[str], parts: Iterable[Part], outputs: Iterable[str]) -> None:
    """Raises ValueError for a tensor that is wanted before something computes it."""
    made = set(inputs)
    for number, part in enumerate(parts):
        for name in part.inputs:
            if name not in made:
                raise ValueError(f"part {number} reads {name!r}, which nothing before it computes")
        made.update(part.outputs)
    for name in outputs:
        if name not in made:
            raise ValueError(f"the output {name!r} is computed by no part")
