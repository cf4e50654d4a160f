"""``check``: which layers of a network the DLA of a board takes, and why not the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from ..board_table import BOARDS, NAMES, Board
from ..compiler.calibrate.table import Table
from .decisions import Decision, decide
from .errors import DlaError
from .layers import Layer, Network
from .messages import Message, of_decisions, of_placement, of_standalone
from .network import read, scales
from .releases import DEFAULT, Release, release
from .rules.rule import table
from .subgraphs import Subgraph, formed, limited

if TYPE_CHECKING:
    import onnx

LOCAL_DRAM, GLOBAL_DRAM = 1 << 30, 512 << 20
"""Defaults of kDLA_LOCAL_DRAM and kDLA_GLOBAL_DRAM in bytes (NvInfer.h)."""


@dataclass(frozen=True)
class Report:
    """What TensorRT would do with a network on a board.

    *precision* is the best that was allowed. *fallback*: what the DLA does not take may run on the
    GPU. *decisions*: one a layer, in graph order. *subgraphs*: the loadables. *messages*:
    TensorRT's lines. *notes*: what is not sure, or worth knowing.
    """

    network: Network
    board: Board
    tensorrt: Release
    precision: str
    standalone: bool
    fallback: bool
    decisions: tuple[Decision, ...]
    subgraphs: tuple[Subgraph, ...]
    messages: tuple[Message, ...]
    notes: tuple[str, ...]

    @property
    def on_dla(self) -> list[Decision]:
        return [decision for decision in self.decisions if decision.device == "DLA"]

    @property
    def on_gpu(self) -> list[Decision]:
        return [decision for decision in self.decisions if decision.device == "GPU"]

    @property
    def buildable(self) -> bool:
        """Whether TensorRT builds it as asked for: nothing is on a GPU that is not allowed, and
        standalone is one subgraph."""
        one = not self.standalone or len(self.subgraphs) == 1
        return one and (self.fallback or not self.on_gpu)

    @property
    def transitions(self) -> int:
        """Tensors that go from one processor to the other."""
        ends = {t.name for t in (*self.network.inputs, *self.network.outputs)}
        return sum(
            tensor.name not in ends
            for subgraph in self.subgraphs
            for tensor in (*subgraph.inputs, *subgraph.outputs)
        )

    @property
    def share(self) -> float:
        """Of the multiplications, how many are done on the DLA; 1.0 where there are none."""
        total = sum(macs(decision.layer) for decision in self.decisions)
        return sum(macs(decision.layer) for decision in self.on_dla) / total if total else 1.0

    @property
    def summary(self) -> str:
        """One line: how much is on the DLA."""
        parts, crossing = len(self.subgraphs), self.transitions
        multiplies = any(macs(decision.layer) for decision in self.decisions)
        share = f" and {self.share:.1%} of the multiplications" if multiplies else ""
        return (
            f"{self.network.name} on {self.board.name}, TensorRT {self.tensorrt}, "
            f"{self.precision.upper()}: {len(self.on_dla)} of {len(self.decisions)} layers{share} "
            f"on the DLA, {parts} "
            f"subgraph{'s' * (parts != 1)}, {crossing} tensor{'s' * (crossing != 1)} to or from "
            "the GPU"
        )


def macs(layer: Layer) -> int:
    """Multiplications of a convolution, fully connected layer or matrix product; 0 of others."""
    get = layer.parameters
    if layer.kind in ("CONVOLUTION", "DECONVOLUTION", "FULLY_CONNECTED"):
        pixels = layer.inputs[0] if layer.kind == "DECONVOLUTION" else layer.outputs[0]
        taps = int(get["kernel_h"]) * int(get["kernel_w"])
        channels = int(get["maps"] if layer.kind == "DECONVOLUTION" else get["c"])
        return max(pixels.elements * taps * channels // int(get["groups"]), 0)
    if layer.kind == "MATRIX_MULTIPLY" and layer.inputs[0].shape:
        return max(prod(layer.outputs[0].shape) * layer.inputs[0].shape[-1], 0)
    return 0


def check(
    model: str | Path | onnx.ModelProto | Network,
    board: str = "orin",
    *,
    tensorrt: str = "",
    int8: bool = False,
    fp16: bool = False,
    standalone: bool = False,
    fallback: bool = True,
    shapes: Mapping[str, Sequence[int]] | None = None,
    outputs: Sequence[str] = (),
    hwc4: bool = False,
    calibration: Path | None = None,
    rules: Sequence[Path] = (),
    without: Sequence[str] = (),
    local_dram: int = LOCAL_DRAM,
    global_dram: int = GLOBAL_DRAM,
) -> Report:
    """What TensorRT would put on the DLA of *board*.

    *tensorrt* is a release ("8.6", "10.3"); default: that of the board's last JetPack here.
    *int8*, *fp16*: as trtexec's options; FP16 without any. *standalone*: ``--buildDLAStandalone``.
    *fallback*: ``--allowGPUFallback``; standalone has none.
    *shapes*, *outputs*: as of :func:`.network.read`. *hwc4*: inputs are in kDLA_HWC4.
    *calibration*: TensorRT's calibration cache; in INT8 a layer with an input that it does not name
    runs in FP16. *rules*: TOML files with further rules; *without*: marks whose rules do not count
    ("recalled"). *local_dram*, *global_dram*: bytes of the pools of a subgraph (``--memPoolSize``).

    Raises DlaError for a board, release or rule that is wrong, CompileError for a model that is.
    """
    if board not in BOARDS:
        raise DlaError(f"{board!r} is no board; {', '.join(NAMES)} are")
    chosen = BOARDS[board]
    if not chosen.cores:
        raise DlaError(
            f'{chosen.title} has no DLA (getNbDLACores() is 0): TensorRT says "Cannot create DLA '
            'engine, 0 not available"'
        )
    found = release(tensorrt or DEFAULT[chosen.generation], chosen.generation)
    network = model if isinstance(model, Network) else read(model, shapes=shapes, outputs=outputs)
    precision = "int8" if int8 else "fp16"
    if calibration is not None:
        network = scales.of_cache(network, Table.read(calibration).scales)
    if found.explicit_quantization:
        network = scales.of_pairs(network)
    scaled = calibration is not None or found.explicit_quantization
    decided = decide(
        network, table(rules, without), chosen.generation, found.version, precision, hwc4, scaled
    )
    most = 1 if standalone else found.subgraphs
    decisions = decided if standalone else limited(decided, network, most)
    subgraphs = formed(decisions, network)
    fallback = fallback and not standalone
    messages = [*of_decisions(decisions, fallback)]
    messages += of_standalone(subgraphs) if standalone else of_placement(decisions, subgraphs)
    return Report(
        network=network,
        board=chosen,
        tensorrt=found,
        precision=precision,
        standalone=standalone,
        fallback=fallback,
        decisions=tuple(decisions),
        subgraphs=tuple(subgraphs),
        messages=tuple(messages),
        notes=(
            *found.notes,
            *network.notes,
            *_of_pools(subgraphs, local_dram, global_dram),
            *_notes(network, subgraphs, precision, scaled, standalone),
        ),
    )


def _of_pools(subgraphs: Sequence[Subgraph], local_dram: int, global_dram: int) -> list[str]:
    notes = []
    for subgraph in subgraphs:
        for what, size, most, pool in (
            ("intermediate tensors", subgraph.local_bytes, local_dram, "kDLA_LOCAL_DRAM"),
            ("weights", subgraph.global_bytes, global_dram, "kDLA_GLOBAL_DRAM"),
        ):
            if size > most:
                notes.append(
                    f"{subgraph.name}: {what} of {size / 2**20:.1f} MiB; {pool} has "
                    f"{most / 2**20:.1f} MiB (whether TensorRT splits or refuses then is not known)"
                )
    return notes


def _notes(
    network: Network,
    subgraphs: Sequence[Subgraph],
    precision: str,
    scaled: bool,
    standalone: bool,
) -> list[str]:
    notes = []
    whole = len(subgraphs) == 1 and len(subgraphs[0].decisions) == len(network.layers)
    if whole and not standalone:
        notes.append(
            "no layer is on the GPU; trtexec needs --allowGPUFallback all the same where inputs "
            "and outputs are not in the DLA's formats, for the reformats (TensorRT issue 3438)"
        )
    if precision == "int8" and not scaled:
        notes.append(
            "INT8 counts on a scale for every tensor (calibration or setDynamicRange); a layer "
            "whose tensor has none runs in FP16"
        )
    return notes
