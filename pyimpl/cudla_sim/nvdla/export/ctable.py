"""``nvdla_trace.c``: a bench as a table for ``nvdla_player.c``."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import registers
from .bench import Await, Bench, Check, Load, Poll, Write


def lines(bench: Bench) -> Iterator[str]:
    """The source file."""
    yield f"/* {bench.name} on {bench.config.name}; made by cudla-sim nvdla export. */"
    yield '#include "nvdla_player.h"'
    yield ""
    data = b"".join(step.data for step in bench.steps if isinstance(step, Load))
    if data:
        yield "/* Results of the host's (software) steps. */"
        yield "static const uint8_t data[] = {"
        for start in range(0, len(data), 16):
            yield "    " + ", ".join(f"{value:#04x}" for value in data[start : start + 16]) + ","
        yield "};"
        yield ""
    yield "static const struct nvdla_step steps[] = {"
    line, at = bench.config.line, 0
    for step in bench.steps:
        if isinstance(step, Write):
            name = registers.describe_address(line, step.address)
            yield _row("WRITE", step.address, step.value, 0, name)
        elif isinstance(step, Poll):
            name = registers.describe_address(line, step.address)
            yield _row("POLL", step.address, step.value, step.mask, name)
        elif isinstance(step, Await):
            yield _row("AWAIT", 0, 1 << step.bit, 0, step.event)
        elif isinstance(step, Check):
            yield _row("CHECK", step.address, step.crc, step.size, step.what)
        elif isinstance(step, Load):
            yield _row("LOAD", step.address, at, len(step.data), step.what)
            at += len(step.data)
    yield "};"
    yield ""
    status = registers.block(line, "GLB").address("S_INTR_STATUS")
    yield "const struct nvdla_trace nvdla_trace = {"
    size = bench.end - bench.base
    yield f'    "{bench.name}", "{bench.config.name}", {bench.base:#x}u, {size:#x}u,'
    pointer = "data" if data else "0"
    yield f"    {status:#x}u, sizeof steps / sizeof *steps, steps, {pointer},"
    yield "};"


def _row(kind: str, address: int, value: int, extra: int, note: str) -> str:
    return f"    {{NVDLA_{kind}, {address:#x}u, {value:#x}u, {extra:#x}u}}, /* {note} */"
