"""Fewer, larger parts: which of those for the hardware had better run on the host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from cudla_sim.nvdla.parts.transfers import transfers

from .costs import Costs
from .split import Cut

_MOST_TRIED = 12
"""Parts whose move is thought through each time: those with the least work."""

Split = Callable[[Collection[int]], list[Cut]]
"""The cuts when these nodes run on the host, too."""


@dataclass(frozen=True, slots=True)
class Move:
    """Nodes (by position) that go to the host."""

    nodes: tuple[int, ...]
    reason: str


def islands(cuts: Sequence[Cut], costs: Costs) -> list[Cut]:
    """Parts for the hardware that take from other parts and give to other parts; not the one with
    most work: somebody compiles for hardware because of that."""
    hardware = [cut for cut in cuts if not cut.host]
    if not hardware:
        return []
    main = max(hardware, key=lambda cut: (costs.macs(cut.nodes), len(cut.nodes)))
    moved = transfers(cuts)
    into = {item.part for item in moved if item.into}
    out = {item.part for item in moved if not item.into}
    return [cuts[number] for number in sorted(into & out) if cuts[number] is not main]


def moves(cuts: list[Cut], split: Split, costs: Costs, most: int | None) -> list[Move]:
    """What should run on the host: islands that are not worth their transfers, then, while there
    are more than *most* parts, whatever costs least."""
    found: list[Move] = []
    gone: set[int] = set()

    def cheapest(chosen: Sequence[Cut]) -> tuple[float, list[Cut], Cut] | None:
        small = sorted(chosen, key=lambda cut: costs.macs(cut.nodes))[:_MOST_TRIED]
        tried = [(split(gone | set(cut.nodes)), cut) for cut in small]
        if not tried:
            return None
        made, cut = min(tried, key=lambda item: costs.of(item[0]))
        return costs.of(made), made, cut

    while best := cheapest(islands(cuts, costs)):
        cost, made, cut = best
        if cost >= costs.of(cuts):
            break
        found.append(Move(cut.nodes, "its transfers cost more than the hardware saves"))
        gone |= set(cut.nodes)
        cuts = made
    while most is not None and len(cuts) > most:
        forced = cheapest([cut for cut in cuts if not cut.host])
        if forced is None:
            break
        _, cuts, cut = forced
        found.append(Move(cut.nodes, f"at most {most} parts are wanted"))
        gone |= set(cut.nodes)
    return found
