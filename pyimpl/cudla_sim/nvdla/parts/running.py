"""Running a network in parts on real numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.process import Process
from ..errors import NvdlaError
from ..real_numbers import RealNetwork
from . import host
from .part import Part

if TYPE_CHECKING:
    from typing_extensions import Self

Arrays = dict[str, NDArray[Any]]
_NUMPY = {"float": "float32", "double": "float64"}
"""onnxruntime's words for element types that numpy calls otherwise."""


class HostPart:
    """A part that onnxruntime runs. Raises HostError."""

    def __init__(self, part: Part) -> None:
        if host.has_external_data(part.data):
            raise host.HostError("a part on the host names data files outside of the package")
        self.part = part
        self._session = host.session(part.data)
        self._types = self._session.input_types()
        unknown = [name for name in part.inputs if name not in self._types]
        if unknown:
            raise host.HostError(f"a part on the host has no input {unknown[0]!r}")

    def run(self, values: Mapping[str, NDArray[Any]], seconds: float | None = None) -> Arrays:
        """Its outputs by name; inputs get the element type that the part's model has."""
        feeds = {name: self._fitting(name, values[name]) for name in self.part.inputs}
        if not self.part.outputs:  # onnxruntime would take none for all
            return {}
        made = self._session.run(list(self.part.outputs), feeds, seconds)
        return dict(zip(self.part.outputs, made, strict=True))

    def _fitting(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        word = self._types[name].removeprefix("tensor(").removesuffix(")")
        try:
            wanted = np.dtype(_NUMPY.get(word, word))
        except TypeError:
            return array
        whole = array.dtype.kind in "iub" or wanted.kind == "f"
        return array.astype(wanted, copy=False) if whole else array


class HardwarePart:
    """A part that the simulated hardware runs. Raises NvdlaError."""

    def __init__(self, part: Part, hardware: str, within: Process | None) -> None:
        self.part = part
        self.network = RealNetwork(part.data, hardware, within)

    def run(self, values: Mapping[str, NDArray[Any]]) -> Arrays:
        """Its outputs by name."""
        made = self.network.run({name: values[name] for name in self.part.inputs})
        absent = [name for name in self.part.outputs if name not in made]
        if absent:
            raise NvdlaError(f"the part that should compute {absent[0]!r} does not")
        return made

    def close(self) -> None:
        """Free its memory."""
        self.network.close()


class LoadedPackage:
    """Sessions and networks of all parts; a context manager.

    *inputs* have shapes as the ONNX model has them; *hardware* is a configuration, *within* the
    simulated process whose settings count. Raises NvdlaError.
    """

    def __init__(
        self,
        inputs: Mapping[str, tuple[int, ...]],
        outputs: Sequence[str],
        parts: Sequence[Part],
        hardware: str,
        within: Process | None = None,
    ) -> None:
        self.inputs, self.outputs = dict(inputs), tuple(outputs)
        self._runners: list[HostPart | HardwarePart] = []
        try:
            for part in parts:
                self._runners.append(
                    HostPart(part) if part.host else HardwarePart(part, hardware, within)
                )
        except BaseException:
            self.close()
            raise

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
            if isinstance(runner, HardwarePart):
                runner.close()
        self._runners = []

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Run all parts on arrays in the shapes of the ONNX model; its outputs by name.

        The first axis of all feeds may be a multiple of the model's: the network then runs several
        times. Raises NvdlaError for missing, unknown or wrongly shaped inputs.
        """
        given = {name: np.asarray(array) for name, array in self._checked(feeds).items()}
        found = [self._once(turn) for turn in self._turns(given)]
        if len(found) == 1:
            return found[0]
        for name in self.outputs:
            shapes = {made[name].shape for made in found}
            if len(shapes) > 1 or () in shapes:
                why = "another shape for each sample" if len(shapes) > 1 else "one number"
                raise NvdlaError(f"output {name!r} has {why}; run samples one by one")
        return {name: np.concatenate([made[name] for made in found]) for name in self.outputs}

    def _checked(self, feeds: Mapping[str, Any]) -> Mapping[str, Any]:
        unknown = [name for name in feeds if name not in self.inputs]
        missing = [name for name in self.inputs if name not in feeds]
        if unknown or missing:
            what = f"no input {unknown[0]!r}" if unknown else f"input {missing[0]!r} is missing"
            raise NvdlaError(f"{what}; the inputs are {', '.join(self.inputs)}")
        return feeds

    def _turns(self, given: Arrays) -> Iterator[Arrays]:
        counts = {self._count(name, array) for name, array in given.items()}
        if len(counts) > 1:
            raise NvdlaError(f"the inputs have different numbers of samples: {sorted(counts)}")
        times = counts.pop() if counts else 1
        if times == 1:
            yield given
            return
        for turn in range(times):
            yield {
                name: array[turn * len(array) // times : (turn + 1) * len(array) // times]
                for name, array in given.items()
            }

    def _count(self, name: str, array: NDArray[Any]) -> int:
        """How many samples an array holds."""
        shape = self.inputs[name]
        if array.dtype.kind not in "fiub":
            raise NvdlaError(f"input {name!r} has elements of type {array.dtype}")
        if array.shape == shape:
            return 1
        same = shape and array.ndim == len(shape) and array.shape[1:] == shape[1:]
        if not same or not shape[0] or array.shape[0] % shape[0] or array.shape[0] == 0:
            raise NvdlaError(f"input {name!r} is {shape}, the array is {array.shape}")
        return array.shape[0] // shape[0]

    def _once(self, values: Arrays) -> Arrays:
        known = dict(values)
        for runner in self._runners:
            known.update(runner.run(known))
        return {name: known[name] for name in self.outputs}
