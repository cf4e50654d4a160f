"""find_package(pva-sdk) and its functions, with a project as the tutorials build theirs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim import paths

pytestmark = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("g++")), reason="needs cmake and g++"
)

LISTS = """\
cmake_minimum_required(VERSION 3.20)
find_package(pva-sdk 2.5 REQUIRED)
project(tutorial C CXX)
set(CMAKE_CXX_STANDARD 14)
pva_device(copy_dev kernel.c BCF small.bcf)
target_include_directories(copy_dev PRIVATE inc)
target_compile_definitions(copy_dev PRIVATE ADD=2)
cupva_device(other_dev kernel.c more.c)
target_include_directories(other_dev PRIVATE inc)
target_compile_definitions(other_dev PRIVATE ADD=3 MORE)
add_library_pva(operators HOST operators.cpp DEVICE other_dev STATIC_HOST)
add_executable_pva(app HOST main.cpp DEVICE copy_dev)
target_link_libraries(app PRIVATE operators)
"""
FILES = {
    "CMakeLists.txt": LISTS,
    "inc/value.h": "#define VALUE 5\n",
    "kernel.c": '#include <cupva_device.h>\n#include "value.h"\nVMEM(A, int, x);\n'
    "#ifdef MORE\nint more(void);\n#else\n#define more() 0\n#endif\n"
    "CUPVA_VPU_MAIN() { x = VALUE + ADD + more(); return 0; }\n",
    "more.c": "int more(void) { return 1; }\n",
    "operators.cpp": "#include <cupva_platform.h>\nPVA_DECLARE_EXECUTABLE(other_dev)\n"
    "int size() { return PVA_EXECUTABLE_SIZE(other_dev); }\n",
    "main.cpp": "#include <cupva_platform.h>\n#include <cstdio>\nint size();\n"
    "#if CUPVA_DEVICE != 0\n#error host code has CUPVA_DEVICE 0\n#endif\n"
    "PVA_DECLARE_EXECUTABLE(copy_dev)\nint main() {\n"
    "const char *d = (const char *)PVA_EXECUTABLE_DATA(copy_dev);\n"
    'std::printf("%.3s %d %d\\n", d + 1, PVA_EXECUTABLE_SIZE(copy_dev) > 1000, size() > 1000); }\n',
}


def cmake(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cmake", *map(str, words)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def configure(project: Path, build: str, *more: str) -> subprocess.CompletedProcess[str]:
    prefix = f"-DCMAKE_PREFIX_PATH={paths.PACKAGE}"
    return cmake("-S", project, "-B", project / build, prefix, *more)


@pytest.mark.slow
def test_project(project: Path) -> None:
    done = configure(project, "build", "-DPVA_BUILD_MODE=NATIVE")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    done = cmake("--build", project / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    app = subprocess.run([project / "build" / "app"], capture_output=True, text=True)
    assert app.stdout == "ELF 1 1\n"
    before = (project / "build" / "copy_dev_exe.o").stat().st_mtime_ns
    (project / "inc" / "value.h").write_text("#define VALUE 6\n")
    assert cmake("--build", project / "build").returncode == 0
    assert (project / "build" / "copy_dev_exe.o").stat().st_mtime_ns > before, "headers count"


@pytest.mark.parametrize(("version", "found"), [("2.4", True), ("2.10", True), ("2.11", False)])
def test_versions(tmp_path: Path, version: str, found: bool) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.20)\nfind_package(pva-sdk {version} REQUIRED)\n"
        "project(p NONE)\n"
    )
    assert (configure(tmp_path, "build").returncode == 0) == found


def test_other_build_modes_are_told(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nfind_package(pva-sdk REQUIRED)\nproject(p NONE)\n"
    )
    done = configure(tmp_path, "build", "-DPVA_BUILD_MODE=L4T")
    assert done.returncode == 0
    assert "it builds NATIVE" in done.stderr
