"""Small changes of a graph that every simplification needs."""

from __future__ import annotations

from collections.abc import Iterable

from ...graph import Graph, Node, Value


class Editing:
    """One pass over a graph: who makes and reads each value, kept up to date."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers: dict[Value, Node] = {node.output: node for node in graph.nodes}
        self.readers: dict[Value, list[Node]] = graph.consumers()
        self.outputs = {port.value for port in graph.outputs}
        self.changed = False
        self._gone: set[int] = set()

    def nodes(self) -> list[Node]:
        """The nodes in order; those that are removed meanwhile must be asked for with alive()."""
        return list(self.graph.nodes)

    def alive(self, node: Node) -> bool:
        """The node has not been removed."""
        return id(node) not in self._gone

    def only_reader(self, value: Value) -> Node | None:
        """The one node that reads *value*, if nobody else needs it in a form of its own."""
        readers = self.readers[value]
        if len(readers) != 1 or value in self.outputs or value.scale is not None:
            return None
        return readers[0]

    def absorb(self, first: Node, second: Node) -> None:
        """*first* now also computes what *second*, its only reader, did."""
        del self.makers[first.output]
        self.readers.pop(first.output)
        first.output = second.output
        self.makers[first.output] = first
        first.name = joined(first.name, second.name)
        self._remove(second)

    def bypass(self, node: Node) -> None:
        """Readers of *node* read its input instead."""
        source, result = node.inputs[0], node.output
        for reader in self.readers.pop(result):
            reader.inputs = [source if value is result else value for value in reader.inputs]
            if reader not in self.readers[source]:
                self.readers[source].append(reader)
        if node in self.readers[source]:
            self.readers[source].remove(node)
        for port in self.graph.outputs:
            if port.value is result:
                port.value = source
                self.outputs.add(source)
        del self.makers[result]
        self._remove(node)

    def replace(self, old: Iterable[Node], new: Node) -> None:
        """*new* stands for *old*, whose last node made its output; the others end with it."""
        gone = list(old)
        last = next(node for node in gone if node.output is new.output)
        self.graph.nodes[self.graph.nodes.index(last)] = new
        for node in gone:
            for value in set(node.inputs):
                if value in self.readers and node in self.readers[value]:
                    self.readers[value].remove(node)
            if node is not last:
                self.makers.pop(node.output, None)
                self._remove(node)
            self._gone.add(id(node))
        self.makers[new.output] = new
        for value in new.inputs:
            if new not in self.readers[value]:
                self.readers[value].append(new)
        self.changed = True

    def _remove(self, node: Node) -> None:
        self._gone.add(id(node))
        self.graph.nodes.remove(node)
        self.changed = True


def joined(*names: str) -> str:
    """Names of ONNX nodes as one, each once."""
    parts = dict.fromkeys(part for name in names for part in name.split(" + ") if part)
    return " + ".join(parts)
