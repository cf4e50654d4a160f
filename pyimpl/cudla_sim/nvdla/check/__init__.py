"""Would real hardware take this loadable? The simulator computes more than hardware can.

It ignores bank numbers, the width of line buffers and the order of engines, none of which change
results here. The checker finds what hardware would refuse, hang on or compute differently.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ..descriptors import (
    BdmaSurface,
    CdpOp,
    CdpSurface,
    ConvOp,
    ConvSurface,
    NetworkDesc,
    OpType,
    PdpOp,
    PdpSurface,
    RubikOp,
    RubikSurface,
    SdpOp,
    SdpSurface,
)
from ..errors import NvdlaError
from ..facts.configs import HardwareConfig
from ..facts.configs import config as config_of
from ..facts.limits import MOST_ADDRESSES, MOST_OPERATIONS
from ..loadable import Interface, Loadable
from ..target import LayerDesc, layers, network_desc
from . import convolution, hazards, memory, moves, pointwise, pooling
from .inspection import Accesses, Inspection
from .order import Order
from .violation import WHOLE_TASK, Violation

__all__ = ["WHOLE_TASK", "Violation", "check"]


def check(
    loadable: Loadable,
    config: str | HardwareConfig,
    progress: Callable[[int, int], None] | None = None,
) -> list[Violation]:
    """Return what hardware of *config* would not take, in order of tasks and operations.

    *progress* is told, before each operation, how many are done and how many there are. Raises
    NvdlaError if the lists of a task cannot be decoded.
    """
    hardware = config_of(config) if isinstance(config, str) else config
    by_task: dict[int, list[LayerDesc]] = {}
    everything = list(layers(loadable))
    for layer in everything:
        by_task.setdefault(layer.task, []).append(layer)
    counted = itertools.count()

    def step() -> None:
        if progress is not None:
            progress(next(counted), len(everything))

    found: list[Violation] = []
    for number, task in enumerate(loadable.tasks):
        if task.interface != Interface.DLA1:
            continue
        network = network_desc(loadable, task)
        found += _limits(number, len(task.address_list), network)
        if number in by_task:
            found += _task(loadable, hardware, number, by_task[number], network, step)
    return found


def _limits(number: int, addresses: int, network: NetworkDesc) -> list[Violation]:
    found = []
    for where, value, most in (
        ("address_list", addresses, MOST_ADDRESSES),
        ("num_operations", network.num_operations, MOST_OPERATIONS),
    ):
        if value > most:
            text = f"{value} entries; {most} are possible"
            found.append(Violation(number, WHOLE_TASK, "task", where, text))
    if network.num_addresses > addresses:
        text = f"{network.num_addresses}; the task has {addresses} addresses"
        found.append(Violation(number, WHOLE_TASK, "task", "num_addresses", text))
    return found


def _task(
    loadable: Loadable,
    hardware: HardwareConfig,
    number: int,
    operations: list[LayerDesc],
    network: NetworkDesc,
    step: Callable[[], None],
) -> list[Violation]:
    order = Order(operations, network)
    looks = [Inspection(loadable, loadable.tasks[number], item, hardware) for item in operations]
    done = []
    for look in looks:
        step()
        done.append(_operation(look, network))
    _neighbours(looks, order)
    found = order.found + [item for look in looks for item in look.found]
    for layer, accesses in zip(operations, done, strict=True):
        found += memory.find(loadable, layer, accesses)
    found += hazards.find(operations, done, order)
    return sorted(found, key=lambda item: item.operation)


def _operation(look: Inspection, network: NetworkDesc) -> Accesses:
    """Apply the rules of one operation's unit."""
    operation, surface = look.layer.operation, look.layer.surface
    index = getattr(operation, "lut_index", -1)
    if index >= network.num_luts:
        look.bad("lut_index", f"{index}; the task has {network.num_luts} tables")
    match operation, surface:
        case ConvOp(), ConvSurface():
            return convolution.inspect(look, operation, surface)
        case SdpOp(), SdpSurface():
            return pointwise.inspect(look, operation, surface)
        case PdpOp(), PdpSurface():
            return pooling.inspect(look, operation, surface)
        case CdpOp(), CdpSurface():
            return moves.normalisation(look, operation, surface)
        case RubikOp(), RubikSurface():
            return moves.reshape(look, operation, surface)
        case _, BdmaSurface():
            return moves.copies(look, surface)
    raise NvdlaError(f"operation {look.layer.index} has a surface of another unit")


def _neighbours(looks: list[Inspection], order: Order) -> None:
    """Rules between operations: results on the fly, reuse of the convolution buffer."""
    for giver, taker in order.pairs.items():
        first, second = looks[giver].layer, looks[taker].layer
        match first.operation, first.surface, second.operation, second.surface:
            case ConvOp(), ConvSurface(), SdpOp(), SdpSurface():
                source = first.operation, first.surface
                pointwise.behind(looks[taker], second.operation, second.surface, source)
            case SdpOp(), SdpSurface(), PdpOp(), PdpSurface():
                pooling.behind(looks[taker], second.surface, first.surface.dst)
    before: Inspection | None = None
    for index in order.queues[OpType.CONV]:
        operation = looks[index].layer.operation
        if isinstance(operation, ConvOp):
            convolution.follows(looks[index], operation, before)
            before = looks[index]
