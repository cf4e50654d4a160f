"""What `Network` can build for which configuration: every combination is built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudla_sim.compiler.layers.network import CURVES
from cudla_sim.compiler.layers.reference import POOLS
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.facts.precisions import FP16, INT8, INT16

from .tables import code, table

PRECISIONS = {"int8": INT8, "int16": INT16, "fp16": FP16}
_WEIGHTS = np.linspace(-1, 1, 8 * 8 * 9).reshape(8, 8, 3, 3)
_DOWN = np.linspace(-1, 1, 8 * 8 * 4).reshape(8, 8, 2, 2)
_FULL = np.linspace(-1, 1, 4 * 8 * 36).reshape(4, 8, 6, 6)


def _pooling(method: str) -> Callable[[Network], object]:
    return lambda net: net.pool(method, 2)


def _curve(name: str) -> Callable[[Network], object]:
    return lambda net: net.curve(name)


LAYERS: dict[str, Callable[[Network], object]] = {
    "convolution": lambda net: net.conv2d(_WEIGHTS, padding=1),
    "convolution, dilated": lambda net: net.conv2d(_WEIGHTS, padding=2, dilation=2),
    "convolution, compressed weights": lambda net: net.conv2d(_WEIGHTS, compress=True),
    "deconvolution": lambda net: net.deconv2d(_DOWN, stride=2),
    "fully connected": lambda net: net.fully_connected(_FULL.reshape(4, -1)),
    "ReLU": lambda net: net.relu(),
    "scale (batch norm)": lambda net: net.scale(np.ones(8), np.ones(8)),
    "add": lambda net: net.add(net.relu(), net.conv2d(_WEIGHTS, padding=1)),
    **{f"{method} pooling": _pooling(method) for method in POOLS},
    **{name: _curve(name) for name in CURVES},
    "LRN": lambda net: net.lrn(),
    "softmax (on the host)": lambda net: _softmax(net),
}


def _softmax(net: Network) -> object:
    net.fully_connected(_FULL.reshape(4, -1))
    return net.softmax()


def can(layer: str, config: str, precision: str) -> str:
    """ "" when the layer can be built, else why not."""
    try:
        net = Network(input=("x", (1, 8, 6, 6)), precision=precision, config=config)
        LAYERS[layer](net)
        net.build(np.linspace(-1, 1, 8 * 36).reshape(1, 8, 6, 6))
    except NvdlaError as error:
        return str(error)
    return ""


def page() -> str:
    """The page."""
    lines = [
        "# Layers and configurations",
        "",
        "The seven configurations of the public hardware sources. A loadable is compiled for one.",
        "",
    ]
    rows = []
    for name, c in CONFIGS.items():
        banks, width, entries = c.cbuf
        extras = {
            "tables (LUT)": c.lut, "Winograd": c.winograd, "batches": c.batch,
            "compressed weights": c.compression, "BDMA": c.bdma, "Rubik": c.rubik,
            "second memory": c.second_memory,
        }  # fmt: skip
        precisions = ", ".join(p for p, number in PRECISIONS.items() if number in c.precisions)
        rows.append(
            (
                code(name),
                str(c.macs_per_cycle()),
                f"{c.memory_atom} bytes",
                f"{banks} x {entries} x {width} bytes",
                precisions,
                ", ".join(word for word, has in extras.items() if has),
            )
        )
    heads = ("configuration", "int8 MACs a cycle", "memory atom", "convolution buffer")
    lines += [*table((*heads, "precisions", "has"), rows), ""]
    lines += [
        "## Layers of `Network`",
        "",
        "Precisions in which the layer can be built; this table is made by building each. The ONNX "
        "compiler composes more from these: see [ONNX nodes](../onnx_nodes.md).",
        "",
    ]
    rows = []
    for layer in LAYERS:
        cells = []
        for name in CONFIGS:
            good = [p for p in PRECISIONS if not can(layer, name, p)]
            cells.append(", ".join(good) or "-")
        rows.append((layer, *cells))
    lines += [*table(("layer", *map(code, CONFIGS)), rows), ""]
    return "\n".join(lines)
