"""The cudla-sim command, as a user and as a build system call it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import cudla_sim
from cudla_sim import cli, flags, paths
from cudla_sim.tools.doctor import checks
from tests.conftest import ROOT

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


def call(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudla_sim", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("--cflags", f"-I{paths.include_dir()}"),
        ("--includes", f"-I{paths.include_dir()}"),
        ("--libs", "-lcudla"),
        ("--ldflags", f"-Wl,-rpath,{paths.lib_dir()}"),
        ("--libdir", str(paths.lib_dir())),
        ("--cmakedir", str(paths.cmake_dir())),
        ("--pkgconfigdir", str(paths.pkgconfig_dir())),
        ("--cuda-home", str(paths.toolkit_dir())),
        ("--upmem-home", str(paths.sdk_dir())),
        ("--env", "export LD_LIBRARY_PATH="),
        ("--env", f"export UPMEM_HOME={paths.sdk_dir()}"),
    ],
)
def test_options(option: str, part: str) -> None:
    result = call(option)
    assert result.returncode == 0
    assert part in result.stdout


def test_options_combine_on_one_line() -> None:
    result = call("--cflags", "--libs")
    assert len(result.stdout.splitlines()) == 1
    assert "-I" in result.stdout
    assert "-lnvscisync" in result.stdout


def test_no_cuda_leaves_our_cuda_out() -> None:
    result = call("--cflags", "--libs", "--no-cuda")
    assert "/cuda" not in result.stdout
    assert "-lcudart" not in result.stdout


def test_doctor_finds_nothing_wrong() -> None:
    result = call("doctor")
    assert result.returncode == 0, result.stdout
    assert "first call" in result.stdout


def test_paths_with_a_space_are_quoted_as_pkg_config_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recipe of make and eval read the words back; doctor says that a bare $(...) does not."""
    package = tmp_path / "a dir" / "cudla_sim"
    (package / "lib").mkdir(parents=True)
    (package / "include").symlink_to(paths.include_dir())
    (package / "lib" / "x.pc").write_text(
        "prefix=${pcfiledir}\nName: x\nDescription: x\nVersion: 1\nCflags: -I${prefix}\n"
    )
    monkeypatch.setattr(paths, "PACKAGE", package)
    words = flags.cflags(cuda=False)
    assert shlex.split(words)[0] == f"-I{package / 'include'}"
    theirs = subprocess.run(
        ["pkg-config", "--cflags", "x"],
        env={**os.environ, "PKG_CONFIG_PATH": str(package / "lib")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert theirs.stdout.strip() == flags.escaped(f"-I{package / 'lib'}")
    (tmp_path / "v.c").write_text('#include "cudla.h"\nint main(void) { return 0; }\n')
    (tmp_path / "Makefile").write_text(f"v: v.c\n\tgcc v.c -o v {words}\n")
    for command in (["make"], ["sh", "-c", f"gcc v.c -o w {words}"]):
        subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    told = {what: wrong for what, _, wrong in checks()}
    assert "splits it" in told["path"]


def test_doctor_names_a_bad_setting() -> None:
    result = call("doctor", CUDLA_SIM_CONFIG="nv_tiny")
    assert result.returncode == 1
    assert "nv_small" in "".join(result.stdout.split())


def test_inspect_prints_tensors_and_layers() -> None:
    result = call("inspect", str(DIGITS))
    assert result.returncode == 0
    assert "1x1x8x8" in result.stdout
    assert "nv_full" in result.stdout
    assert result.stdout.count("CONV") >= 3


def test_inspect_json() -> None:
    description = json.loads(call("inspect", "--json", str(DIGITS)).stdout)
    assert [t["name"] for t in description["inputs"]] == ["image"]


@pytest.mark.parametrize("content", [b"", b"not a loadable", b"ftrt" + bytes(100)])
def test_inspect_refuses_other_files(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.nvdla"
    file.write_bytes(content)
    result = call("inspect", str(file))
    assert result.returncode == 1
    assert result.stderr.startswith(f"cudla-sim inspect: {file}: ")
    assert "Traceback" not in result.stderr


def test_inspect_missing_file() -> None:
    result = call("inspect", "/nonexistent")
    assert (result.returncode, result.stdout) == (1, "")
    assert "No such file" in result.stderr


def test_run_gives_settings_to_the_program() -> None:
    code = "import os; print(os.environ['CUDLA_SIM_CONFIG'], os.environ['CUDLA_SIM_EXPLAIN'])"
    words = ["run", "--config", "nv_small", "--explain", "--", sys.executable, "-c", code]
    assert call(*words).stdout == "nv_small 1\n"


def test_run_answers_the_programs_exit_status() -> None:
    assert call("run", "--", sys.executable, "-c", "raise SystemExit(5)").returncode == 5
    assert call("run", "--", "/nonexistent").returncode == 127
    assert call("run").returncode == 2


def test_unknown_words() -> None:
    for words in (["frobnicate"], ["--frobnicate"]):
        result = call(*words)
        assert result.returncode != 0
        assert "Traceback" not in result.stderr


VERSION_C = """
#include <stdio.h>
#include "cudla.h"
int main(void) { uint64_t v; int s = cudlaGetVersion(&v); printf("%d %d\\n", s, (int)v); return s; }
"""


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="there is no pkg-config command")
def test_pkg_config(tmp_path: Path) -> None:
    (tmp_path / "v.c").write_text(VERSION_C)
    folder = call("--pkgconfigdir").stdout.strip()
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "cudla", "nvscibuf", "nvscisync", "cudart"],
        env={**os.environ, "PKG_CONFIG_PATH": folder},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    subprocess.run(["gcc", "v.c", "-o", "v", *flags], cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "v"], capture_output=True, text=True, check=False)
    assert run.stdout == "0 1005000\n", run.stderr


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake command")
@pytest.mark.parametrize(
    "body",
    [
        "find_package(cudla-sim CONFIG REQUIRED)\n"
        "target_link_libraries(v cudla-sim::cudla cudla-sim::nvscisync cudla-sim::cudart)",
        "find_library(CUDLA_LIB cudla REQUIRED)\nfind_path(CUDLA_INCLUDE cudla.h REQUIRED)\n"
        "target_include_directories(v PRIVATE ${CUDLA_INCLUDE})\n"
        "target_link_libraries(v ${CUDLA_LIB})",
    ],
    ids=["find_package", "find_library"],
)
def test_cmake(tmp_path: Path, body: str) -> None:
    (tmp_path / "v.c").write_text(VERSION_C)
    head = "cmake_minimum_required(VERSION 3.16)\nproject(v C)\nadd_executable(v v.c)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + body + "\n")
    call("--libdir")  # makes the drop-in names
    prefix = {**os.environ, "CMAKE_PREFIX_PATH": str(paths.PACKAGE)}
    for command in (["cmake", "-S", ".", "-B", "b"], ["cmake", "--build", "b"]):
        done = subprocess.run(
            command, cwd=tmp_path, env=prefix, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    environment = {**os.environ, "LD_LIBRARY_PATH": str(paths.lib_dir())}
    run = subprocess.run(
        [tmp_path / "b" / "v"], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout == "0 1005000\n", run.stderr


def test_an_interrupt_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("cudla_sim.tools.root.run_command", interrupted)
    monkeypatch.setattr("sys.argv", ["cudla-sim", "compile", "x.onnx", "-o", "x"])
    assert cli.main() == 130


def test_the_version_stands_in_one_place() -> None:
    """What cannot read it says the same."""
    assert version("cudla-sim") == cudla_sim.__version__
    cmake = (paths.cmake_dir() / "cudla-simConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{cudla_sim.__version__}")' in cmake
