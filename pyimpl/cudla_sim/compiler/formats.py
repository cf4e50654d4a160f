"""Formats of inputs and outputs, in TensorRT's words.

"type:format": int8 or fp16; chw16 and chw32 are the feature formats of 32-byte atoms, dla_hwc4 an
interleaved picture of four channels, dla_linear planes. Source: TensorRT developer
guide, DLA I/O formats.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, NUMBERS, element_size

from . import graph as g
from .errors import CompileError, Refusal, Refused
from .options import Options
from .pixels import Image

_FEATURE = {"chw", "chw8", "chw16", "chw32", "feature"}
_PICTURE = {"dla_hwc4", "hwc4", "chw4"}
_LINEAR = {"dla_linear", "linear"}
_BYTES = {"chw32": 1, "chw16": 2}
"""An atom is 32 bytes: these names say the size of an element."""


@dataclass(frozen=True, slots=True)
class Formats:
    """Outputs in fp16 of an integer network, inputs that are pictures (and how pixels become values
    there), and what is planar."""

    halves: frozenset[g.Value]
    pictures: dict[g.Value, Image | None]
    planes: frozenset[g.Value]
    kept: frozenset[str]
    """Names of the nodes that compute in fp16."""


def choose(graph: g.Graph, options: Options, config: HardwareConfig, precision: int) -> Formats:
    """Read the options; CompileError names what cannot be had."""
    halves, planes = set(), set()
    pictures: dict[g.Value, Image | None] = {
        port.value: port.image for port in graph.inputs if port.image is not None
    }
    for kind, ports, wanted in (
        ("input", graph.inputs, options.input_formats),
        ("output", graph.outputs, options.output_formats),
    ):
        by_name = {port.name: port for port in ports}
        for name, text in wanted.items():
            port = by_name.get(name)
            if port is None:
                raise CompileError(
                    f"--{kind}-format {name}: the network's {kind}s are {', '.join(by_name)}"
                )
            stored, layout = _read(kind, name, text)
            if stored != precision:
                if kind == "output" and stored == FP16 and FP16 in config.precisions:
                    halves.add(port.value)
                else:
                    raise CompileError(
                        f"--{kind}-format {name}={text}: {config.name} in"
                        f" {options.precision} has {kind}s of {options.precision}"
                        + (" or fp16" if kind == "output" and FP16 in config.precisions else "")
                    )
            if layout in _PICTURE and kind == "output":
                raise CompileError(f"--output-format {name}={text}: only inputs can be pictures")
            if layout in _PICTURE or (layout in _LINEAR and _one_channel(kind, port)):
                pictures[port.value] = port.image
            elif layout in _LINEAR:
                if not config.rubik:
                    raise CompileError(
                        f"--{kind}-format {name}={text}: {config.name} has no unit for planes"
                        " (RUBIK); take chw32, chw16 or, for inputs, dla_hwc4"
                    )
                planes.add(port.value)
    return Formats(frozenset(halves), pictures, frozenset(planes), _kept(graph, options, config))


def _one_channel(kind: str, port: g.Port) -> bool:
    """True if planes are a picture of one channel, which convolutions read."""
    return kind == "input" and port.value.shape[1] == 1


def _kept(graph: g.Graph, options: Options, config: HardwareConfig) -> frozenset[str]:
    """Names of nodes to compute in fp16; CompileError for names that no node has."""
    names = {name for node in graph.nodes for name in node.name.split(" + ")}
    unknown = [name for name in options.keep_fp16 if name not in names]
    if unknown:
        raise CompileError(f"--keep-fp16: no node is named {', '.join(unknown)}")
    if options.keep_fp16 and FP16 not in config.precisions:
        raise CompileError(f"--keep-fp16: {config.name} has no fp16 arithmetic; nv_full has")
    precise = {name for name in names if name in graph.precise}
    if options.precision != "int8" or not precise:
        return frozenset(options.keep_fp16)
    if FP16 not in config.precisions:
        why = f"it divides by the data's own variance: {config.name} has integers of 8 bits only"
        cure = (
            "train with BatchNormalization, take nv_full, or leave it to the host: --fallback cpu"
        )
        raise Refused([Refusal(name, "normalisation", why, cure) for name in sorted(precise)])
    return frozenset(options.keep_fp16) | precise


def _read(kind: str, name: str, text: str) -> tuple[int, str]:
    """Type and format of "int8:chw32"."""
    type_name, _, layout = text.partition(":")
    if type_name not in NUMBERS or (layout or "chw") not in _FEATURE | _PICTURE | _LINEAR:
        raise CompileError(
            f"--{kind}-format {name}={text}: type:format expected, types int8, int16, fp16,"
            " formats chw32, chw16, dla_hwc4, dla_linear"
        )
    if _BYTES.get(layout, element_size(NUMBERS[type_name])) != element_size(NUMBERS[type_name]):
        raise CompileError(
            f"--{kind}-format {name}={text}: chw32 holds int8, chw16 holds fp16 and int16"
        )
    return NUMBERS[type_name], layout or "chw"
