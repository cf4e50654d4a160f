"""The dependency graph in memory, with reference counts.

An entry is read when it is first needed and written back when its last user lets go of it, so the
dependency counts in the task's memory change while it runs. Source: nvdla/sw firmware, cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..descriptors import DEPENDENCY_SIZE, CommonOpDesc
from .port import Port, invalid


@dataclass(slots=True)
class Node:
    """A cached graph entry."""

    desc: CommonOpDesc
    index: int
    roi: int
    users: int = 0

    @property
    def op_type(self) -> int:
        return self.desc.op_type


class Graph:
    """Access to the dependency graph of one task."""

    def __init__(self, port: Port, handle: int, operations: int) -> None:
        self._port = port
        self._handle = handle
        self._operations = operations
        self._nodes: dict[tuple[int, int], Node] = {}

    def _offset(self, index: int, roi: int) -> int:
        return DEPENDENCY_SIZE * (self._operations * roi + index)

    def get(self, index: int, op_type: int, roi: int) -> Node | None:
        """Return entry *index* (None for -1), which must be of *op_type*, and hold it."""
        if index == -1:
            return None
        if not 0 <= index < self._operations:
            raise invalid(f"operation index {index}: the network has {self._operations}")
        node = self._nodes.get((index, roi))
        if node is None:
            raw = self._port.data_read(self._handle, DEPENDENCY_SIZE, self._offset(index, roi))
            desc = CommonOpDesc.decode(raw)
            node = Node(desc, index, roi)
            desc.index, desc.roi_index = index, roi
            self._nodes[index, roi] = node
        if node.desc.op_type != op_type:
            raise invalid(
                f"operation {index} has type {node.desc.op_type}, another one refers to it as"
                f" type {op_type}"
            )
        node.users += 1
        return node

    def hold(self, node: Node) -> None:
        """Add a user."""
        node.users += 1

    def put(self, node: Node | None) -> None:
        """Drop a user; the last one writes the entry back."""
        if node is None:
            return
        node.users -= 1
        if node.users:
            return
        del self._nodes[node.index, node.roi]
        offset = self._offset(node.index, node.roi)
        self._port.data_write(self._handle, node.desc.encode(), offset)
