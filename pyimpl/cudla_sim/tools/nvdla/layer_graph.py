"""The graph of a loadable's layers: who reads what whom wrote, as text and for graphviz."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...nvdla.facts.configs import OF_NVDLA_COMPILER, config
from .written import Written, ranges

_READ = ("src", "x1", "x2", "y")


@dataclass(frozen=True)
class Edge:
    """Data from one node to another; ``fused`` data never reaches memory."""

    source: str
    target: str
    shape: str
    fused: bool = False


@dataclass(frozen=True)
class Graph:
    """``nodes`` maps a name to its label, in order of execution, inputs first, outputs last."""

    nodes: dict[str, str]
    edges: list[Edge]


class GraphError(Exception):
    """A picture that cannot be drawn; the text says why."""


def build(description: dict[str, Any]) -> Graph:
    """The graph of what ``nvdla.inspect.describe`` returned."""
    nodes: dict[str, str] = {}
    edges: list[Edge] = []
    memories: defaultdict[int, Written] = defaultdict(Written)
    atom = _atom(description)
    tasks = {t["index"]: t["addresses"] for t in description["tasks"]}
    for number, tensor in enumerate(description["inputs"]):
        name = f"in{number}"
        nodes[name] = f"{tensor['name']} {_shape(tensor['shape'])}"
        for memory in _bound(description, "INPUT", number):
            memories[memory].write([(0, tensor["size"] + tensor["offset"])], name)
    for layer in description["layers"]:
        name = f"{layer['task']}.{layer['index']}"
        nodes[name] = f"{layer['index']} {layer['unit']} {layer['summary']}"
        addresses = tasks[layer["task"]]
        for cube in _reads(layer):
            if cube["memory"] == "HW":
                fused = f"{layer['task']}.{_fused_with(description, layer)}"
                edges.append(Edge(fused, name, _shape(cube["shape"]), fused=True))
            elif 0 <= cube["address"] < len(addresses):
                written = memories[addresses[cube["address"]]]
                for source in written.read(ranges(cube, atom)):
                    edges.append(Edge(source, name, _shape(cube["shape"])))
        for cube in _writes(layer):
            if cube["memory"] != "HW" and 0 <= cube["address"] < len(addresses):
                memories[addresses[cube["address"]]].write(ranges(cube, atom), name)
    for number, tensor in enumerate(description["outputs"]):
        name = f"out{number}"
        nodes[name] = f"{tensor['name']} {_shape(tensor['shape'])}"
        for memory in _bound(description, "OUTPUT", number):
            whole = tensor["offset"], tensor["offset"] + tensor["size"]
            for source in memories[memory].read([whole]):
                edges.append(Edge(source, name, _shape(tensor["shape"])))
    return Graph(nodes, edges)


def _atom(description: dict[str, Any]) -> int:
    """Bytes of a position in a surface, of the first configuration that takes it."""
    names = description["target"]["possible"] or OF_NVDLA_COMPILER
    return config(names[0]).memory_atom


def _shape(shape: list[int]) -> str:
    return "x".join(map(str, shape))


def _reads(layer: dict[str, Any]) -> list[dict[str, Any]]:
    if layer["unit"] == "EMU":
        return [_emu(layer, "src")]
    return [layer["cubes"][k] for k in _READ if layer["cubes"].get(k)]


def _writes(layer: dict[str, Any]) -> list[dict[str, Any]]:
    if layer["unit"] == "EMU":
        return [_emu(layer, "dst")]
    return [layer["cubes"]["dst"]] if layer["cubes"].get("dst") else []


def _emu(layer: dict[str, Any], side: str) -> dict[str, Any]:
    cube = layer["parameters"][side]
    shape = [cube["channel"], cube["height"], cube["width"]]
    return {"memory": "MC", "shape": shape, **{k: cube[k] for k in ("address", "offset", "size")}}


def _bound(description: dict[str, Any], flag: str, number: int) -> list[int]:
    return [
        m["index"]
        for m in description["memory"]
        if flag in m["flags"] and m.get("bind_id", 0) == number
    ]


def _fused_with(description: dict[str, Any], layer: dict[str, Any]) -> int:
    """The operation whose result arrives on the fly: the latest one before that writes so."""
    for other in reversed(description["layers"]):
        if other["task"] != layer["task"] or other["index"] >= layer["index"]:
            continue
        cube = other["cubes"].get("dst")
        if cube and cube["memory"] == "HW":
            return int(other["index"])
    return int(layer["index"]) - 1


def text(graph: Graph) -> str:
    """A line a node, with what it reads: ``<-`` through memory, ``<=`` on the fly."""
    lines = ["graph:"]
    width = max(len(n) for n in graph.nodes)
    for name, label in graph.nodes.items():
        sources = [e for e in graph.edges if e.target == name]
        reads = "  ".join(f"{'<=' if e.fused else '<-'} {e.source} ({e.shape})" for e in sources)
        lines.append(f"  {name:{width}}  {label}" + (f"   {reads}" if reads else ""))
    return "\n".join(lines)


def dot(graph: Graph) -> str:
    """The graph in graphviz's language."""
    lines = ["digraph loadable {", "  node [shape=box, fontname=monospace];"]
    for name, label in graph.nodes.items():
        shape = ", style=rounded" if name.startswith(("in", "out")) else ""
        escaped = label.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  "{name}" [label="{escaped}"{shape}];')
    for e in graph.edges:
        style = ", style=bold" if e.fused else ""
        lines.append(f'  "{e.source}" -> "{e.target}" [label="{e.shape}"{style}];')
    return "\n".join([*lines, "}"]) + "\n"


def draw(graph: Graph, path: Path) -> None:
    """Writes .dot text, or a picture in the format of the file's name. Raises GraphError."""
    source = dot(graph)
    if path.suffix in (".dot", ".gv"):
        path.write_text(source)
        return
    program = shutil.which("dot")
    if program is None:
        raise GraphError(
            f"{path}: pictures need graphviz (apt-get install graphviz); .dot does not"
        )
    command = [program, f"-T{path.suffix[1:] or 'png'}", "-o", str(path)]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraphError(f"{path}: {done.stderr.strip()}")
