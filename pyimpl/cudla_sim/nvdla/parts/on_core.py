"""A network in parts on a core that others use too, between buffers of a program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.text import printable
from ..annotation import PortNote
from ..errors import EngineTimeout, NvdlaError
from ..facts.configs import HardwareConfig
from ..loadable import Loadable
from ..network import LoadedNetwork
from ..real_tensors import described, pack, unpack
from ..task_report import LayerRecord, TaskReport
from . import ports
from .host import TooLong
from .package import Package
from .part import Part, Tensor
from .running import HostPart
from .summary import buffers

if TYPE_CHECKING:
    from ...core.memory import AddressSpace, Region
    from ..dla_core import Core
    from ..loadable import TensorDesc

Values = dict[str, NDArray[Any]]


class _Hardware:
    """A part for the hardware, with buffers of its own for what the program does not bring."""

    def __init__(
        self, part: Part, space: AddressSpace, settle: Callable[[Loadable], HardwareConfig],
        margin: int,
    ) -> None:  # fmt: skip
        self.part = part
        self.loadable = Loadable.parse(part.data)
        self.note = described(self.loadable)
        names = {note.name for note in self.note.inputs} - set(part.inputs)
        if names:
            raise NvdlaError(f"a part reads {printable(min(names))!r}, which nobody computes")
        self.space = space
        self.network = LoadedNetwork(self.loadable, space, settle(self.loadable), margin)
        self._own: dict[tuple[bool, str], Region] = {}

    def buffer(self, into: bool, name: str, tensor: TensorDesc) -> Region:
        """An own buffer; made when it is first needed."""
        found = self._own.get((into, name))
        if found is None:
            found = self.space.allocate(max(tensor.size, 1), name=name, owner=self)
            self._own[into, name] = found
        return found

    def run(
        self, core: Core, bound: Mapping[tuple[bool, str], int], values: Values,
        wanted: set[str], deadline: float | None,
    ) -> TaskReport:  # fmt: skip
        """*bound*: addresses of the program's buffers by (is it an input, name). Adds the outputs
        that are *wanted* to *values*."""
        atom = self.network.config.memory_atom
        inputs, outputs = [], []
        for note, tensor in zip(self.note.inputs, self.loadable.inputs, strict=True):
            address = bound.get((True, note.name))
            if address is None:
                region = self.buffer(True, note.name, tensor)
                region.data[: tensor.size] = pack(note, tensor, atom, _fitting(note, values))
                address = region.base
            inputs.append(address)
        for note, tensor in zip(self.note.outputs, self.loadable.outputs, strict=True):
            address = bound.get((False, note.name))
            if address is None:
                address = self.buffer(False, note.name, tensor).base
            outputs.append(address)
        report = core.run(self.network, inputs, outputs, deadline)
        for note, tensor, address in zip(
            self.note.outputs, self.loadable.outputs, outputs, strict=True
        ):
            if note.name in wanted:
                data = self.space.view(address, tensor.size)
                values[note.name] = unpack(note, tensor, atom, data)
        return report

    def close(self) -> None:
        """Free all memory."""
        self.network.close()
        for region in self._own.values():
            self.space.unmap(region)
        self._own = {}


class PartsOnCore:
    """Parts that are loaded into *space*; *settle* tells the configuration of the core for a
    loadable. Raises NvdlaError, which says what to install where onnxruntime is missing."""

    def __init__(
        self, package: Package, space: AddressSpace, settle: Callable[[Loadable], HardwareConfig],
        margin: int,
    ) -> None:  # fmt: skip
        self.package = package
        self.space = space
        self._alone = threading.Lock()
        known = {n: buffers(part) for n, part in enumerate(package.parts) if not part.host}
        self.inputs = ports.inputs(package, known)
        self.outputs = ports.outputs(package, known)
        self._stages: list[HostPart | _Hardware] = []
        try:
            for part in package.parts:
                self._stages.append(
                    HostPart(part) if part.host else _Hardware(part, space, settle, margin)
                )
        except BaseException:
            self.close()
            raise

    @property
    def networks(self) -> list[LoadedNetwork]:
        """Of the parts for the hardware."""
        return [stage.network for stage in self._stages if isinstance(stage, _Hardware)]

    @property
    def operation_count(self) -> int:
        """Operations of all parts; one for each on the host."""
        hosts = sum(part.host for part in self.package.parts)
        return hosts + sum(network.operation_count for network in self.networks)

    def close(self) -> None:
        """Free all memory."""
        for stage in self._stages:
            if isinstance(stage, _Hardware):
                stage.close()
        self._stages = []

    def run(
        self, core: Core, inputs: Sequence[int], outputs: Sequence[int], deadline: float | None
    ) -> TaskReport:
        """Run once between buffers at these addresses. Raises EngineTimeout, another NvdlaError,
        MemoryFault. A layer called HOST in the report is a part on the host."""
        with self._alone:  # streams may run it side by side; its buffers are for one
            return self._run(core, inputs, outputs, deadline)

    def _run(
        self, core: Core, inputs: Sequence[int], outputs: Sequence[int], deadline: float | None
    ) -> TaskReport:
        values: Values = {}
        bound: dict[int, dict[tuple[bool, str], int]] = {}
        for given, port, address in (
            *((True, *item) for item in zip(self.inputs, inputs, strict=True)),
            *((False, *item) for item in zip(self.outputs, outputs, strict=True)),
        ):
            if port.part is not None:
                bound.setdefault(port.part, {})[given, port.name] = address
            elif given and port.linear is not None:
                values[port.name] = self._read(address, port.linear)
        report = TaskReport(core.config.name)
        report.start_ns = perf_counter_ns()
        for number, stage in enumerate(self._stages):
            if isinstance(stage, HostPart):
                self._on_host(core, stage, values, deadline, report)
            else:
                wanted = self._wanted(number)
                made = stage.run(core, bound.get(number, {}), values, wanted, deadline)
                _append(report, made)
        report.end_ns = perf_counter_ns()
        for port, address in zip(self.outputs, outputs, strict=True):
            if port.linear is not None:
                self._write(address, port.name, port.linear, values[port.name])
        return report

    def _wanted(self, number: int) -> set[str]:
        """What others read of a part's outputs."""
        later = self.package.parts[number + 1 :]
        return {name for part in later for name in part.inputs}

    def _on_host(
        self, core: Core, stage: HostPart, values: Values, deadline: float | None,
        report: TaskReport,
    ) -> None:  # fmt: skip
        begin = perf_counter_ns()
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            raise EngineTimeout("the deadline passed before a part on the host")
        try:
            values.update(stage.run(values, left))
        except TooLong as error:
            raise EngineTimeout(str(error)) from None
        shapes = [
            _shape(values[names[0]]) if names else (0, 0, 0)
            for names in (stage.part.inputs, stage.part.outputs)
        ]
        record = LayerRecord(
            report.count, report.task, "HOST", (), shapes[0], shapes[1], "float32", "",
            begin, perf_counter_ns(), 0, 0,
        )  # fmt: skip
        report.add(record)
        core.tell(record)

    def _read(self, address: int, tensor: Tensor) -> NDArray[Any]:
        data = self.space.view(address, tensor.size).tobytes()
        return np.frombuffer(data, tensor.dtype).reshape(tensor.shape)

    def _write(self, address: int, name: str, tensor: Tensor, value: NDArray[Any]) -> None:
        fits = value.shape == tensor.shape
        if tensor.varies and value.ndim == len(tensor.shape):
            fits = all(size <= most for size, most in zip(value.shape, tensor.shape, strict=True))
        if not fits or value.dtype.name != tensor.dtype:
            raise NvdlaError(
                f"output {printable(name)!r} came out as {value.dtype.name} {value.shape}, the"
                f" package says {tensor.dtype} {tensor.shape}"
            )
        whole = value
        if value.shape != tensor.shape:
            whole = np.full(tensor.shape, _nothing(value.dtype), value.dtype)
            whole[tuple(slice(size) for size in value.shape)] = value
        view = self.space.view(address, tensor.size, write=True)
        view[:] = np.frombuffer(whole.tobytes(), np.uint8)


def _nothing(dtype: np.dtype[Any]) -> float:
    """What stands for elements that are not there."""
    return {"f": float("nan"), "i": -1}.get(dtype.kind, 0)


def _fitting(note: PortNote, values: Values) -> NDArray[Any]:
    array = values[note.name]
    if array.shape != note.shape or array.dtype.kind not in "fiub":
        raise NvdlaError(
            f"{printable(note.name)!r} came out as {array.dtype.name} {array.shape}, the next part"
            f" takes {note.shape}"
        )
    return array


def _append(report: TaskReport, made: TaskReport) -> None:
    """Adds what a part did; tasks are numbered through."""
    for record in made.layers:
        report.add(replace(record, index=report.count, task=record.task + report.task))
    report.task += made.task + 1


def _shape(array: NDArray[Any]) -> tuple[int, int, int]:
    c, h, w = (*array.shape[1:], 1, 1, 1)[:3]
    return int(c), int(h), int(w)
