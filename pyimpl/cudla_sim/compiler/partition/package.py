"""A network in several parts, as one file and as something that runs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core import untrusted
from cudla_sim.core.process import Process
from cudla_sim.nvdla.real_numbers import RealNetwork

from ..errors import CompileError
from ..front.reading import has_external_data
from ..runtime import session

MAGIC = b"PK\x03\x04"
"""How a package begins: it is a zip archive."""

_PLAN = "plan.json"
_GENERATION = 1


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive nodes: *host* tells whether *data* is an ONNX model or a loadable."""

    host: bool
    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    data: bytes

    def __str__(self) -> str:
        where = "host (onnxruntime)" if self.host else "hardware"
        shown = ", ".join(self.nodes[:6]) + (" ..." if len(self.nodes) > 6 else "")
        return f"{where}: {len(self.nodes)} nodes ({shown})"


@dataclass(frozen=True, slots=True)
class Package:
    """Parts in the order in which they run. *inputs* have shapes as the ONNX model has them."""

    config: str
    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[str, ...]
    parts: tuple[Part, ...]

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
                    }
                    for number, part in enumerate(self.parts)
                ],
            }
            archive.writestr(_PLAN, json.dumps(plan, indent=1))
            for number, part in enumerate(self.parts):
                archive.writestr(_file(number, part.host), part.data)
        return target.getvalue()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read a file; CompileError if it is not what :meth:`encode` makes."""
        try:
            files = untrusted.unzip(data)
            plan = _object(untrusted.parse_json(files[_PLAN]), _PLAN)
            if _number(plan["generation"], "generation") > _GENERATION:
                raise CompileError(
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
            _check_names(inputs, parts, outputs)
            return cls(_word(plan["config"], "config"), inputs, outputs, parts)
        except KeyError as error:
            raise CompileError(f"not a network in parts: it lacks {error}") from None
        except (ValueError, TypeError) as error:
            raise CompileError(f"not a network in parts: {error}") from None

    def load(self, within: Process | None = None) -> LoadedPackage:
        """Make it ready for many runs, with the settings of a simulated process."""
        return LoadedPackage(self, within)

    def run(self, feeds: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Run once on arrays in the shapes of the ONNX model."""
        with self.load() as loaded:
            return loaded.run(feeds)


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
    if host and has_external_data(data):
        raise ValueError(f"{file} names data files outside of the package")
    nodes, inputs, outputs = (_words(item, name) for name in ("nodes", "inputs", "outputs"))
    return Part(host, nodes, inputs, outputs, data)


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


class LoadedPackage:
    """Sessions and networks of all parts; a context manager."""

    def __init__(self, package: Package, within: Process | None = None) -> None:
        self.package = package
        self._runners: list[Any] = [
            session(part.data) if part.host else RealNetwork(part.data, package.config, within)
            for part in package.parts
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the networks' memory."""
        for runner in self._runners:
            if isinstance(runner, RealNetwork):
                runner.close()
        self._runners = []

    def run(self, feeds: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Run all parts; outputs by name. Raises CompileError for missing or unknown inputs."""
        package = self.package
        unknown = [name for name in feeds if name not in package.inputs]
        missing = [name for name in package.inputs if name not in feeds]
        if unknown or missing:
            what = f"no input {unknown[0]!r}" if unknown else f"input {missing[0]!r} is missing"
            raise CompileError(f"{what}; the inputs are {', '.join(package.inputs)}")
        values: dict[str, NDArray[Any]] = {name: np.asarray(x) for name, x in feeds.items()}
        for part, runner in zip(package.parts, self._runners, strict=True):
            given = {name: values[name] for name in part.inputs}
            if part.host:
                kinds = runner.input_types()
                unknown = [name for name in given if name not in kinds]
                if unknown:
                    raise CompileError(f"a part on the host has no input {unknown[0]!r}")
                given = {
                    name: x.astype(np.float32) if kinds[name] == "tensor(float)" else x
                    for name, x in given.items()
                }
                values.update(zip(part.outputs, runner.run(list(part.outputs), given), strict=True))
            else:
                made = runner.run(given)
                absent = [name for name in part.outputs if name not in made]
                if absent:
                    raise CompileError(f"the part that should compute {absent[0]!r} does not")
                values.update(made)
        return {name: values[name] for name in package.outputs}
