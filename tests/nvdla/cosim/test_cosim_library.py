"""Shared libraries behind ``nvdla/cosim.h``, from Python, the command line and C++."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.nvdla import Core
from cudla_sim.nvdla.cosim import CosimError, open_library
from cudla_sim.testing import Compiler
from tests import warm
from tests.conftest import ROOT
from tests.docs.blocks import blocks
from tests.nvdla.programs.conftest import link_flags

from .conftest import PAGE, compiled, relu, run, several

PROGRAMS = ROOT / "tests" / "nvdla" / "programs"


def test_the_manuals_chip_computes_what_ours_does(small_chip: Path) -> None:
    core = Core("nv_small", chip=f"cosim:{small_chip}")
    for seed in range(3):
        assert (run(core, relu(), seed)[0] == run(Core("nv_small"), relu(), seed)[0]).all()
    core.close()


def test_what_the_chip_cannot_do_is_its_own_message(small_chip: Path) -> None:
    core = Core("nv_small", chip=f"cosim:{small_chip}", limit=10000)
    with pytest.raises(Exception, match=r"no interrupt for|this chip can add"):
        run(core, several())


def altered(old: str, new: str, folder: Path) -> str:
    source = next(b.text for b in blocks(PAGE) if b.title == "small_chip.c")
    assert old in source
    return f"cosim:{compiled(folder, source.replace(old, new), 'altered')}"


def test_errors_of_opening(small_chip: Path, tmp_path: Path) -> None:
    for name, why in (
        (f"cosim:{tmp_path}/none.so", "none.so"),
        (f"cosim:{small_chip},fast", "nvdla_cosim_open: options are wrong and hang, not fast"),
        ("verilator:lib.so", "names no hardware: cosim:LIB.so is expected"),
        (f"cosim:{PAGE}", "invalid ELF header|file too short"),
    ):
        with pytest.raises(CosimError, match=why):
            open_library(name)


def test_a_missing_function_is_named(tmp_path: Path) -> None:
    library = compiled(tmp_path, "int nvdla_cosim_reset(void *c) { return !c; }")
    with pytest.raises(CosimError, match="does not define nvdla_cosim_open, nvdla_cosim_close"):
        open_library(f"cosim:{library}")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("{NVDLA_COSIM_VERSION, 0", "{99, 0", "made for version 99 of nvdla/cosim.h"),
        ('"nv_small", BASE', '"nv_tiny", BASE', "its configuration is 'nv_tiny'; it is one of"),
        ('"nv_small", BASE', "0, BASE", "its configuration is ''"),
        ("BASE, SIZE};", "BASE, 0};", "its memory has 0x0 bytes"),
    ],
)
def test_what_it_says_of_itself_is_checked(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(CosimError, match=why):
        open_library(altered(old, new, tmp_path))


def test_a_function_that_fails_ends_the_task(tmp_path: Path) -> None:
    name = altered(
        "    memcpy(core->memory + (address - BASE), data, size);\n    return 0;",
        "    memcpy(core->memory + (address - BASE), data, size);\n"
        '    return snprintf(core->error, 128, "the cable is out"), -1;',
        tmp_path,
    )
    core = Core("auto", chip=name)
    with pytest.raises(CosimError, match="nvdla_cosim_mem_write: the cable is out"):
        run(core, relu())
    core.close()
    with pytest.raises(CosimError, match="the core was closed"):
        run(core, relu())


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [warm.python(), "-m", "cudla_sim", "nvdla", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def test_command_line(small_chip: Path, tmp_path: Path) -> None:
    (tmp_path / "relu.nvdla").write_bytes(relu())
    source = np.random.default_rng(1).integers(-128, 128, (1, 12, 5, 6), np.int8)
    np.save(tmp_path / "x.npy", source)
    words = ["run", str(tmp_path / "relu.nvdla"), "--input", str(tmp_path / "x.npy")]
    done = command(*words, "--on", f"cosim:{small_chip}", "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "out" / "out0.npy") == np.maximum(source, 0)).all()
    assert "cycles on libsmall_chip.so" in done.stdout
    done = command(*words, "--on", f"cosim:{small_chip},wrong")
    assert done.returncode == 1
    assert "at (n, c, h, w) = (0, 3, 0, 0)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = command(*words, "--on", "cosim:none.so")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", ",wrong"])
def test_programs_of_iruntime_run_on_it(
    small_chip: Path, sim_cc: Compiler, tmp_path: Path, options: str
) -> None:
    loadable, source = tmp_path / "relu.nvdla", tmp_path / "in.bin"
    loadable.write_bytes(relu())
    data = np.random.default_rng(1).integers(0, 256, 5 * 6 * 16, np.uint8)
    source.write_bytes(data.tobytes())
    program = sim_cc.build(PROGRAMS / "run_loadable.cpp", libraries=link_flags())
    words = str(loadable), "2", str(tmp_path / "out"), str(source)
    settings = {"CUDLA_SIM_CHIP": f"cosim:{small_chip}{options}", "CUDLA_SIM_EXPLAIN": "1"}
    done = sim_cc.run(program, *words, settings=settings)
    if options:
        assert "its cube of 12x5x6 int8 at (n, c, h, w) = (0, 3, 0, 0)" in done.out + done.err
        return
    assert done.out.splitlines()[-1] == "ok", done.out + done.err
    found = np.fromfile(tmp_path / "out0", np.int8)
    assert (found == np.maximum(data.view(np.int8), 0)).all()
