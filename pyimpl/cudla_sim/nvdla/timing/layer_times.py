"""How the time of a loadable is shared by the layers of its network."""

from __future__ import annotations

from .. import annotation
from ..loadable import Interface, Loadable
from . import runs
from .parameters import Surroundings


def layer_times(network: Loadable, hardware: str, around: Surroundings) -> dict[str, int]:
    """{nodes that an operation computes, joined by " + ": cycles}, in the order in which they end.

    A layer has what it ends after the one before; what comes behind the last one, answers to
    interrupts, is the driver's. An operation that nobody describes has the name of its unit.
    """
    run = runs.loadable(network, "", hardware, around)
    note = annotation.read(network)
    names: dict[int, str] = {}
    if note is not None:
        names = {item.index: " + ".join(item.nodes) for item in note.operations}
    first = next((n for n, t in enumerate(network.tasks) if t.interface == Interface.DLA1), 0)
    times: dict[str, int] = {}
    before = 0
    for operation in sorted(run.operations, key=lambda item: item.end):
        known = [names[i] for i in operation.layers if i in names and operation.task == first]
        name = " + ".join(dict.fromkeys(known)) or f"{operation.unit} {operation.index}"
        times[name] = times.get(name, 0) + max(operation.end - before, 0)
        before = max(before, operation.end)
    if run.cycles > before:
        times["driver"] = times.get("driver", 0) + run.cycles - before
    return times
