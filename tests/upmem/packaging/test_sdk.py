"""What Makefiles, CMake files and shells find of the UPMEM SDK."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from cudla_sim import flags, paths
from cudla_sim.tools.upmem import pkg_config

HOST = """
#include <dpu.h>
#include <stdio.h>
int main(void)
{
    char *text = dpu_error_to_string(DPU_ERR_SG_NOT_ACTIVATED);
    puts(text);
    free(text);
    return 0;
}
"""
TEXT = "scatter/gather transfer not activated\n"
KERNEL = "#include <mram.h>\n__host int x;\nint main(void) { x = NR_TASKLETS; return 0; }\n"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    source = tmp_path / "host.c"
    source.write_text(HOST)
    return source


def sh(script: str, folder: Path, shell: str = "sh", **environment: str) -> str:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    done = subprocess.run(
        [shell, "-ec", script], cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_upmem_home_has_the_sdks_folders() -> None:
    home = paths.sdk_dir()
    for name in (
        "bin/clang",
        "bin/clang++",
        "bin/llvm-objdump",
        "bin/dpu-clang",
        "bin/dpu-upmem-dpurte-clang",
        "bin/dpu-pkg-config",
        "include/dpu/dpu.h",
        "include/dpu/dpu",
        "lib/libdpu.so",
        "lib/libdpu.so.2025.1",
        "share/upmem/include/syslib/mram.h",
        "share/upmem/cmake/dpu.cmake",
        "share/upmem/cmake/include/host/DpuHost.cmake",
        "upmem_env.sh",
    ):
        assert (home / name).exists(), name
    for tool in (home / "bin").iterdir():
        assert os.access(tool, os.X_OK), tool


@pytest.mark.parametrize("how", ["--env", "upmem_env.sh"])
def test_clang_with_the_dpu_as_its_target_is_on_path(how: str, tmp_path: Path) -> None:
    """As UPMEM's script puts it; every other target is for the user's own clang."""
    (tmp_path / "kernel.c").write_text(KERNEL)
    (tmp_path / "host.c").write_text("int main(void) { return 0; }\n")
    here = f'eval "$({shlex.quote(sys.executable)} -m cudla_sim --env)"'
    if how != "--env":
        here = f". {shlex.quote(str(paths.sdk_dir() / 'upmem_env.sh'))}"
    script = f"""
        {here}
        clang --target=dpu-upmem-dpurte -O2 kernel.c -o kernel
        clang host.c -o host 2> said || grep "no other clang" said > /dev/null
    """
    sh(script, tmp_path, "bash")
    with (tmp_path / "kernel").open("rb") as file:
        assert ELFFile(file).get_section_by_name(".data.__sys_host") is not None


def test_a_cxx_dpu_program_by_clangs_other_name(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    compiler = shlex.quote(str(paths.sdk_dir() / "bin" / "clang++"))
    sh(f"{compiler} --target=dpu-upmem-dpurte -O2 kernel.cpp -o kernel", tmp_path)
    with (tmp_path / "kernel").open("rb") as file:
        assert ELFFile(file).get_section_by_name(".data.__sys_host") is not None


@pytest.mark.parametrize("has_llvm", [False, True])
def test_the_sdks_programs_for_objects(has_llvm: bool, tmp_path: Path) -> None:
    """The machine's own ones of LLVM, or of GNU where it has none."""
    (tmp_path / "bin").mkdir()
    for name in ("sh", "readlink", "dirname"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    for name in ("llvm-objdump", "objdump") if has_llvm else ("objdump",):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\necho {name} of the machine: $*\n")
        (tmp_path / "bin" / name).chmod(0o755)
    here = paths.sdk_dir() / "bin"
    said = subprocess.run(
        [here / "llvm-objdump", "-d", "a b"],
        env={"PATH": f"{here}:{tmp_path / 'bin'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{'llvm-' if has_llvm else ''}objdump of the machine: -d a b\n"


@pytest.mark.parametrize("release", ["0.0", "2020.3", "2021.3", "2023.1", "2024.1", "2025.1"])
def test_host_programs_of_older_releases_find_their_library(release: str, host: Path) -> None:
    tool = shlex.quote(str(paths.sdk_dir() / "bin" / "dpu-pkg-config"))
    library = paths.lib_dir() / f"libdpu.so.{release}"
    script = f"""
        gcc -c host.c `{tool} --cflags dpu`
        printf 'void dpu_error_to_string(void) {{}}' > stub.c
        gcc -shared -fPIC stub.c -Wl,-soname,{library.name} -o libdpu.so
        gcc host.o -L. -ldpu -o old
        LD_LIBRARY_PATH={shlex.quote(str(paths.lib_dir()))} ./old
    """
    assert sh(script, host.parent) == TEXT


def test_env_finds_the_tools_and_the_home(tmp_path: Path) -> None:
    script = f"""
        eval "$({shlex.quote(sys.executable)} -m cudla_sim --env)"
        command -v dpu-pkg-config
        command -v dpu-upmem-dpurte-clang
        echo "$UPMEM_HOME"
    """
    tools = paths.tools_dir()
    assert sh(script, tmp_path).split() == [
        str(tools / "dpu-pkg-config"),
        str(tools / "dpu-upmem-dpurte-clang"),
        str(paths.sdk_dir()),
    ]


def test_dpu_pkg_config_gives_what_a_makefile_asks_for(tmp_path: Path) -> None:
    tool = shlex.quote(str(paths.sdk_dir() / "bin" / "dpu-pkg-config"))
    include, lib = paths.sdk_dir() / "include" / "dpu", paths.lib_dir()
    both = sh(f"{tool} --cflags --libs dpu", tmp_path).split()
    assert both[:2] == [f"-I{include}", f"-L{lib}"]
    assert both[-3:] == ["-Wl,--no-as-needed", "-ldpu", "-Wl,--as-needed"]
    assert sh(f"{tool} --variable=includedir dpu", tmp_path).strip() == str(include)
    assert sh(f"{tool} --variable=java dpu", tmp_path).strip() == ""
    assert sh(f"{tool} --modversion dpu", tmp_path).strip() == "2025.1.0"


def test_dpu_pkg_config_refuses_other_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert pkg_config.main(["--libs", "gtk"]) == 1
    assert "unknown package gtk" in capsys.readouterr().err


def test_paths_with_blanks_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "lib_dir", lambda: Path("/a b/$c"))
    assert pkg_config.library_path() == ["-L/a\\ b/\\$c"]


@pytest.mark.parametrize("order", ["{flags} host.c", "host.c {flags}"])
def test_libs_may_stand_before_the_sources(order: str, host: Path) -> None:
    tool = shlex.quote(str(paths.sdk_dir() / "bin" / "dpu-pkg-config"))
    words = order.format(flags=f"`{tool} --cflags --libs dpu`")
    # as Debian and Ubuntu configure their linkers
    sh(f"gcc -Wl,--as-needed {words} -o host", host.parent)
    assert sh("./host", host.parent) == TEXT  # nothing in the environment: the run path is enough


def test_pkg_config_file(host: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    folder = str(paths.pkgconfig_dir())
    sh("gcc `pkg-config --cflags --libs dpu` host.c -o host", host.parent, PKG_CONFIG_PATH=folder)
    assert sh("./host", host.parent) == TEXT


def test_the_general_flags_are_enough(host: Path) -> None:
    words = f"{flags.cflags(cuda=False)} host.c {flags.libs(cuda=False)}"
    sh(f"gcc {words} -o host", host.parent)
    assert sh("./host", host.parent) == TEXT


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_upmem_env_sh(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    home = paths.sdk_dir()
    script = f". {shlex.quote(str(home / 'upmem_env.sh'))} simulator"
    script += '; echo "$UPMEM_HOME"; echo "$UPMEM_PROFILE_BASE"; command -v dpu-pkg-config'
    assert sh(script, tmp_path, shell).split() == [
        str(home),
        "backend=simulator",
        str(paths.tools_dir() / "dpu-pkg-config"),
    ]


def test_upmem_env_sh_without_a_backend_sets_no_profile(tmp_path: Path) -> None:
    script = f". {shlex.quote(str(paths.sdk_dir() / 'upmem_env.sh'))}"
    script += '; echo "${UPMEM_PROFILE_BASE-none} $LD_LIBRARY_PATH"'
    expected = f"none {paths.sdk_dir() / 'lib'}:/mine\n"
    assert sh(script, tmp_path, "bash", LD_LIBRARY_PATH="/mine") == expected


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_the_arguments_of_a_script_that_sources_upmem_env_sh_are_no_backend(
    shell: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    home = paths.sdk_dir()
    script = tmp_path / "experiment.sh"
    script.write_text(
        f". {shlex.quote(str(home / 'upmem_env.sh'))}\n"
        'echo "${UPMEM_PROFILE_BASE-none} $1 $(command -v dpu-pkg-config)"\n'
    )
    answer = sh(f"{shell} -eu {script} 64 data.txt", tmp_path, UPMEM_HOME=str(home))
    assert answer.split() == ["none", "64", str(paths.tools_dir() / "dpu-pkg-config")]


def test_clang_passes_other_targets_on(tmp_path: Path) -> None:
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "clang").write_text('#!/bin/sh\necho "the real one: $*"\n')
    (fake / "clang").chmod(0o755)
    ours = paths.sdk_dir() / "bin"
    path = f"{ours}:{fake}:{os.environ['PATH']}"
    assert sh(f"{ours}/clang -O2 'a b.c'", tmp_path, PATH=path) == "the real one: -O2 a b.c\n"


@pytest.mark.parametrize(
    "compiler",
    ["clang --target=dpu-upmem-dpurte", "clang -target dpu-upmem-dpurte", "dpu-clang"],
)
def test_every_name_of_the_dpu_compiler(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.c").write_text(KERNEL)
    sh(f"{paths.sdk_dir()}/bin/{compiler} -O2 -DNR_TASKLETS=4 kernel.c -o kernel", tmp_path)
    assert (tmp_path / "kernel").exists()


def test_modes_of_the_chip(tmp_path: Path) -> None:
    tools = paths.tools_dir()
    assert sh(f"{tools}/dpu_v1B_mode printenv DPU_ARCH_VERSION", tmp_path) == "v1B\n"
    assert sh(f'. {tools}/dpu_v1A_mode; echo "$DPU_ARCH_VERSION"', tmp_path) == "v1A\n"


CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(host C)
include("$ENV{UPMEM_HOME}/share/upmem/cmake/include/host/DpuHost.cmake")
add_executable(host host.c)
target_include_directories(host PUBLIC ${DPU_HOST_INCLUDE_DIRECTORIES})
target_link_directories(host PUBLIC ${DPU_HOST_LINK_DIRECTORIES})
target_link_libraries(host PUBLIC ${DPU_HOST_LIBRARIES})
find_package(cudla-sim CONFIG REQUIRED)
add_executable(other host.c)
target_link_libraries(other PRIVATE cudla-sim::dpu)
"""


def test_cmake_host_program(host: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    (host.parent / "CMakeLists.txt").write_text(CMAKE)
    home = {"UPMEM_HOME": str(paths.sdk_dir()), "CMAKE_PREFIX_PATH": str(paths.PACKAGE)}
    sh("cmake -S . -B build && cmake --build build", host.parent, **home)
    assert sh("build/host; build/other", host.parent) == 2 * TEXT


CMAKE_DPU = """
cmake_minimum_required(VERSION 3.5)
project(kernel C)
%s
add_executable(kernel kernel.c)
target_compile_options(kernel PRIVATE -O2 -DNR_TASKLETS=4)
target_link_options(kernel PRIVATE -DNR_TASKLETS=4)
"""
TOOLCHAIN = "${UPMEM_HOME}/share/upmem/cmake/dpu.cmake"


@pytest.mark.parametrize(
    ("listed", "option"),
    [
        ("", f"-DCMAKE_TOOLCHAIN_FILE={paths.sdk_dir()}/share/upmem/cmake/dpu.cmake"),
        (f'include("{TOOLCHAIN}")', f"-DUPMEM_HOME={paths.sdk_dir()}"),
    ],
    ids=["toolchain file", "included"],
)
def test_cmake_dpu_program(listed: str, option: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    (tmp_path / "kernel.c").write_text(KERNEL)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_DPU % listed)
    sh(f"cmake {shlex.quote(option)} -S . -B build && cmake --build build", tmp_path)
    with (tmp_path / "build" / "kernel").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert table.get_symbol_by_name("NR_TASKLETS")[0]["st_value"] == 4
        assert table.get_symbol_by_name("x")


OWN_TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET dpu-upmem-dpurte)
endforeach()
set(CMAKE_C_COMPILER $ENV{UPMEM_HOME}/bin/clang)
set(CMAKE_CXX_COMPILER $ENV{UPMEM_HOME}/bin/clang++)
set(CMAKE_AR $ENV{UPMEM_HOME}/bin/llvm-ar)
"""
CMAKE_CXX = """
cmake_minimum_required(VERSION 3.13)
project(kernel C CXX)
add_library(half STATIC half.c)
add_executable(kernel kernel.cpp)
target_link_libraries(kernel half)
target_compile_options(kernel PRIVATE -DNR_TASKLETS=4)
target_link_options(kernel PRIVATE -DNR_TASKLETS=4)
"""


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True], ids=["the SDK's", "one's own"])
def test_cmake_dpu_program_in_cxx_with_a_library(own: bool, tmp_path: Path) -> None:
    """Projects bring toolchain files of their own, which name programs of the SDK's bin folder."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    toolchain = paths.sdk_dir() / "share" / "upmem" / "cmake" / "dpu.cmake"
    if own:
        toolchain = tmp_path / "own.cmake"
        toolchain.write_text(OWN_TOOLCHAIN)
    (tmp_path / "half.c").write_text("int half(int a) { return a / 2; }\n")
    (tmp_path / "kernel.cpp").write_text(
        '#include <mram.h>\nextern "C" int half(int);\n__host int x;\n'
        "int main() { x = half(NR_TASKLETS); return 0; }\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_CXX)
    option = shlex.quote(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
    home = {"UPMEM_HOME": str(paths.sdk_dir())}
    sh(f"cmake {option} -S . -B build && cmake --build build", tmp_path, **home)
    with (tmp_path / "build" / "kernel").open("rb") as file:
        assert ELFFile(file).get_section_by_name(".data.__sys_host") is not None


def test_the_compiler_runs_while_pip_builds_a_package(tmp_path: Path) -> None:
    """pip's environment for a build has a sitecustomize that hides what is installed; in the folder
    where the user stands, anything may be called as a module of Python's is."""
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    hiding = "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]\n"
    (overlay / "sitecustomize.py").write_text(hiding)
    (tmp_path / "runpy.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "kernel.c").write_text(KERNEL)
    clang = shlex.quote(str(paths.tools_dir() / "clang"))
    script = f"{clang} --target=dpu-upmem-dpurte -O2 kernel.c -o kernel"
    sh(script, tmp_path, PYTHONPATH=str(overlay))
    assert (tmp_path / "kernel").exists()
