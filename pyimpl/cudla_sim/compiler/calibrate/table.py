"""TensorRT's calibration cache: a text of tensor names and scales.

Line 1 is ``TRT-<version>-<algorithm>``, then ``name: hhhhhhhh`` for each tensor, the big-endian
bits of a float32: the real value of one int8 step. Names hold colons themselves, so the last one
of a line counts; lines without one are passed over. Source: caches that TensorRT and its
public tools write.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from ..errors import CompileError
from ..graph import Graph

HEADER = "TRT-8600"
_ALGORITHMS = {"minmax": "MinMaxCalibration", "entropy": "EntropyCalibration2"}


@dataclass(slots=True)
class Table:
    """Scales by the name of the ONNX tensor."""

    scales: dict[str, float] = field(default_factory=dict)
    algorithm: str = "EntropyCalibration2"

    @staticmethod
    def is_table(path: Path) -> bool:
        """The file begins as a cache does."""
        try:
            with path.open("rb") as file:
                return file.read(4) == b"TRT-"
        except OSError:
            return False

    @staticmethod
    def parse(text: str, where: str = "calibration cache") -> Table:
        """Raises CompileError for anything that is no cache."""
        lines = [line.rstrip("\r") for line in text.split("\n")]
        if not lines[0].startswith("TRT-"):
            raise CompileError(f"{where}: the first line is not TRT-<version>-<algorithm>")
        table = Table(algorithm=lines[0].split("-", 2)[-1])
        for number, line in enumerate(lines[1:], 2):
            name, colon, word = line.rpartition(":")
            if not colon:
                continue
            try:
                (scale,) = struct.unpack(">f", bytes.fromhex(word.strip().zfill(8)))
            except (ValueError, struct.error):
                raise CompileError(
                    f"{where}, line {number}: {word.strip()!r} is no float32 in hexadecimal"
                ) from None
            if not isfinite(scale) or scale < 0:
                raise CompileError(f"{where}, line {number}: the scale of {name!r} is {scale}")
            table.scales[name] = scale
        return table

    @staticmethod
    def read(path: Path) -> Table:
        """The cache in a file. Raises CompileError."""
        try:
            text = path.read_text("utf-8", "replace")
        except OSError as error:
            raise CompileError(f"{path}: {error.strerror or error}") from None
        return Table.parse(text, str(path))

    def text(self) -> str:
        """The file's text."""
        lines = [f"{HEADER}-{self.algorithm}"]
        lines += [
            f"{name}: {struct.pack('>f', scale).hex()}" for name, scale in self.scales.items()
        ]
        return "\n".join(lines) + "\n"

    @staticmethod
    def of(scales: Mapping[str, float], method: str = "entropy") -> Table:
        """Of calibrated scales."""
        return Table(dict(scales), _ALGORITHMS.get(method, "MinMaxCalibration"))


@dataclass(frozen=True, slots=True)
class Applied:
    """What of a cache belongs to a network. *missing* are names of values that it does not hold,
    *unused* names of it that the network does not have."""

    scales: dict[str, float]
    missing: tuple[str, ...]
    unused: tuple[str, ...]


def applied(graph: Graph, table: Table) -> Applied:
    """The scales of a cache for the values of a network.

    Raises CompileError if a value of the network has scale 0 there.
    """
    scales: dict[str, float] = {}
    missing: list[str] = []
    ports = {port.value: port.name for port in (*graph.inputs, *graph.outputs)}
    known: set[str] = set()
    for value in graph.values():
        names = [value.name, ports.get(value, value.name)]
        known.update(names)
        found = next((table.scales[name] for name in names if name in table.scales), None)
        if value.scale is not None:
            scales[value.name] = value.scale
        elif found is None:
            missing.append(value.name)
        elif found == 0:
            raise CompileError(
                f"the calibration cache gives {value.name!r} the scale 0; calibrate again"
            )
        else:
            scales[value.name] = found
    unused = tuple(name for name in table.scales if name not in known)
    return Applied(scales, tuple(missing), unused)
