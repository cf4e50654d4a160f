"""What a board of Jetson or DRIVE would do, said by trtexec before it builds for the simulator."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...board_table import BOARDS, Board
from ...compiler.errors import CompileError
from .trtexec_words import BadWord, Words, pools

if TYPE_CHECKING:
    import onnx

    from ...boards.checking import Report

Log = Callable[[str, str], None]
"""Severity and text."""


def board_of(words: Words) -> Board | None:
    """``--board=NAME``, or the board of this environment. Raises CompileError."""
    return _named(words.value("board")) or machine()


def machine() -> Board | None:
    """The board of this environment. Raises CompileError."""
    return _named(os.environ.get("CUDLA_SIM_BOARD", ""))


def _named(name: str) -> Board | None:
    if name and name not in BOARDS:
        raise CompileError(f"{name!r} is no board; {', '.join(BOARDS)} are")
    return BOARDS[name] if name else None


def picture_line(board: Board | None) -> int:
    """Bytes that a line of kDLA_HWC4 is a multiple of; Orin's without a board."""
    return (board or BOARDS["orin"]).picture_line


def told(
    words: Words,
    model: Path,
    board: Board,
    shapes: Mapping[str, Sequence[int]],
    int8: bool,
    log: Log,
) -> onnx.ModelProto | None:
    """Prints what TensorRT prints of a network on a board; returns it rewritten for --adjustForDLA.

    Raises BadWord where TensorRT does not build it.
    """
    from ...boards import DlaError, check
    from ...boards.checking import GLOBAL_DRAM, LOCAL_DRAM

    core = words.value("useDLACore")
    if int(core) >= board.cores:
        raise BadWord(f"Cannot create DLA engine, {core} not available")
    given = pools(words.value("memPoolSize"))
    if given.get("dlaSRAM", 0) > board.sram_kib << 10:
        log(
            "W",
            f"dlaSRAM: a core of {board.title} has {board.sram_kib} KiB; the rest is taken from "
            "local DRAM",
        )
    calib = words.value("calib")
    standalone = "buildDLAStandalone" in words.flags
    options: dict[str, Any] = {
        "shapes": shapes,
        "tensorrt": words.value("tensorrt"),
        "int8": int8,
        "standalone": standalone,
        "fallback": "allowGPUFallback" in words.flags,
        "hwc4": "hwc4" in words.value("inputIOFormats"),
        "calibration": Path(calib) if calib and int8 else None,
        "local_dram": given.get("dlaLocalDRAM", LOCAL_DRAM),
        "global_dram": given.get("dlaGlobalDRAM", GLOBAL_DRAM),
    }
    adjusted = None
    try:
        if "adjustForDLA" in words.flags:
            from ...boards.rewrites import rewrite

            rewriting = rewrite(model, board.name, compare=False, **options)
            for step in rewriting.steps:
                log("I", f"[TRT] adjusted for DLA: {step.operator} {step.node}: {step.text}")
            adjusted, report = rewriting.model, rewriting.after
        else:
            report = check(model, board.name, **options)
    except DlaError as error:
        raise BadWord(str(error)) from None
    _print(words, report, log)
    return adjusted


def _print(words: Words, report: Report, log: Log) -> None:
    """TensorRT's lines, and the end of it where it does not go on."""
    capability = "reportCapabilityDLA" in words.flags
    for message in report.messages:
        if not (capability and message.severity == "I"):
            log(message.severity, f"[TRT] {message.text}")
    for note in report.notes:
        log("I", note)
    if capability and report.on_gpu:
        for decision in report.on_gpu:
            layer = decision.layer
            log("E", f"[TRT] node {layer.node} ({layer.operator}): {decision.reason}")
        raise BadWord("Failed to parse onnx file: layers cannot run on DLA")
    if not report.buildable:
        raise BadWord("Engine could not be created from network")
