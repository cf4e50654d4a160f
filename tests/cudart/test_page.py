"""The page lists the functions that there are, and no others."""

from __future__ import annotations

import re

from cudla_sim.capi import prototypes

from ..conftest import ROOT

PAGE = (ROOT / "docs" / "cuda" / "index.md").read_text()
NAME = re.compile(r"`((?:cuda|cu|nvrtc)[A-Z]\w*)`")


def without_version(name: str) -> str:
    return re.sub(r"_v\d+$", "", name)


def functions() -> set[str]:
    """The names that programs write."""
    return {
        without_version(name)
        for name in prototypes.PROTOTYPES
        if re.match(r"(cuda|cu|nvrtc)[A-Z]", name)
    }


def test_every_function_is_listed() -> None:
    listed = set(NAME.findall(PAGE))
    listed |= {f"cuMemset{form}" for form in ("D8", "D16", "D32", "D2D8", "D2D16", "D2D32")}
    listed |= {f"{name}Async" for name in listed}
    listed |= {
        name.replace("cuda", "cu", 1) for name in listed if "External" in name or "NvSci" in name
    }
    listed.add("cuGraphInstantiateWithFlags")  # cuda.h defines cuGraphInstantiate to it
    assert functions() - listed == set()


def test_every_listed_function_exists() -> None:
    section = PAGE.split("## Host functions")[1].split("## Kernels")[0]
    named = {*NAME.findall(section)} - {"cuGraphInstantiate", "cuMemAlloc_v2"}
    assert named - functions() == set()
