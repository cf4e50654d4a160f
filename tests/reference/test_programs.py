"""Each program checks what it was answered, and says where not."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim import flags, paths
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler
from tests import warm

HERE = Path(__file__).resolve().parent
DEVICE = ("upmem_dpu.c", "cupva_reference_dev.c")
"""What programs of a host run on a device."""
PROGRAMS = sorted(
    path.name
    for path in HERE.iterdir()
    if path.suffix in (".c", ".cpp", ".cu") and path.name not in DEVICE
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reference")


@pytest.fixture(autouse=True)
def _writes_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programs write files beside them."""
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session")
def dpu_programs(folder: Path) -> list[str]:
    """One that is compiled for this processor, one in DPU instructions."""
    native, interpreted = folder / "dpu", folder / "isa"
    compiler = [paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang", "-O2", "-DNR_TASKLETS=4"]
    subprocess.run([*compiler, HERE / "upmem_dpu.c", "-o", native], check=True)
    subprocess.run([*compiler, HERE / "upmem_isa.S", "-o", interpreted], check=True)
    return [str(native), str(interpreted)]


@pytest.fixture(scope="session")
def vpu_program(folder: Path) -> str:
    target = folder / "reference.o"
    words = [warm.python(), "-m", "cudla_sim.cupva.toolchain", "-O2", "--name", "reference"]
    subprocess.run([*words, "-o", target, HERE / "cupva_reference_dev.c"], check=True)
    return str(target)


@pytest.fixture(scope="session")
def loadable(folder: Path) -> str:
    """The largest of two by two pixels."""
    target = folder / "pool.nvdla"
    shape = (1, 8, 4, 4)
    net = Network(input=("x", shape), precision="int8", config="nv_full")
    net.max_pool(2)
    target.write_bytes(net.build(calibration=np.ones(shape)))
    return str(target)


def _with_kernels(name: str, folder: Path) -> Path:
    program = folder / name.removesuffix(".cu")
    subprocess.run([paths.toolkit_dir() / "bin" / "nvcc", HERE / name, "-o", program], check=True)
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(
    name: str, folder: Path, sim_cc: Compiler, request: pytest.FixtureRequest
) -> None:
    arguments: list[str] = []
    libraries = shlex.split(flags.libs(cuda=True))
    if name.startswith("driver_"):
        libraries += ["-lcuda", "-lnvrtc"]
    elif name.startswith("upmem_"):
        arguments = request.getfixturevalue("dpu_programs")
    elif name.startswith("cudla_"):
        arguments = [request.getfixturevalue("loadable")]
    options = []
    if "PVA_DECLARE_EXECUTABLE" in (HERE / name).read_text():
        options.append(request.getfixturevalue("vpu_program"))
    if name.endswith(".cu"):
        program = _with_kernels(name, folder)
    else:
        program = sim_cc.build(HERE / name, options=options, libraries=libraries)
    result = sim_cc.run(program, *arguments)
    assert (result.status, result.out) == (0, "ok\n"), result.err
