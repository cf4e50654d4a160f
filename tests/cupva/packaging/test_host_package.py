"""What Makefiles, CMake files and shells find of the PVA SDK's host side."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cudla_sim import flags, paths
from tests.conftest import ROOT

INCLUDE = ROOT / "include" / "cupva"
SHARED = ("cupva_types.h", "cupva_platform.h", "pvasdk_platform.h")
HEADERS = sorted(
    p.relative_to(INCLUDE).as_posix()
    for p in INCLUDE.rglob("*")
    if p.suffix in (".h", ".hpp") and ("host" in p.name or "cpp" in p.parts or p.name in SHARED)
)
HOST = """
#include <cupva_host.hpp>
#include <iostream>
int main()
{
    cupva::mem::Free(cupva::mem::Alloc(64));
    std::cout << cupva::GetHardwareInfo().pvaVPUCount << "\\n";
}
"""
HOST_C = """
#include <cupva_host.h>
#include <stdio.h>
int main(void)
{
    cupvaHardwareInfo_t info;
    if (CupvaGetHardwareInfo(&info) != CUPVA_ERROR_NONE) return 1;
    printf("%u\\n", info.pvaVPUCount);
    return 0;
}
"""


def run(command: Sequence[str], folder: Path, **environment: str) -> str:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    done = subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_program_that_was_linked_with_a_versioned_name(tmp_path: Path) -> None:
    """The loader looks such a name up at run time; here it is asked for with dlopen."""
    (tmp_path / "v.c").write_text(
        """
        #include <dlfcn.h>
        #include <stdint.h>
        #include <stdio.h>
        int main(int argc, char **argv)
        {
            (void)argc;
            void *library = dlopen(argv[1], RTLD_NOW);
            uint32_t version = 0;
            if (!library) return puts(dlerror()), 1;
            int (*get)(uint32_t *) = (int (*)(uint32_t *))dlsym(library, "CupvaGetDriverVersion");
            return get(&version) || version < 2006;
        }
        """
    )
    run(["gcc", "v.c", "-o", "v", "-ldl"], tmp_path)
    environment = {"LD_LIBRARY_PATH": str(paths.lib_dir()), "CUDLA_SIM_PYTHON": sys.executable}
    for name in ("libcupva_host.so.2.3", "libcupva_host.so.2.10"):
        run(["./v", name], tmp_path, **environment)


def test_flags() -> None:
    assert f"-I{paths.include_dir() / 'cupva'}" in shlex.split(flags.cflags(cuda=False))
    assert "-lcupva_host" in shlex.split(flags.libs(cuda=False))


@pytest.mark.parametrize(
    ("compiler", "name", "text"),
    [("g++ -std=c++14", "v.cpp", HOST), ("gcc -std=c11", "v.c", HOST_C)],
    ids=["c++", "c"],
)
def test_pkg_config(compiler: str, name: str, text: str, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config command")
    (tmp_path / name).write_text(text)
    ask = ["pkg-config", "--cflags", "--libs", "cupva_host"]
    words = run(ask, tmp_path, PKG_CONFIG_PATH=str(paths.pkgconfig_dir())).split()
    assert "-DCUPVA_DEVICE=0" in words
    run([*compiler.split(), name, "-o", "v", *words], tmp_path)
    assert run(["./v"], tmp_path) == "2\n"


def test_env(tmp_path: Path) -> None:
    (tmp_path / "v.cpp").write_text(HOST)
    script = f"""
        eval "$({shlex.quote(sys.executable)} -m cudla_sim --env)"
        g++ -std=c++14 v.cpp -o v -lcupva_host
        ./v
    """
    assert run(["sh", "-ec", script], tmp_path) == "2\n"


@pytest.mark.slow
def test_cmake_target(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake command")
    (tmp_path / "v.cpp").write_text(HOST)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(v CXX)\nset(CMAKE_CXX_STANDARD 14)\n"
        "find_package(cudla-sim CONFIG REQUIRED)\nadd_executable(v v.cpp)\n"
        "target_link_libraries(v cudla-sim::cupva_host)\n"
    )
    prefix = {"CMAKE_PREFIX_PATH": str(paths.PACKAGE)}
    run(["cmake", "-S", ".", "-B", "b"], tmp_path, **prefix)
    run(["cmake", "--build", "b"], tmp_path, **prefix)
    run(["b/v"], tmp_path, LD_LIBRARY_PATH=str(paths.lib_dir()))


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS)
def test_every_header_stands_alone(header: str, tmp_path: Path) -> None:
    includes = [f"-I{d}" for d in flags.include_dirs(cuda=True)]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    modes = [("g++", "-std=c++14", "c++")]
    modes += [("gcc", "-std=c11", "c")] if header.endswith(".h") else []
    (tmp_path / "one.c").write_text(f"#include <{header}>\n#include <{header}>\n")
    for compiler, standard, language in modes:
        run([compiler, standard, *strict, *includes, "-x", language, "one.c"], tmp_path)


@pytest.mark.parametrize("standard", ["c++14", "c++17", "c++20"])
def test_clang_takes_all_headers_together(standard: str, tmp_path: Path) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("there is no clang++ command")
    lines = [f"#include <{h}>\n" for h in reversed(HEADERS)]
    (tmp_path / "all.cpp").write_text("".join(lines) + "using namespace cupva;\n")
    includes = [f"-I{d}" for d in flags.include_dirs(cuda=True)]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-DCUPVA_DEVICE=0"]
    run(["clang++", f"-std={standard}", *strict, *includes, "all.cpp"], tmp_path)


def test_host_headers_refuse_vpu_code(tmp_path: Path) -> None:
    (tmp_path / "v.cpp").write_text("#include <cupva_host.hpp>\n")
    command = ["g++", "-DCUPVA_DEVICE=1", f"-I{INCLUDE}", "-fsyntax-only", "v.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "this header is for the host" in done.stderr
