"""The command line: nvcc's options, messages with the user's lines, steps of builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim import flags, paths
from cudla_sim.cuda_kernels.options import BadOption, parse

from .conftest import PROGRAMS
from .conftest import exactly as nvcc

MAIN = "int work();\nint main() { return work(); }\n"
WORK = """#include "value.h"
__global__ void k(int *x) { x[0] = VALUE; }
int work() {
    int *x, found = 0;
    cudaMalloc(&x, 4);
    k<<<1, 1>>>(x);
    cudaMemcpy(&found, x, 4, cudaMemcpyDeviceToHost);
    return found == 42 ? 0 : 1;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "value.h").write_text("#define VALUE (TWICE * 21)\n")
    (tmp_path / "main.cpp").write_text(MAIN)
    (tmp_path / "work.cu").write_text(WORK)
    return tmp_path


def test_one_command_and_separate_steps(project: Path) -> None:
    words = (
        "-I",
        project / "inc",
        "-DTWICE=2",
        "-gencode",
        "arch=compute_87,code=sm_87",
        "-lineinfo",
    )
    program = project / "app"
    done = nvcc(*words, project / "main.cpp", project / "work.cu", "-o", program)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], check=False).returncode == 0
    program.unlink()
    for name in ("main.cpp", "work.cu"):
        target = (project / name).with_suffix(".o")
        assert nvcc(*words, "-dc", project / name, "-o", target, "-MD").returncode == 0
    assert "inc/value.h" in (project / "work.d").read_text()
    linked = project / "dlink.o"
    objects = (project / "main.o", project / "work.o")
    assert nvcc("-dlink", *objects, "-o", linked).returncode == 0
    assert nvcc(*objects, linked, "-o", program).returncode == 0
    assert subprocess.run([program], check=False).returncode == 0
    library = project / "libwork.a"
    assert nvcc("-lib", project / "work.o", "-o", library).returncode == 0
    assert nvcc(project / "main.o", library, "-o", program).returncode == 0


def test_the_toolkits_libraries_are_found_without_a_folder(project: Path) -> None:
    program = project / "app"
    words = ("-DTWICE=2", "-I", project / "inc", project / "main.cpp", project / "work.cu")
    found = {name: value for name, value in os.environ.items() if name != "LIBRARY_PATH"}
    libraries = ("-lcudadevrt", "-lnvToolsExt", "-lcuda")
    done = nvcc(*words, "-rdc=true", "-o", program, *libraries, environment=found)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], check=False).returncode == 0


def test_messages_name_the_users_line(project: Path) -> None:
    (project / "work.cu").write_text(WORK.replace("found == 42", "found == nothing"))
    done = nvcc(
        "-I", project / "inc", "-DTWICE=2", "-c", project / "work.cu", "-o", project / "w.o"
    )
    assert done.returncode == 1
    assert "work.cu:8:" in done.stderr
    assert "nothing" in done.stderr


def test_a_makefile_finds_it_through_the_environment(project: Path) -> None:
    (project / "Makefile").write_text(
        "app: work.cu main.cpp\n"
        "\t$(CUDA_PATH)/bin/nvcc -Iinc -DTWICE=2 -I$(CUDA_HOME)/include $^ -o $@\n"
        "other: work.cu main.cpp\n\tnvcc -Iinc -DTWICE=2 $^ -o $@\n"
    )
    script = 'eval "$("$1" -m cudla_sim --env)"; make -s app other && ./app && ./other'
    command = ["bash", "-euc", script, "bash", sys.executable]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}  # without a toolkit
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_versions_as_cmake_reads_them() -> None:
    done = nvcc("--version")
    assert "Cuda compilation tools, release 12.9, V12.9.86" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-ptx", "a.cu"], "-ptx: PTX is code for a GPU, which is not supported"),
        (["-cubin", "a.cu"], "-cubin: a cubin is code for a GPU, which is not supported"),
        (["nothing.cu"], "nothing.cu: No such file or directory"),
        (["-c"], "no input files"),
        (["a.cu", "-o"], "-o needs a value"),
    ],
)
def test_what_cannot_be_done_is_one_line(words: list[str], told: str) -> None:
    done = nvcc(*words)
    assert done.returncode == 1
    assert done.stderr.startswith("nvcc: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_words_of_the_command_line() -> None:
    found = parse([
        "-O3", "-std=c++14", "-Xcompiler", "-Wall,-fopenmp", "-Xlinker=--as-needed", "-lcudla",
        "--generate-code=arch=compute_87,code=[sm_87]", "-rdc=true", "--use_fast_math", "x.cu",
        "y.o",
    ])  # fmt: skip
    assert found.inputs == [("x.cu", "cu"), ("y.o", "")]
    assert found.standard == "-std=gnu++17"
    assert found.compile == ["-O3", "-Wall", "-fopenmp"]
    assert found.link == ["-fopenmp", "-Wl,--as-needed", "-lcudla", "y.o"]
    assert parse(["--std", "c++20", "x.cu"]).standard == "-std=gnu++20"
    with pytest.raises(BadOption, match="needs a value"):
        parse(["-I"])


def test_options_of_a_gpus_code_mean_nothing() -> None:
    """Of nvcc's manual, "Command Option Description"; what follows is no value of theirs."""
    found = parse([
        "-t4", "-split-compile", "2", "--dopt=on", "-Wno-deprecated-gpu-targets", "-opt-info",
        "inline", "-Wdefault-stream-launch", "-time", "times.csv", "-extra-device-vectorization",
        "-ftemplate-depth", "99", "-noeh", "-w", "-Xarchive", "-v", "x.cu",
    ])  # fmt: skip
    assert found.inputs == [("x.cu", "cu")]
    assert found.compile == ["-ftemplate-depth=99", "-fno-exceptions", "-w"]
    assert found.link == []


@pytest.mark.parametrize("kind", ["per-thread", "other"])
def test_only_the_legacy_default_stream(kind: str) -> None:
    with pytest.raises(BadOption, match=f"--default-stream {kind}: "):
        parse(["--default-stream", kind, "x.cu"])
    assert parse(["--default-stream", "legacy", "x.cu"]).inputs == [("x.cu", "cu")]


def test_words_for_the_host_s_preprocessor(tmp_path: Path) -> None:
    """CUDA's manual of nvcc: -Xcompiler is for the compiler and the preprocessor."""
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "more.h").write_text("#define MORE 30\n")
    (tmp_path / "first.h").write_text("#define FIRST 4\n")
    source = tmp_path / "sum.cu"
    source.write_text(
        "#include <more.h>\n"
        "__global__ void k() {}\n"
        "int main() { k<<<1, 1>>>(); return MORE + FIRST + GIVEN + ALSO; }\n"
    )
    system = f"-isystem,{tmp_path / 'system'},-DGIVEN=100"
    include = ["-Xcompiler", "-include", "-Xcompiler", tmp_path / "first.h"]
    program = tmp_path / "sum"
    done = nvcc("-Xcompiler", system, *include, "-Xcompiler=-DALSO=5", source, "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([program], check=False).returncode == 139


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_takes_it_for_the_compiler_of_cuda(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\n"
        "set(CMAKE_CUDA_ARCHITECTURES 87)\n"
        "project(app LANGUAGES CXX CUDA)\n"
        "find_package(CUDAToolkit REQUIRED)\n"
        "add_executable(app main.cpp work.cu)\n"
        "target_include_directories(app PRIVATE inc)\n"
        "target_compile_definitions(app PRIVATE TWICE=2)\n"
        "set(only $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda -lineinfo>)\n"
        "target_compile_options(app PRIVATE ${only})\n"
        "set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n"
        "target_link_libraries(app PRIVATE CUDA::cudart CUDA::cuda_driver)\n"
    )
    found = {**os.environ, **flags.environment(cuda=True)}
    found["CUDACXX"] = str(paths.toolkit_dir() / "bin" / "nvcc")
    build = project / "build"
    for command in (["cmake", "-S", project, "-B", build], ["cmake", "--build", build]):
        done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    cache = (build / "CMakeCache.txt").read_text()
    assert f"CMAKE_CUDA_COMPILER:FILEPATH={found['CUDACXX']}" in cache
    assert subprocess.run([build / "app"], env=found, check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [((), "-O2"), (("-O3",), "-O3"), (("-O1",), "-O1"), (("-g",), ""), (("-g", "-O2"), "-O2")],
)
def test_kernels_are_optimized_unless_they_are_debugged(
    given: tuple[str, ...], expected: str
) -> None:
    done = nvcc("-dryrun", *given, "-c", PROGRAMS / "values.cu")
    (line,) = [text for text in done.stderr.splitlines() if "c++-cpp-output" in text]
    levels = [word for word in line.split() if word.startswith("-O")]
    assert (levels or [""])[-1] == expected


def test_zeros_for_pointers_and_spaces_in_brackets(tmp_path: Path) -> None:
    unit, made = tmp_path / "zeros.o", tmp_path / "zeros"
    assert nvcc("-c", PROGRAMS / "zeros.cu", "-o", unit).returncode == 0
    # gcc links it without the C++ library on its line, as Makefiles of C programs do
    library = paths.toolkit_dir() / "lib64"
    command = ["gcc", unit, "-o", made, f"-L{library}", "-lcudart", f"-Wl,-rpath,{library}"]
    subprocess.run(command, check=True)
    done = subprocess.run([made], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "plain 0",
        "plain 3",
        "given 0 1",
        "taken 4 0",
        "taken 2 0",
    ]


def test_functions_that_are_inlined_by_force_may_call_themselves(tmp_path: Path) -> None:
    source = tmp_path / "depth.cu"
    source.write_text(
        "#include <cstdio>\n"
        "__device__ int other(int n);\n"
        "__device__ __forceinline__ int depth(int n)\n"
        "{ return n < 2 ? n : depth(n - 1) + other(n); }\n"
        "__device__ __forceinline__ int other(int n) { return n % 2 ? depth(n - 2) : 1; }\n"
        '__global__ void k(int n) { printf("%d\\n", depth(n)); }\n'
        "int main() { k<<<1, 1>>>(9); return cudaDeviceSynchronize(); }\n"
    )
    done = nvcc("-O2", source, "-o", tmp_path / "depth")
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([str(tmp_path / "depth")], capture_output=True, text=True, check=False)

    def depth(n: int) -> int:
        return n if n < 2 else depth(n - 1) + (depth(n - 2) if n % 2 else 1)

    assert (ran.returncode, ran.stdout) == (0, f"{depth(9)}\n")
