"""A network in several parts, as one file and as something that runs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core.process import Process
from cudla_sim.nvdla.real import RealNetwork

from ..errors import CompileError
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
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                plan = json.loads(archive.read(_PLAN))
                if plan["generation"] > _GENERATION:
                    raise CompileError(
                        f"the package has format {plan['generation']}; this reads {_GENERATION}"
                    )
                parts = tuple(
                    Part(
                        bool(item["host"]),
                        tuple(item["nodes"]),
                        tuple(item["inputs"]),
                        tuple(item["outputs"]),
                        archive.read(item["file"]),
                    )
                    for item in plan["parts"]
                )
            inputs = {name: tuple(shape) for name, shape in plan["inputs"].items()}
            return cls(str(plan["config"]), inputs, tuple(plan["outputs"]), parts)
        except (zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
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
                given = {
                    name: x.astype(np.float32) if kinds[name] == "tensor(float)" else x
                    for name, x in given.items()
                }
                values.update(zip(part.outputs, runner.run(list(part.outputs), given), strict=True))
            else:
                values.update(runner.run(given))
        return {name: values[name] for name in package.outputs}
