"""What nvcc's output does before main, and the versions of symbols that its programs ask for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from cudla_sim import paths

from ..conftest import ROOT

PROGRAMS = Path(__file__).parent / "programs"
LIBRARIES = paths.PACKAGE / "lib" / "cuda"


def _compiled(target: Path, *words: str) -> None:
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", *words, "-o", str(target)], check=True)


def _ran(program: Path, folder: Path = LIBRARIES) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    return subprocess.run(
        [str(program)], env=environment, capture_output=True, text=True, check=True
    )


def test_a_program_that_registers_a_fat_binary_starts(tmp_path: Path) -> None:
    program = tmp_path / "registered"
    include = ROOT / "include" / "cuda"
    library = LIBRARIES / "libcudart.so.12"
    _compiled(program, f"-I{include}", str(PROGRAMS / "registered.c"), str(library))
    done = _ran(program)
    assert done.stdout == "status 0 devices 1 known 1 wrapper 1\n"
    assert done.stderr == ""


def test_the_loader_finds_the_versions_of_programs_linked_with_the_vendors(
    tmp_path: Path,
) -> None:
    """Linked with a library that has the vendor's name and version node, run with ours."""
    soname = "libcudart.so.12"
    (tmp_path / "map").write_text(f"{soname} {{ global: cuda*; }};\n")
    (tmp_path / "stub.c").write_text("int cudaGetDeviceCount(int *n) { return n ? 77 : 78; }\n")
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint cudaGetDeviceCount(int *);\n"
        "int main(void) { int n = -1, r = cudaGetDeviceCount(&n);\n"
        ' printf("%d %d\\n", r, n); return 0; }\n'
    )
    stub = tmp_path / soname
    options = ["-shared", "-fPIC", f"-Wl,-soname,{soname}"]
    script = f"-Wl,--version-script={tmp_path / 'map'}"
    _compiled(stub, *options, script, str(tmp_path / "stub.c"))
    _compiled(tmp_path / "main", str(tmp_path / "main.c"), str(stub))
    assert _ran(tmp_path / "main", tmp_path).stdout.startswith("77 ")
    done = _ran(tmp_path / "main")
    assert (done.stdout, done.stderr) == ("0 1\n", "")
