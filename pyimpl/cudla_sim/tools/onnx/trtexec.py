"""``cudla-sim trtexec``: a DLA loadable by the command line that users of TensorRT have."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...board_table import Board
from ...compiler.errors import CompileError, Refused
from ...compiler.options import Options
from ...core.output import OutputError, check_writable, write_whole
from ...core.text import printable
from ...nvdla.errors import NvdlaError
from ...nvdla.facts.configs import config as hardware
from ...nvdla.facts.precisions import FP16, INT8
from ..progress import Progress
from .board import board_of, picture_line, told
from .trtexec_words import BadWord, Words, check, io_formats, layer_precisions, pace, parse

_VERSION = "v8600"
_HELP = """usage: cudla-sim trtexec --onnx=FILE [--saveEngine=FILE] [--buildDLAStandalone]
    | cudla-sim trtexec --loadEngine=FILE
    [--allowGPUFallback] (what the DLA cannot do runs in onnxruntime)
    [--iterations=N] [--duration=S] [--warmUp=MS] [--avgRuns=N] [--skipInference]
    [--dumpProfile] [--exportProfile=FILE] [--exportTimes=FILE] (in hardware time)
    [--useDLACore=N] [--int8] [--fp16] [--best] [--calib=CACHE]
    [--inputIOFormats=type:format,...] [--outputIOFormats=type:format,...]
    [--layerPrecisions=name:type,...] [--shapes=name:1x3x224x224,...]
    [--exportLayerInfo=FILE] [--dumpLayerInfo] [--reportCapabilityDLA] [--verbose]
    [--config=nv_full|nv_large|...] (the hardware; CUDLA_SIM_CONFIG otherwise)
    [--board=orin|xavier|...] [--tensorrt=VERSION] [--adjustForDLA] [--memPoolSize=pool:MiB,...]
    (with --useDLACore: what TensorRT says of that board; CUDLA_SIM_BOARD otherwise)
    [--inventRanges] (no warning about --int8 without calibration)
Other words of trtexec that do not concern loadables are taken and ignored."""


def main(words: Sequence[str]) -> int:
    """Exit status 0 or 1, as trtexec has it; the last line says PASSED or FAILED."""
    command = " ".join(["trtexec", *words])
    _mark("RUNNING", command)
    try:
        parsed = parse(words)
        if "help" in parsed.flags or not words:
            print(_HELP)
            _mark("PASSED" if words else "FAILED", command)
            return 0 if words else 1
        check(parsed)
        data = _built(parsed) if parsed.value("onnx") else _loaded(parsed)
        if not parsed.flags & {"buildDLAStandalone", "skipInference", "buildOnly", "skipBuild"}:
            _infer(parsed, data)
    except Refused as error:
        for refusal in error.refusals:
            _log("E", str(refusal))
        for hint in error.hints:
            _log("E", f"cudla-sim compile: {hint}")
        status = 1
    except (BadWord, CompileError, NvdlaError, OutputError) as error:
        _log("E", str(error))
        status = 1
    else:
        status = 0
    _mark("FAILED" if status else "PASSED", command)
    return status


def _mark(what: str, command: str) -> None:
    print(f"&&&& {what} TensorRT.trtexec [TensorRT {_VERSION}] # {command}", flush=True)


def _log(level: str, text: str) -> None:
    now = datetime.now().strftime("%m/%d/%Y-%H:%M:%S")
    stream = sys.stderr if level == "E" else sys.stdout
    for line in text.split("\n"):
        print(f"[{now}] [{level}] {printable(line)}", file=stream, flush=True)


def _loaded(words: Words) -> bytes:
    """The engine of --loadEngine."""
    for note in words.notes:
        _log("W", note)
    path = Path(words.value("loadEngine"))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadWord(f"--loadEngine={path}: {error.strerror}") from None
    _log("I", f"Engine loaded in 0 sec: {len(data)} bytes")
    return data


def _infer(words: Words, data: bytes) -> None:
    """Speed of an engine, in hardware time."""
    from ...core import process
    from ...nvdla.timing.parameters import Surroundings
    from . import trtexec_times as times

    around = Surroundings.of(process.current().config)
    engine = times.engine_of(data, words.value("config"), around)
    given = pace(words)
    paced = times.Pace(
        given.get("warmUp", 200.0),
        given.get("duration", 3.0),
        int(given.get("iterations", 10)),
        int(given.get("avgRuns", 10)),
    )
    if "noDataTransfers" in words.flags:
        engine.h2d = engine.d2h = 0.0
    _, count = paced.queries(engine)
    if engine.host:
        shown = ", ".join(engine.host[:5]) + (", ..." if len(engine.host) > 5 else "")
        _log("W", f"{len(engine.host)} layers run on the host and take no time here: {shown}")
    for line in times.performance(engine, paced):
        _log("I", line)
    if "dumpProfile" in words.flags:
        for line in times.profile(engine, count):
            _log("I", line)
    if words.value("exportProfile"):
        text = times.profile_json(engine, count)
        write_whole(Path(words.value("exportProfile")), text.encode())
    if words.value("exportTimes"):
        write_whole(Path(words.value("exportTimes")), times.times_json(engine, paced).encode())


def _built(words: Words) -> bytes:
    """The engine of --onnx, saved where that is wanted."""
    with TemporaryDirectory() as folder:
        return _build(words, Path(folder))


def _build(words: Words, folder: Path) -> bytes:
    from ...compiler import compilation

    for note in words.notes:
        _log("W", note)
    model = Path(words.value("onnx"))
    name = hardware(words.value("config") or _machine()).name
    for file in ("saveEngine", "exportLayerInfo", "exportProfile", "exportTimes"):
        if words.value(file):
            check_writable(Path(words.value(file)))
    try:
        request = _request(words, model, name)
        board = board_of(words)
        if board is not None and words.value("useDLACore"):
            _for_board(words, request, board, folder)
        if "allowGPUFallback" in words.flags:
            return _in_parts(words, request)
        with Progress("building").shown() as shown:
            result = compilation.run(
                request,
                shown.beside(lambda text: _log("I", text)),
                lambda done: shown.at(done, "calibrating: samples"),
            )
    except compilation.UsageError as error:
        raise BadWord(str(error)) from None
    if "reportCapabilityDLA" in words.flags:
        for node in result.graph.nodes:
            _log("I", f"{node.kind} {node.name}: DLA")
    _save(words, result.compiled.loadable)
    layers = [f"{node.kind} {node.name}" for node in result.graph.nodes]
    ports = [port.name for port in (*result.graph.inputs, *result.graph.outputs)]
    _layer_info(words, layers, ports, result.report)
    seconds = sum(result.report["seconds"].values())
    _log("I", f"Engine built in {seconds:.3f} sec.")
    return result.compiled.loadable


def _for_board(words: Words, request: Any, board: Board, folder: Path) -> None:
    """Says what the board would do; --adjustForDLA changes the model, kept in *folder*."""
    int8 = request.options.precision == "int8"
    adjusted = told(words, request.model, board, request.shapes, int8, _log)
    if adjusted is not None:
        request.model = folder / request.model.name
        request.model.write_bytes(adjusted.SerializeToString())


def _in_parts(words: Words, request: Any) -> bytes:
    """The engine of a network whose other layers run on the host."""
    from ...compiler import fallback

    begin = time.perf_counter()
    package = fallback.compile_package(request, lambda text: _log("I", text))
    data = package.encode()
    _save(words, data)
    layers = []
    for part in package.parts:
        where = "[GpuLayer]" if part.host else "[DlaLayer]"
        layers.append(f"{where} {{ForeignNode[{part.nodes[0]}...{part.nodes[-1]}]}}")
        told = "the simulator: " if board_of(words) else ""
        _log("I", told + layers[-1])
    report = fallback.report(request, package, len(data))
    _layer_info(words, layers, [*package.inputs, *package.outputs], report)
    _log("I", f"Engine built in {time.perf_counter() - begin:.3f} sec.")
    return data


def _save(words: Words, data: bytes) -> None:
    engine = words.value("saveEngine")
    if engine:
        write_whole(Path(engine), data)
        _log("I", f"Engine of {len(data)} bytes saved to {engine}")


def _machine() -> str:
    """The simulated machine of this environment."""
    given = os.environ.get("CUDLA_SIM_CONFIG", "")
    return "nv_full" if given in ("", "auto") else given


def _request(words: Words, model: Path, name: str) -> Any:
    from ...compiler import compilation

    nodes, quantised = _nodes(model)
    precision = _precision(words, name, quantised)
    keep = [
        node
        for node, kind in layer_precisions(words.value("layerPrecisions"), nodes).items()
        if kind in ("fp16", "fp32") and precision == "int8"
    ]
    if words.value("layerOutputTypes"):
        _log("W", "--layerOutputTypes is ignored: outputs have the type of --outputIOFormats")
    calib = words.value("calib")
    if calib and not Path(calib).is_file():
        raise BadWord(f"--calib={calib}: there is no such file")
    calibrated = quantised or bool(calib)
    if precision == "int8" and not calibrated and "inventRanges" not in words.flags:
        _log(
            "W",
            "Calibrator is not being used. Users must provide dynamic range for all tensors that"
            " are not Int32 or Bool.",
        )
    return compilation.Request(
        model=model,
        options=Options(
            config=name,
            precision=precision,
            keep_fp16=tuple(keep),
            picture_line=picture_line(board_of(words)),
        ),
        shapes=_shapes(words),
        calib=[Path(calib)] if calib and precision != "fp16" else [],
        method="entropy",
        invent=not calibrated,
        input_words=[
            compilation.format_word(word)
            for word in io_formats(words.value("inputIOFormats"), precision, output=False)
        ],
        output_words=[
            compilation.format_word(word)
            for word in io_formats(words.value("outputIOFormats"), precision, output=True)
        ],
    )


def _shapes(words: Words) -> dict[str, tuple[int, ...]]:
    from ...compiler import compilation

    found = {
        name: compilation.shapes_of([words.value(name)])
        for name in ("shapes", "minShapes", "optShapes", "maxShapes")
        if words.value(name)
    }
    first = next(iter(found.values()), {})
    for name, shapes in found.items():
        if shapes != first:
            raise BadWord(f"--{name} differs from --{next(iter(found))}: the DLA has static shapes")
    return first


def _nodes(model: Path) -> tuple[list[str], bool]:
    """Names of the model's nodes, and whether it is a quantised one."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise CompileError(
            "ONNX models need the package onnx: pip install 'cudla-sim[onnx]'"
        ) from None
    try:
        proto = onnx.load_model(model, load_external_data=False)
    except (OSError, DecodeError, ValueError, TypeError, RuntimeError):
        return [], False  # the compiler says what is wrong
    quantised = any(node.op_type == "QuantizeLinear" for node in proto.graph.node)
    return [node.name for node in proto.graph.node if node.name], quantised


def _precision(words: Words, name: str, quantised: bool) -> str:
    have = hardware(name).precisions
    if words.flags & {"int8", "best"}:
        if "best" in words.flags and "int8" not in words.flags:
            calibrated = quantised or words.value("calib") or "inventRanges" in words.flags
            return "int8" if calibrated or FP16 not in have else "fp16"
        return "int8"
    if "fp16" in words.flags:
        return "fp16"
    if quantised:
        _log("I", "precision int8: the model has QuantizeLinear nodes")
        return "int8"
    if FP16 in have:
        _log("W", "the DLA has no fp32: fp16 is taken")
        return "fp16"
    assert INT8 in have
    return "int8"


def _layer_info(
    words: Words, layers: Sequence[str], ports: Sequence[str], report: dict[str, Any]
) -> None:
    if "dumpLayerInfo" in words.flags:
        _log("I", "Layer Information:")
        for layer in layers:
            _log("I", layer)
    if words.value("exportLayerInfo"):
        content = {"Layers": list(layers), "Bindings": list(ports), "Report": report}
        text = json.dumps(content, indent=2, default=str)
        write_whole(Path(words.value("exportLayerInfo")), text.encode())
