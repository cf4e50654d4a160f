"""C and C++ programs on every level of the driver stack, with either side replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler
from tests.conftest import ROOT

from .conftest import DIGITS, link_flags

Program = Callable[..., Path]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """An input file for the samples' network, and what the Python engine makes of it."""
    loadable = Loadable.parse(DIGITS.read_bytes())
    space = AddressSpace()
    network = LoadedNetwork(loadable, space, "nv_full")
    source = space.allocate(loadable.inputs[0].size, name="input")
    result = space.allocate(loadable.outputs[0].size, name="output")
    source.data[...] = np.random.default_rng(5).integers(0, 256, source.size, np.uint8)
    Engine("nv_full").run(network, [source.base], [result.base])
    file = tmp_path_factory.mktemp("inputs") / "input.bin"
    file.write_bytes(source.data.tobytes())
    return file, result.data.tobytes()


def run(
    sim_cc: Compiler, program: Path, case: tuple[Path, bytes], tmp_path: Path, runs: int = 2,
    **settings: str,
) -> str:  # fmt: skip
    """Runs run_loadable.cpp over the network; the output must be right. Returns stderr."""
    file, expected = case
    result = sim_cc.run(
        program, str(DIGITS), str(runs), str(tmp_path / "out"), str(file), settings=settings
    )
    assert (result.status, result.out.splitlines()[-1]) == (0, "ok"), result.out + result.err
    assert (tmp_path / "out0").read_bytes() == expected
    return result.err


@pytest.mark.parametrize("options", [(), ("-fno-rtti",), ("-std=c++11",)], ids=str)
def test_iruntime(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes], tmp_path: Path,
    options: tuple[str, ...],
) -> None:  # fmt: skip
    run(sim_cc, program("run_loadable.cpp", options=options), case, tmp_path)


def test_activations_in_the_second_memory(
    sim_cc: Compiler, program: Program, tmp_path: Path
) -> None:
    """The runtime asks the portability layer for SRAM, and the engine finds it."""
    random = np.random.default_rng(3)
    net = Network(input=("x", (1, 32, 8, 8)), precision="int8", config="nv_full")
    for _ in range(3):
        net.conv2d(random.normal(size=(32, 32, 3, 3)), padding=1)
    images = random.normal(size=(1, 32, 8, 8))
    plain, placed = net.build(images), net.build(images, cvsram=4096)
    loadable = Loadable.parse(plain)
    space = AddressSpace()
    network = LoadedNetwork(loadable, space, "nv_full")
    source = space.allocate(loadable.inputs[0].size, name="input")
    result = space.allocate(loadable.outputs[0].size, name="output")
    source.data[...] = random.integers(0, 256, source.size, np.uint8)
    Engine("nv_full").run(network, [source.base], [result.base])
    (tmp_path / "placed.nvdla").write_bytes(placed)
    (tmp_path / "input.bin").write_bytes(source.data.tobytes())
    done = sim_cc.run(
        program("run_loadable.cpp"), str(tmp_path / "placed.nvdla"), "2", str(tmp_path / "out"),
        str(tmp_path / "input.bin"),
    )  # fmt: skip
    assert (done.status, done.out.splitlines()[-1]) == (0, "ok"), done.out + done.err
    assert (tmp_path / "out0").read_bytes() == result.data.tobytes()


def test_own_portability_functions_win(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes], tmp_path: Path
) -> None:
    """Below our NvDlaSubmit and our firmware, every register access is the program's."""
    err = run(sim_cc, program("run_loadable.cpp", "foreign_port.c"), case, tmp_path)
    counts = [int(word) for word in err.replace(",", "").split() if word.isdigit()]
    assert min(counts) > 20, err


def test_own_kernel_driver(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes], tmp_path: Path
) -> None:
    """Memory, submission and portability are the program's; the engine is ours."""
    built = program("run_loadable.cpp", "foreign_port.c", "foreign_kernel.c")
    run(sim_cc, built, case, tmp_path)


@pytest.mark.parametrize("jump", [1, 50, 200])
def test_longjmp_out_of_a_portability_function(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes], tmp_path: Path, jump: int
) -> None:
    built = program("run_loadable.cpp", "foreign_port.c", "foreign_kernel.c")
    err = run(sim_cc, built, case, tmp_path, JUMP=str(jump))
    assert "jumped" in err


def test_exception_out_of_a_portability_function(sim_cc: Compiler, program: Program) -> None:
    result = sim_cc.run(program("throwing_port.cpp"), str(DIGITS))
    assert result.out.splitlines() == ["caught 1", "caught 2", "submitted"], result.err


@pytest.mark.slow
@pytest.mark.parametrize("sources", [(), ("foreign_port.c",)], ids=["ours", "foreign port"])
@pytest.mark.parametrize(
    ("fault", "status"),
    [("dla/task@1", 0x3000F), ("dla/timeout@1", 5), ("dla/task@1=NvDlaError_Busy", 0xE)],
)
def test_injected_fault(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes], tmp_path: Path,
    sources: tuple[str, ...], fault: str, status: int,
) -> None:  # fmt: skip
    built = program("run_loadable.cpp", *sources)
    result = sim_cc.run(
        built, str(DIGITS), "1", str(tmp_path / "out"), str(case[0]),
        settings={"CUDLA_SIM_FAULT": fault, "CUDLA_SIM_EXPLAIN": "1"},
    )  # fmt: skip
    assert result.status != 0
    assert f"({status:#x})" in result.err or f"({status})" in result.err, result.err
    assert f"injected fault {fault.split('@')[0]}" in result.err


def test_own_firmware(sim_cc: Compiler, program: Program) -> None:
    result = sim_cc.run(program("firmware_program.c"))
    assert result.out.splitlines() == [
        "right",
        "right",
        "right",
        "too few addresses: 0x3000f",
        "interrupts came",
    ], result.err


def test_own_firmware_on_another_configuration(sim_cc: Compiler, program: Program) -> None:
    """It looks at config_data and refuses."""
    result = sim_cc.run(program("firmware_program.c"), settings={"CUDLA_SIM_CONFIG": "nv_small"})
    assert result.out == "error 0x3000f: NvDlaSubmit: the firmware's dla_execute_task returned -3\n"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("poll", ["not yet", "right"]),
        ("step", ["not yet", "line 1 status 0x150001", "right"]),
        ("interrupt", ["right", "right", "right"]),
    ],
)
def test_registers_without_a_driver(
    sim_cc: Compiler, program: Program, how: str, said: list[str]
) -> None:
    result = sim_cc.run(program("registers_program.c"), how)
    assert result.out.splitlines() == said, result.err


def test_undefined_operation_is_reported_and_the_core_stays_usable(
    sim_cc: Compiler, program: Program
) -> None:
    result = sim_cc.run(program("registers_program.c"), "undefined")
    first, *rest = result.out.splitlines()
    assert first.startswith("-1 simNvdlaStep: CDMA data reads 256 bytes at 0x1000")
    assert rest == ["not yet", "line 1 status 0x150001", "right"], result.err


def test_operating_system_helpers(sim_cc: Compiler, program: Program, tmp_path: Path) -> None:
    result = sim_cc.run(program("os_helpers.c"), str(tmp_path))
    assert result.status == 0, result.out + result.err


def test_struct_layouts(sim_cc: Compiler, program: Program) -> None:
    """The program asserts at compile time."""
    assert sim_cc.run(program("layouts.cpp")).status == 0


@pytest.mark.slow
def test_bad_input(sim_cc: Compiler, program: Program) -> None:
    result = sim_cc.run(program("bad_input.cpp"), str(DIGITS))
    assert result.status == 0, result.out + result.err


@pytest.mark.slow
def test_threads_on_two_cores(sim_cc: Compiler, program: Program, case: tuple[Path, bytes]) -> None:
    result = sim_cc.run(program("two_cores.cpp"), str(DIGITS), str(case[0]))
    assert result.status == 0, result.err


def test_machine_with_one_core(
    sim_cc: Compiler, program: Program, case: tuple[Path, bytes]
) -> None:
    """Loading for core 1 fails."""
    settings = {"CUDLA_SIM_DLA_COUNT": "1"}
    result = sim_cc.run(program("two_cores.cpp"), str(DIGITS), str(case[0]), settings=settings)
    assert result.status == 1


def test_sample(sim_cc: Compiler) -> None:
    """c_examples/nvdla: the shipped digits through nvdla::IRuntime."""
    source = ROOT / "c_examples" / "nvdla" / "digits_runtime.cpp"
    built = sim_cc.build(source, options=["-std=c++11", "-Wextra"], libraries=link_flags())
    pictures = sorted(str(p) for p in (DIGITS.parent / "images").glob("*.pgm"))
    result = sim_cc.run(built, str(DIGITS), *pictures)
    assert result.status == 0, result.err
    right, of, total, *_ = result.out.splitlines()[-1].split()
    assert of == "of"
    assert int(right) >= 0.95 * int(total)
