"""JSON lines: one test a line, its data in ``blobs/ID.gz`` beside the file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...core import untrusted
from ..facts.configs import CONFIGS
from . import datafile
from .trace import (
    MOST_BYTES,
    CheckCrc,
    CheckMemory,
    CheckNothing,
    MemInit,
    MemLoad,
    Notify,
    Operation,
    RegCheck,
    RegWrite,
    Trace,
    TraceError,
    WaitInterrupt,
    checked,
    within,
)

_MEMORIES = {"pri": 0, "flat": 0, "sec": 1}
MOST_PIECES = 1 << 20
"""Of one run of data."""
_IGNORED = {"notify", "wait_sync"}


def read(path: Path) -> Iterator[Trace]:
    """Raises TraceError."""
    try:
        text = untrusted.read_bytes(path)
        if path.suffix == ".gz":
            text = untrusted.gunzip(text)
    except (OSError, ValueError) as error:
        raise TraceError(f"{path}: {error}") from None
    for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
        try:
            yield _trace(untrusted.parse_json(line), path.parent / "blobs")
        except (KeyError, ValueError, TypeError) as error:
            raise TraceError(f"{path}:{number}: {type(error).__name__}: {error}") from None


def _trace(item: dict[str, Any], blobs: Path) -> Trace:
    flat, name, configs = item["map"] == "nv_full", item["name"], list(item["configs"])
    unknown = [config for config in configs if config not in list(CONFIGS)]
    if not isinstance(name, str) or not configs or unknown:
        raise ValueError(f"{name!r} is for {unknown or configs}; there are {', '.join(CONFIGS)}")
    trace = Trace(name, "v1" if flat else "master", configs, flat=flat)
    for op in item["ops"]:
        operation = _operation(op, blobs)
        if operation is not None:
            trace.operations.append(checked(operation))
    return trace


def _operation(op: dict[str, Any], blobs: Path) -> Operation | None:
    kind = op["op"]
    if kind in _IGNORED:
        return None
    if kind == "reg_write":
        return RegWrite(op["addr"], op["data"])
    if kind in ("reg_check", "reg_poll"):
        return RegCheck(op["addr"], op["data"], op.get("mask", 0xFFFF_FFFF))
    if kind == "wait_intr":
        return WaitInterrupt()
    if kind == "intr":
        return Notify(op["bits"], op["sync"])
    if kind == "check_none":
        return CheckNothing(op["sync"])
    memory = _MEMORIES[op["mem"]]
    if kind == "mem_init":
        return MemInit(memory, op["addr"], op["size"], op["pattern"])
    if kind == "mem_load":
        file = datafile.beside(blobs, f"{op['blob']}.gz")
        runs = [_run(run) for run in op["runs"]]
        return MemLoad(memory, op["addr"], op["file"], partial(_pieces, file, runs))
    if kind == "check_crc":
        return CheckCrc(op["sync"], memory, op["addr"], op["size"], op["crc"])
    if kind == "check_mem":
        golden = partial(_blob, datafile.beside(blobs, f"{op['blob']}.gz"))
        return CheckMemory(op.get("sync", ""), memory, op["addr"], op["file"], golden)
    raise ValueError(f"no such operation: {kind}")


def _run(run: list[int]) -> tuple[int, int, int, int]:
    offset, size, count, stride = (within(number, "a run", MOST_BYTES) for number in run)
    if count > MOST_PIECES:
        raise ValueError(f"a run of {count} pieces; {MOST_PIECES} are possible")
    return offset, size, count, stride


def _blob(path: Path) -> bytes:
    try:
        return untrusted.gunzip(untrusted.read_bytes(path, MOST_BYTES), MOST_BYTES)
    except (OSError, ValueError) as error:
        raise TraceError(f"{path}: {error}") from None


def _pieces(path: Path, runs: list[tuple[int, int, int, int]]) -> list[tuple[int, bytes]]:
    """``runs``: offset, size, count, stride; the bytes of the blob in that order."""
    data, at, found = _blob(path), 0, []
    for offset, size, count, stride in runs:
        for index in range(count):
            found.append((offset + index * stride, data[at : at + size]))
            at += size
    return found
