"""No C file of shim/ needs one that needs it, by the names that their objects define and take."""

from __future__ import annotations

import graphlib
import platform
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codegen import parse
from codegen.native import objects_of

from .conftest import ROOT

SHIM, INCLUDE = ROOT / "shim", ROOT / "include"
FOLDERS = {
    "confine": [],
    "dpu_isa": ["-D_GNU_SOURCE"],
    "dpu_run": ["-fno-builtin", "-DDPU", f"-I{INCLUDE / 'upmem' / 'syslib'}"],
    "library": [f"-I{SHIM / 'library' / 'boot'}", *parse.include_options(INCLUDE)],
    "native": parse.include_options(INCLUDE),
    "vpu_run": ["-D_GNU_SOURCE", f"-I{INCLUDE / 'cupva'}"],
}


def names(source: Path, folder: Path, flags: list[str]) -> tuple[set[str], set[str]]:
    """What the object of a source defines, and what it takes from others."""
    if source.parent.name == "native":  # minutes of compiling, which the build has done
        (target,) = objects_of(ROOT, [source], folder)
    else:
        target = str(folder / f"{source.stem}.o")
        command = ["gcc", "-w", "-std=gnu11", f"-I{SHIM}", *flags, "-c", str(source), "-o", target]
        subprocess.run(command, check=True)
    listed = subprocess.run(["nm", target], check=True, capture_output=True, text=True).stdout
    defined, taken = set(), set()
    for line in listed.splitlines():
        *_, kind, name = line.split()
        if kind in "Uw":
            taken.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, taken


@pytest.mark.slow
@pytest.mark.parametrize("part", FOLDERS)
def test_no_circles(part: str, tmp_path: Path) -> None:
    if part == "dpu_run" and platform.machine() != "x86_64":
        pytest.skip("the DPU runtime is compiled for x86-64")
    sources = sorted((SHIM / part).rglob("*.c"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda s: names(s, tmp_path, FOLDERS[part]), sources))
    owner = {
        name: source.name
        for source, (defined, _) in zip(sources, found, strict=True)
        for name in defined
    }
    needs = {
        source.name: {owner[n] for n in taken if n in owner} - {source.name}
        for source, (_, taken) in zip(sources, found, strict=True)
    }
    assert any(needs.values()) or part == "confine"
    graphlib.TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle
