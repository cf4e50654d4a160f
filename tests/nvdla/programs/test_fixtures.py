"""Public loadables through nvdla::IRuntime: outputs equal what the public reference model gave."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.nvdla import Loadable, layout
from cudla_sim.testing import Compiler
from tests.conftest import FIXTURES

COMPILED = FIXTURES / "nvdla" / "compiled"
PUBLIC = FIXTURES / "nvdla" / "public"
FOLDER = COMPILED / "loadables"


def cases() -> dict[str, Any]:
    manifest = COMPILED / "MANIFEST.json"
    found: dict[str, Any] = json.loads(manifest.read_text())["cases"] if manifest.exists() else {}
    chosen = [tag for tag in found if ".int8." in tag or found[tag]["expect"] != "ok"]
    return {tag: found[tag] for tag in chosen[::4] + [t for t in chosen if ".b3" in t]}


CASES = cases()


@pytest.mark.slow
@pytest.mark.parametrize("tag", sorted(CASES) or ["none"])
def test_compiled_loadable(
    tag: str, fixtures: Path, sim_cc: Compiler, program: Callable[..., Path], tmp_path: Path
) -> None:
    case = CASES[tag]
    inputs = [str(FOLDER / case["inputs"][k]["file"]) for k in sorted(case["inputs"], key=int)]
    image = FOLDER / f"{tag}.nvdla"
    result = sim_cc.run(
        program("run_loadable.cpp"), str(image), "2", str(tmp_path / "out"), *inputs,
        settings={"CUDLA_SIM_CONFIG": "nv_" + case["config"]}, timeout_s=300,
    )  # fmt: skip
    if case["expect"] != "ok":
        assert result.out.splitlines()[-1].startswith("failed: "), result.out
        return
    assert result.status == 0, result.out + result.err
    for line, tensor in zip(result.out.splitlines(), case["tensors"], strict=False):
        numbers = [tensor[k] for k in ("size", "n", "c", "h", "w", "dataFormat", "dataType")]
        numbers += [tensor[k] for k in ("dataCategory", "pixelFormat", "pixelMapping")]
        shown = [tensor["dir"], tensor["id"], tensor["name"], *numbers, *tensor["stride"]]
        assert line.split() == list(map(str, shown))
    loadable = Loadable.parse(image.read_bytes())
    for number, desc in enumerate(loadable.outputs):
        buffer = np.fromfile(f"{tmp_path}/out{number}", np.uint8)
        golden = (FOLDER / case["outputs"][str(number)]["file"]).read_bytes()
        assert layout.unpack_tensor(desc, buffer).tobytes() == golden


def test_first_generation_runs_once(
    fixtures: Path, sim_cc: Compiler, program: Callable[..., Path], tmp_path: Path
) -> None:
    """Its dependency graph is called DEPGraph, and is not loaded again: as on the real stack."""
    image = str(PUBLIC / "loadables" / "CONV_D_L0_0.nvdla")
    built = program("run_loadable.cpp")
    assert sim_cc.run(built, image, "1", str(tmp_path / "out")).out.endswith("ok\n")
    assert sim_cc.run(built, image, "2", str(tmp_path / "out")).out.endswith("failed: submit 1\n")


def test_register_headers_are_those_of_the_model() -> None:
    """``include/nvdla/opendla*.h`` as codegen/registers.py writes them now."""
    from codegen import registers
    from tests.conftest import ROOT

    for name, text in registers.headers().items():
        assert (ROOT / "include" / "nvdla" / name).read_text() == text, name


def test_register_headers_compile(tmp_path: Path) -> None:
    """The two lines differ in the places of the blocks only."""
    from cudla_sim import paths

    for option, address in (((), 0xB000), (("-DDLA_2_CONFIG",), 0x9000)):
        text = f'#include "nvdla/opendla.h"\n_Static_assert(SDP_S_STATUS_0 == {address}, "");\n'
        file = tmp_path / "check.c"
        file.write_text(text)
        command = ["gcc", *option, f"-I{paths.include_dir()}", "-fsyntax-only", str(file)]
        subprocess.run(command, check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "tag", ["convrelu.full.int8.ncxhwx", "convrelu.small.int8.ncxhwx", "bigkern.large.int8.ncxhwx"]
)
def test_strides_are_rewritten(
    tag: str, fixtures: Path, sim_cc: Compiler, program: Callable[..., Path], tmp_path: Path
) -> None:
    """The input's lines lie further apart than the compiler thought, and back again."""
    case = CASES.get(tag) or json.loads((COMPILED / "MANIFEST.json").read_text())["cases"][tag]
    image, result = FOLDER / f"{tag}.nvdla", tmp_path / "out"
    done = sim_cc.run(
        program("strides.cpp"), str(image), str(FOLDER / case["inputs"]["0"]["file"]), str(result),
        settings={"CUDLA_SIM_CONFIG": "nv_" + case["config"]},
    )  # fmt: skip
    assert done.status == 0, done.err
    (desc,) = Loadable.parse(image.read_bytes()).outputs
    golden = (FOLDER / case["outputs"]["0"]["file"]).read_bytes()
    for buffer in np.split(np.fromfile(result, np.uint8), 2):
        assert layout.unpack_tensor(desc, buffer).tobytes() == golden
