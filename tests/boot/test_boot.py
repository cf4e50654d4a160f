"""How the library comes to life in all kinds of host programs."""

from __future__ import annotations

import ctypes
import fnmatch
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim import flags, paths
from cudla_sim.families import FAMILIES
from cudla_sim.testing import Compiler, load
from tests.conftest import ROOT

from . import programs

NO_LIBRARIES = ("-ldl",)
DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


def test_linked_program(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.VERSION))
    assert (result.status, result.out) == (0, "0 1005000 \n")


def test_library_opened_with_rtld_local(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.DLOPEN_LOCAL, libraries=NO_LIBRARIES)
    result = sim_cc.run(program, str(paths.lib_dir() / "libcudla.so.1"))
    assert result.out.splitlines() == ["0 1005000 0 2", "0"], result.err


def test_preloaded_into_a_program_that_is_not_linked(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.WEAK, libraries=NO_LIBRARIES)
    assert sim_cc.run(program).out == "absent\n"
    preload = {"LD_PRELOAD": str(paths.library())}
    assert sim_cc.run(program, settings=preload).out == "0 1005000\n"


def test_loaded_by_ctypes_into_this_interpreter() -> None:
    import cudla_sim

    cudla_sim.reset()
    api = load()
    handle = ctypes.c_void_p()
    assert api.cudlaCreateDevice(1, ctypes.byref(handle), 1) == 0
    assert [d.core.index for d in cudla_sim.dla.devices] == [1]
    cudla_sim.reset()


@pytest.mark.skipif(shutil.which("env") is None, reason="there is no env command")
def test_empty_environment_without_activated_venv(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, environment={})
    assert (result.status, result.out) == (0, "0 1005000 \n"), result.err


def test_python_that_does_not_exist_is_named(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"CUDLA_SIM_PYTHON": "/nonexistent/python"})
    assert result.status == 0
    assert result.out.startswith(f"{0x7FFFFFFF} 0 ")
    assert "/nonexistent/python" in result.out


def test_unknown_setting_is_an_error_that_names_the_right_one(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"CUDLA_SIM_EXPLIAN": "1"})
    assert result.out.startswith(f"{0x7FFFFFFF} ")
    assert "CUDLA_SIM_EXPLIAN" in result.out
    assert "did you mean explain?" in result.out


def test_many_threads_race_on_the_first_call(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.RACE)
    for _ in range(3):
        assert sim_cc.run(program).out == "wrong 0\n"


def test_fork_while_another_thread_is_inside(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.FORK))
    assert result.out == "children 10, parent's handle 0\n", result.err


def test_exit_while_threads_are_inside(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.EXIT_BUSY))
    assert (result.status, result.out.splitlines()) == (7, ["leaving 0", "atexit 0"])


def test_exit_while_an_engine_works_and_another_waits(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.EXIT_WITH_BUSY_ENGINE)
    result = sim_cc.run(program, str(DIGITS))
    assert (result.status, result.out) == (9, "leaving\n"), result.err


def test_python_text_keeps_its_place_in_piped_output(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.STDOUT_ORDER))
    assert result.out.split() == ["one", *["python", "c"] * 3]


def test_signals_and_locale_stay_the_hosts(sim_cc: Compiler) -> None:
    assert sim_cc.run(sim_cc.build(programs.UNTOUCHED)).out == "changed 0\n"


def test_static_constructors_and_destructors(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.STATIC_OBJECTS, language="c++"))
    assert result.out.splitlines() == ["caught 5, constructor 0", "destructor 0"]


def test_trace_is_written_at_exit(sim_cc: Compiler, tmp_path: Path) -> None:
    import json

    trace = tmp_path / "trace.json"
    sim_cc.run(sim_cc.build(programs.VERSION), settings={"CUDLA_SIM_TRACE": str(trace)})
    names = {record.get("name") for record in json.loads(trace.read_text())}
    assert "cudlaGetVersion" in names


def test_api_log_has_a_line_per_call(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(programs.VERSION), settings={"CUDLA_SIM_LOG": "api"})
    (line,) = [x for x in result.err.splitlines() if "cudlaGetVersion" in x]
    assert "-> 1005000)" in line
    assert "-> cudlaSuccess" in line
    assert line.endswith(" us")


def test_api_log_decodes_arguments(sim_cc: Compiler) -> None:
    source = (
        programs.HEAD
        + """
int main(void)
{
    cudlaDevHandle device;
    cudlaDevAttribute answer;
    cudlaCreateDevice(0, &device, CUDLA_STANDALONE);
    cudlaDeviceGetAttribute(device, CUDLA_DEVICE_VERSION, &answer);
    simInjectFault("cudlaDestroyDevice=cudlaErrorOs");
    return cudlaDestroyDevice(device) != cudlaErrorOs;
}
"""
    )
    result = sim_cc.run(sim_cc.build(source), settings={"CUDLA_SIM_LOG": "api"})
    assert result.status == 0
    assert "attrib=CUDLA_DEVICE_VERSION" in result.err
    assert "rule='cudlaDestroyDevice=cudlaErrorOs'" in result.err
    assert "-> cudlaErrorOs" in result.err
    assert "made to fail by an injected fault" in result.err


def test_only_api_names_are_exported() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm command")
    listing = subprocess.run(
        [nm, "-D", "--defined-only", str(paths.library())],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()]
    assert len(names) > 500
    headers = (h for h in (ROOT / "include").rglob("*") if h.suffix in (".h", ".hpp"))
    words = {word for h in headers for word in re.findall(r"\w+", h.read_text())}
    cpp = [pattern for family in FAMILIES for pattern in family.cpp_symbols]
    private = ("sim__", "sim_bridge_attach")
    foreign = [n for n in names if n not in words and not n.startswith(private)]
    assert [n for n in foreign if not any(fnmatch.fnmatchcase(n, p) for p in cpp)] == []


def test_run_sets_the_library_path(sim_cc: Compiler) -> None:
    """A program linked without a run-time path works under `cudla-sim run`."""
    program = sim_cc.build(programs.VERSION, libraries=["-L" + str(paths.lib_dir()), "-lcudla"])
    command = [sys.executable, "-m", "cudla_sim", "run", "--", str(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout == "0 1005000 \n", result.stderr


def test_flags_name_existing_folders() -> None:
    for folder in [*flags.include_dirs(cuda=True), *flags.library_dirs(cuda=True)]:
        assert folder.is_dir()
    assert (paths.pkgconfig_dir() / "cudla.pc").exists()
    assert (paths.cmake_dir() / "cudla-simConfig.cmake").exists()
