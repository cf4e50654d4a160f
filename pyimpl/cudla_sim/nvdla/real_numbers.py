"""Running a loadable of the ONNX compiler on real numbers.

The annotation of the loadable says how the tensors of the ONNX model lie in its buffers; arrays
go in and out in the shapes of the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import process
from ..core.memory import AddressSpace
from ..core.process import Process
from ..core.text import tell
from . import layout, load_warnings, target
from .annotation import PlaceNote, PortNote
from .dla_core import Core
from .errors import NvdlaError
from .facts.configs import config
from .facts.precisions import NUMBERS
from .hw.memory import DTYPES
from .loadable import Loadable
from .network import LoadedNetwork
from .real_tensors import Real, described, pack, reals_of, unpack
from .settings import Settings
from .task_report import LayerRecord, TaskReport

if TYPE_CHECKING:
    from typing_extensions import Self

Arrays = dict[str, NDArray[Any]]
OnPlace = Callable[[PlaceNote, Real], None]


class RealNetwork:
    """A loadable, loaded once for many runs. A context manager; :meth:`close` frees its memory.

    *image* are the bytes of the loadable, *hardware* a configuration (by default the one it was
    compiled for), *within* the simulated process whose settings count (by default the current
    one). Raises NvdlaError for a loadable that is not from the ONNX compiler.
    """

    def __init__(
        self, image: bytes | Loadable, hardware: str = "", within: Process | None = None
    ) -> None:
        self.loadable = image if isinstance(image, Loadable) else Loadable.parse(image)
        self.note = described(self.loadable)
        owner = within or process.current()
        settings = owner.config.of(Settings)
        self.config = config(target.choose(self.loadable, hardware))
        self._space = AddressSpace("the network's memory")
        self._network = LoadedNetwork(self.loadable, self._space, self.config)
        load_warnings.warn(self.loadable, self.config, settings.checks)
        self._core = Core(self.config, settings.fp16, process=owner)
        self._buffers = [
            [self._space.allocate(max(t.size, 1), name=t.name) for t in tensors]
            for tensors in (self.loadable.inputs, self.loadable.outputs)
        ]
        self._remarked: set[str] = set()
        self.report: TaskReport | None = None
        """What the last run did."""

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
        """Free the memory of the network and of its tensors."""
        self._network.close()
        for regions in self._buffers:
            for region in regions:
                self._space.unmap(region)
        self._buffers = [[], []]

    # -- running ------------------------------------------------------------------------------

    def run(self, feeds: Mapping[str, Any], on_place: OnPlace | None = None) -> Arrays:
        """Run on arrays in the shapes of the ONNX model; return its outputs by name.

        They are float32, or integers where the model has quantised outputs. The first axis of all
        feeds may be a multiple of the model's: the network then runs several times. *on_place* gets
        each value in memory, as [n, c, h, w], when it is complete. Raises NvdlaError for missing,
        unknown or wrongly shaped inputs and for NaN in integer inputs.
        """
        given, times = self._feeds(feeds)
        made: list[list[NDArray[Any]]] = [[] for _ in self.note.outputs]
        for turn in range(times):
            part = [
                array[turn * note.shape[0] : (turn + 1) * note.shape[0]] if times > 1 else array
                for note, array in zip(self.note.inputs, given, strict=True)
            ]
            for results, array in zip(made, self._once(part, on_place), strict=True):
                results.append(array)
        return {
            note.name: arrays[0] if times == 1 else np.concatenate(arrays)
            for note, arrays in zip(self.note.outputs, made, strict=True)
        }

    def _feeds(self, feeds: Mapping[str, Any]) -> tuple[list[NDArray[Any]], int]:
        names = [note.name for note in self.note.inputs]
        for name in feeds:
            if name not in names:
                raise NvdlaError(f"there is no input {name!r}; the inputs are {', '.join(names)}")
        found, counts = [], set()
        for note in self.note.inputs:
            if note.name not in feeds:
                raise NvdlaError(f"input {note.name!r} is missing; its shape is {note.shape}")
            array = np.asarray(feeds[note.name])
            counts.add(self._count(note, array))
            found.append(array)
        if len(counts) > 1:
            raise NvdlaError(f"the inputs have different numbers of samples: {sorted(counts)}")
        return found, counts.pop() if counts else 1

    @staticmethod
    def _count(note: PortNote, array: NDArray[Any]) -> int:
        """How many samples an array holds."""
        if array.dtype.kind not in "fiub":
            raise NvdlaError(f"input {note.name!r} has elements of type {array.dtype}")
        if array.shape == note.shape:
            return 1
        same = note.shape and array.ndim == len(note.shape) and array.shape[1:] == note.shape[1:]
        if not same or array.shape[0] % note.shape[0] or array.shape[0] == 0:
            raise NvdlaError(f"input {note.name!r} is {note.shape}, the array is {array.shape}")
        return array.shape[0] // note.shape[0]

    def _remark(self, name: str, text: str) -> None:
        """Says what is odd about an input, once."""
        if name not in self._remarked:
            self._remarked.add(name)
            tell(f"cudla-sim: {text}")

    def _once(self, feeds: Sequence[NDArray[Any]], on_place: OnPlace | None) -> list[NDArray[Any]]:
        inputs, outputs = self._buffers
        for note, tensor, region, array in zip(
            self.note.inputs, self.loadable.inputs, inputs, feeds, strict=True
        ):
            atom = self.config.memory_atom
            region.data[: tensor.size] = pack(note, tensor, atom, array, self._remark)
        addresses = [region.base for region in inputs], [region.base for region in outputs]
        watch = None
        if on_place is not None:
            watch = _Watch(self._network, self.note.places, addresses, on_place)
        self.report = self._core.run(self._network, *addresses, on_layer=watch)
        return [
            unpack(note, tensor, self.config.memory_atom, region.data)
            for note, tensor, region in zip(
                self.note.outputs, self.loadable.outputs, outputs, strict=True
            )
        ]


class _Watch:
    """Reads values out of memory when the last of their operations has run."""

    def __init__(
        self,
        network: LoadedNetwork,
        places: Sequence[PlaceNote],
        addresses: tuple[list[int], list[int]],
        found: OnPlace,
    ) -> None:
        self._network = network
        self._binding = network.bind(*addresses)
        self._found = found
        self._missing = {number: set(place.operations) for number, place in enumerate(places)}
        self._places = places
        self._waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            for operation in place.operations:
                self._waiting[place.task, operation].append(number)

    def __call__(self, record: LayerRecord) -> None:
        for operation in record.operations:
            for number in self._waiting.get((record.task, operation), ()):
                missing = self._missing[number]
                missing.discard(operation)
                if not missing:
                    place = self._places[number]
                    self._found(place, self._read(place))

    def _read(self, place: PlaceNote) -> Real:
        task = self._network.loadable.tasks[place.task]
        window, offset = self._network.task_memory(task, place.address, self._binding)
        number, channels, height, width = place.value
        stored = channels if place.channels is None else max(place.channels) + 1
        elements = layout.unpack_feature(
            window.data[offset + place.offset :],
            (number, stored, height, width),
            DTYPES[NUMBERS[place.precision]],
            self._network.config.memory_atom,
            (place.line, place.surface, place.batch),
        )
        if place.channels is not None:
            elements = elements[:, list(place.channels)]
        return reals_of(elements, place.scale, place.zero)


def run(image: bytes | Loadable, feeds: Mapping[str, Any], hardware: str = "") -> Arrays:
    """Run a loadable once on real numbers; see :class:`RealNetwork`."""
    with RealNetwork(image, hardware) as network:
        return network.run(feeds)
