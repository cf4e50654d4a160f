"""Running a loadable from files: inputs in, outputs and layers out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ..core import process
from ..core.memory import AddressSpace, Bytes
from . import layout, load_warnings, target
from .cosim.lockstep import Done
from .dla_core import Core
from .errors import NvdlaError
from .hw.memory import DTYPES
from .loadable import Loadable, TensorDesc
from .network import Binding, LoadedNetwork
from .settings import Settings
from .task_report import LayerRecord, TaskReport
from .timing import runs
from .timing.parameters import Surroundings
from .timing.runs import TimedRun


@dataclass
class Result:
    """``buffers`` are whole output buffers, ``values`` their valid elements as n, c, h, w.

    ``intermediate`` holds (name, array) per layer output when it was asked for.
    """

    config: str
    report: TaskReport
    tensors: list[TensorDesc]
    buffers: list[Bytes]
    values: list[NDArray[Any]]
    timed: TimedRun
    intermediate: list[tuple[str, NDArray[Any]]] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    """On hardware that is not ours: when each operation was done."""
    chip: str = ""
    """The name of that hardware."""


def run(
    loadable: Loadable,
    config_name: str,
    inputs: dict[int, Bytes],
    *,
    dump_layers: bool = False,
    around: Surroundings | None = None,
    chip: str = "",
    compare: str = "all",
    limit: int = 0,
) -> Result:
    """Runs a loadable once; inputs that are not given are zero. *around*: for hardware time; the
    settings, if None. *chip*, *compare*, *limit*: of ``nvdla.dla_core.Core``; *config_name* "": the
    configuration of *chip*. Raises NvdlaError."""
    space = AddressSpace("the network's memory")
    current = process.current()
    core = Core(
        config_name or target.AUTO,
        current.config.of(Settings).fp16,
        process=current,
        chip=chip or current.config.of(Settings).chip,
        compare=compare,
        limit=limit,
    )
    try:
        return _run(core, loadable, space, inputs, dump_layers, around)
    finally:
        core.close()


def _run(
    core: Core,
    loadable: Loadable,
    space: AddressSpace,
    inputs: dict[int, Bytes],
    dump_layers: bool,
    around: Surroundings | None,
) -> Result:
    current = process.current()
    config_name = core.config.name
    network = LoadedNetwork(loadable, space, config_name, current.config.general.margin)
    load_warnings.warn(loadable, network.config, current.config.of(Settings).checks)
    sources = [space.allocate(t.size, name=f"input {i}") for i, t in enumerate(loadable.inputs)]
    results = [space.allocate(t.size, name=f"output {i}") for i, t in enumerate(loadable.outputs)]
    for number, data in inputs.items():
        sources[number].data[: len(data)] = data
    addresses = [r.base for r in sources], [r.base for r in results]
    dumper = _Dumper(loadable, network, network.bind(*addresses)) if dump_layers else None
    report = core.run(network, *addresses, on_layer=dumper)
    buffers = [r.data for r in results]
    values = [layout.unpack_tensor(t, b) for t, b in zip(loadable.outputs, buffers, strict=True)]
    found = [] if dumper is None else dumper.found
    around = around or Surroundings.of(current.config)
    timed = runs.loadable(loadable, "", config_name, around)
    result = Result(config_name, report, list(loadable.outputs), buffers, values, timed, found)
    if core.beyond is not None:
        result.done = core.beyond.done
        result.chip = getattr(core.beyond.hardware, "name", "the hardware")
    return result


class _Dumper:
    """Takes a copy of what each hardware layer wrote to memory."""

    def __init__(self, loadable: Loadable, network: LoadedNetwork, binding: Binding) -> None:
        self.found: list[tuple[str, NDArray[Any]]] = []
        self._loadable = loadable
        self._network = network
        self._binding = binding
        self._layers = {(d.task, d.index): d for d in target.layers(loadable)}

    def __call__(self, record: LayerRecord) -> None:
        if record.unit.startswith("EMU") or not record.operations:
            return
        layer = self._layers.get((record.task, record.operations[-1]))
        written = target.written(layer.operation, layer.surface) if layer is not None else None
        if written is None:
            return
        cube, precision = written
        task = self._loadable.tasks[record.task]
        try:
            window, offset = self._network.task_memory(task, cube.address, self._binding)
            shape = (1, cube.channel, cube.height, cube.width)
            strides = (cube.line_stride, cube.surf_stride, 0)
            atom = self._network.config.memory_atom
            data = window.data[offset + (cube.offset or 0) :]
            array = layout.unpack_feature(data, shape, DTYPES[precision], atom, strides)
        except NvdlaError:
            return  # a cube that is not wholly there: the run itself has its say about that
        unit = record.unit.replace("+", "_").lower()
        self.found.append((f"{record.index:03d}_{unit}", array))
