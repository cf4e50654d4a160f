"""A bench as a folder of files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..cosim.placement import BEHIND
from . import cfg, ctable, text, txn
from .bench import Await, Bench, Check, Load, PlacedTensor, Poll, Write

VERSION = 1
"""Of ``manifest.json``."""

_PLAYER = ("nvdla_player.c", "nvdla_player.h")
_MEMORIES = ("primary", "secondary")


def plain(name: str) -> str:
    """A name that file names and all readers of traces take."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "network"


def write(bench: Bench, folder: Path, loadable: bytes = b"") -> list[Path]:
    """Write all files into *folder*, which is made; what they are called. Raises OSError.

    *loadable* is named in the manifest by its SHA-256.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = _memory(bench, folder)
    trace = _txn(bench, folder) if bench.config.line == "v1" else _cfg(bench, folder)
    metal = folder / "baremetal"
    metal.mkdir(exist_ok=True)
    for name in _PLAYER:
        shutil.copyfile(Path(__file__).parent / "player" / name, metal / name)
    files += [*trace, *(metal / name for name in _PLAYER)]
    files.append(_lines(metal / "nvdla_trace.c", (f"{x}\n" for x in ctable.lines(bench))))
    manifest = folder / "manifest.json"
    names = sorted(str(f.relative_to(folder)) for f in files)
    manifest.write_text(json.dumps(describe(bench, loadable, names), indent=1) + "\n")
    return [*files, manifest]


def _memory(bench: Bench, folder: Path) -> list[Path]:
    before, after = bench.image(), bench.image(after=True)
    (folder / "memory.bin").write_bytes(before.tobytes())
    (folder / "golden.bin").write_bytes(after.tobytes())
    files = [folder / "memory.bin", folder / "golden.bin"]
    files.append(_lines(folder / "memory.hex", text.verilog(before, bench.base)))
    for number, tensor in enumerate(bench.outputs):
        start = tensor.address - bench.base
        file = folder / f"output{number}.bin"
        file.write_bytes(after[start : start + tensor.desc.size].tobytes())
        files.append(file)
    return files


def _lines(file: Path, lines: Iterable[str]) -> Path:
    with file.open("w") as opened:
        opened.writelines(lines)
    return file


def _cfg(bench: Bench, folder: Path) -> list[Path]:
    place = folder / "trace_tests" / bench.config.name / plain(bench.name)
    place.mkdir(parents=True, exist_ok=True)
    trace = place / f"{plain(bench.name)}.cfg"
    files = [_lines(trace, (f"{x}\n" for x in cfg.lines(bench)))]
    for number, region in enumerate(bench.regions):
        if region.before.any():
            files.append(_lines(place / f"memory{number}.dat", text.pieces(region.before)))
    loads = [step for step in bench.steps if isinstance(step, Load)]
    for number, load in enumerate(loads):
        data = np.frombuffer(load.data, np.uint8)
        files.append(_lines(place / f"host{number}.dat", text.pieces(data)))
    return files


def _txn(bench: Bench, folder: Path) -> list[Path]:
    place = folder / "traceplayer" / plain(bench.name)
    place.mkdir(parents=True, exist_ok=True)
    files = [_lines(place / "input.txn", (f"{x}\n" for x in txn.lines(bench)))]
    for number, region in enumerate(bench.regions):
        before = np.concatenate([region.before, np.zeros(BEHIND, np.uint8)])
        files.append(_lines(place / f"memory{number}.dat", text.rows(before)))
        files.append(_lines(place / f"golden{number}.dat", text.rows(region.after)))
    loads = [step for step in bench.steps if isinstance(step, Load)]
    for number, load in enumerate(loads):
        data = np.frombuffer(load.data, np.uint8)
        files.append(_lines(place / f"host{number}.dat", text.rows(data)))
    return files


def describe(bench: Bench, loadable: bytes, files: list[str]) -> dict[str, Any]:
    """The manifest (``schemas/nvdla-export.schema.json``)."""
    return {
        "schema_version": VERSION,
        "version": VERSION,
        "name": bench.name,
        "loadable_sha256": hashlib.sha256(loadable).hexdigest() if loadable else "",
        "config": bench.config.name,
        "register_map": bench.config.line,
        "begins": "after reset",
        "base": bench.base,
        "size": bench.end - bench.base,
        "cycles": bench.cycles,
        "steps": {
            kind.__name__.lower(): sum(isinstance(step, kind) for step in bench.steps)
            for kind in (Write, Poll, Await, Check, Load)
        },
        "regions": [
            {
                "name": region.name,
                "memory": _MEMORIES[region.memory],
                "address": region.address,
                "size": len(region.before),
                "crc32_before": zlib.crc32(region.before.tobytes()),
                "crc32_after": zlib.crc32(region.after.tobytes()),
            }
            for region in bench.regions
        ],
        "inputs": [_tensor(tensor, "") for tensor in bench.inputs],
        "outputs": [_tensor(t, f"output{n}.bin") for n, t in enumerate(bench.outputs)],
        "operations": [
            {
                "task": operation.task,
                "operation": operation.number,
                "unit": operation.unit,
                "input": list(operation.input_shape),
                "output": list(operation.output_shape),
                "cycles": operation.cycles,
                "event": operation.event,
            }
            for operation in bench.operations
        ],
        "files": files,
    }


def _tensor(tensor: PlacedTensor, file: str) -> dict[str, Any]:
    desc = tensor.desc
    found: dict[str, Any] = {
        "name": desc.name,
        "address": tensor.address,
        "size": desc.size,
        "shape": [desc.n, desc.c, desc.h, desc.w],
    }
    return {**found, "file": file} if file else found
