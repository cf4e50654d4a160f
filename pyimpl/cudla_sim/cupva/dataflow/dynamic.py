"""DynamicDataFlow: a tile for each of its nodes with one trigger, again and again."""

from __future__ import annotations

from ..dma import VMEM, Move
from ..errors import CupvaError
from ..pointers import OffsetPointer
from .base import DataFlow, Locator, Tile, invalid
from .static import StaticDataFlow

MAX_NODES = 4
MAX_LANES = 8


class Node(StaticDataFlow):
    """One tile; set up like a StaticDataFlow without dimensions and lists."""

    kind = "DynamicDataFlow::Node"
    primitive = False


class DynamicDataFlow(DataFlow):
    """Nodes in lanes. Source: cuPVA API reference, class DynamicDataFlow."""

    kind = "DynamicDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.counts = (1, 1)
        self.nodes: dict[tuple[int, int], Node] = {}
        """By lane and node."""

    def set_counts(self, nodes: int, lanes: int) -> None:
        """Raises CupvaError(InvalidArgument): more than 4 nodes a lane, or 8 lanes."""
        if not 1 <= nodes <= MAX_NODES or not 1 <= lanes <= MAX_LANES:
            raise invalid(
                f"{self.name}: {nodes} nodes in each of {lanes} lanes; 1 to {MAX_NODES} and 1 "
                f"to {MAX_LANES} lanes"
            )
        self.counts = (nodes, lanes)

    def node(self, number: int, lane: int) -> Node:
        """Raises CupvaError(InvalidArgument) for one that set_counts does not have."""
        nodes, lanes = self.counts
        if not 0 <= number < nodes or not 0 <= lane < lanes:
            raise invalid(
                f"{self.name}: node {number} of lane {lane}; there are nodes 0 to {nodes - 1} in "
                f"lanes 0 to {lanes - 1}"
            )
        name = f"{self.name}, node {number} of lane {lane}"
        return self.nodes.setdefault((lane, number), Node(name))

    def _ordered(self) -> list[Node]:
        nodes, lanes = self.counts
        return [self.node(number, lane) for lane in range(lanes) for number in range(nodes)]

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        return [p for node in self.nodes.values() for p in node.offset_pointers]

    def moves(self, locate: Locator) -> list[Move]:
        """A tile a node, all with one trigger.

        Raises CupvaError(InvalidArgument): no handler, a node without a tile, without one side in
        VMEM, or that breaks a rule of StaticDataFlow; nodes that read and nodes that write.
        """
        self.require_handler()
        found = []
        for node in self._ordered():
            if not node.tile_size[0]:
                raise invalid(f"{node.name}: it has no tile")
            if node.pixel_bytes not in (1, 2, 4):
                raise invalid(f"{node.name}: bpp is {node.pixel_bytes}; 1, 2 or 4")
            try:
                found += node.moves(locate)
            except CupvaError as error:
                raise invalid(f"{node.name}: {error.explanation}") from None
            if (found[-1].src.space == VMEM) == (found[-1].dst.space == VMEM):
                raise invalid(f"{node.name}: one of source and destination is in VMEM")
            if found[-1].dst.space != found[0].dst.space:
                raise invalid(f"{self.name}: some nodes read and others write; use two dataflows")
            found[-1].chained = True
        found[-1].chained = False
        return found

    def device_info(self, locate: Locator) -> dict[str, int]:
        """``planes``: nodes of a lane; ``niter_c``: lanes."""
        return {"planes": self.counts[0], "niter_c": self.counts[1]}

    @property
    def table_bytes(self) -> int:
        """DDF_TBL_SIZE, DDF_PARALLEL_TBL_SIZE of cupva_device/dynamic_dataflow.h, in bytes."""
        return 64 + 64 * self.counts[0] * self.counts[1]

    def tiles(self, locate: Locator) -> list[Tile]:
        """One for each node: where the host has put it."""
        self.moves(locate)
        found = [tile for node in self._ordered() for tile in node.tiles(locate)]
        return [tile._replace(order=n, trigger=0) for n, tile in enumerate(found)]
