"""``cudla-sim devices``: what is simulated, by which settings, and who uses it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from .. import paths
from .command import JSON, Command
from .text_table import Table

VERSION = 1


@click.command("devices", cls=Command)
@JSON
def show_devices(as_json: bool) -> None:
    """List the simulated devices, the settings that make them, and the programs that use them.

    Programs are those of this user (of everybody, for root) that have our library loaded. Each of
    them has devices of its own, by its own settings; what is listed is what a program gets that
    starts in this environment.
    """
    found, users = _devices(), _programs()
    if as_json:
        known = {"schema_version": VERSION, "devices": found, "programs": users}
        print(json.dumps(known, indent=1))
        return
    table = Table(("device", "count", "is", "settings"), right=frozenset({1}))
    for item in found:
        settings = " ".join(f"{name}={value}" for name, value in item["settings"].items())
        table.add(item["device"], str(item["count"]), item["what"], settings)
    table.show()
    print()
    programs = Table(("pid", "program"), right=frozenset({0}))
    for program in users:
        programs.add(str(program["pid"]), program["command"])
    if programs.rows:
        programs.show()
    else:
        print("no program uses them")


def _devices() -> list[dict[str, Any]]:
    from ..core import process

    config = process.current().config
    board = config.board or "no board"
    dla = f"DLA cores, NVDLA {config.config}, {board}"
    where = config.upmem_cluster or "this machine"
    real = paths.real_cuda_present()
    there = not real and config.gpu != "none"
    gpu = "an NVIDIA driver is here; ours stays away" if real else "CUDA on the CPU"
    return [
        _device("dla", config.dla_count, dla, "dla_count", "config", "board"),
        _device("gpu", int(there), gpu, "gpu"),
        _device(
            "upmem ranks", config.upmem_ranks, f"of 64 DPUs, on {where}", "upmem_ranks",
            "upmem_timing", "upmem_cluster",
        ),
        _device("pva", 1, "VPUs in processes of this machine", "pva_dma", "pva_checks"),
    ]  # fmt: skip


def _device(name: str, count: int, what: str, *settings: str) -> dict[str, Any]:
    from ..core import process

    config = process.current().config
    known = {f"CUDLA_SIM_{s.upper()}": getattr(config, s) for s in settings}
    return {"device": name, "count": count, "what": what, "settings": known}


def _programs() -> list[dict[str, Any]]:
    """Processes that have a library of ours in their memory; those of others cannot be seen."""
    ours = str(paths.lib_dir())
    found = []
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda p: int(p.name)):
        try:
            mapped = (folder / "maps").read_text(errors="replace")
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        except OSError:  # it has ended, or is somebody else's
            continue
        if int(folder.name) != os.getpid() and f"{ours}/libcudla_sim.so" in mapped:
            command = " ".join(os.fsdecode(word) for word in words)
            found.append({"pid": int(folder.name), "command": command})
    return found
