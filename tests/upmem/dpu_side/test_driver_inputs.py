"""What the compiler driver does with each kind of input: it works, or it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from .bench import dpu_cc

SLOW_MODES = (["-S"], ["-E"], [], ["-fsyntax-only"])
MODES = (["-c"], *(pytest.param(mode, marks=pytest.mark.slow) for mode in SLOW_MODES))

pytestmark = pytest.mark.usefixtures("route")

C = "int main(void) { return 0; }\n"
CXX = "struct Two { int a, b; }; int main() { Two two{1, 2}; return two.a; }\n"
DPU_ASSEMBLY = "    .text\n    .globl main\nmain:\n    move r0, 0\n    jump r23\n"
SOURCES = {
    "k.c": C,
    "k.i": C,
    "k.cpp": CXX,
    "k.cc": CXX,
    "k.cxx": CXX,
    "k.C": CXX,
    "k.ii": CXX,
    "k.S": DPU_ASSEMBLY,
    "k.s": DPU_ASSEMBLY,
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_compile_to_objects(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SOURCES[name])
    done = dpu_cc("-c", name, "-o", "k.o", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "k.o").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["x.foo", "x.c", "x.o", "x.a", "x.S", "x.ll", "x"])
def test_missing_inputs_are_errors(name: str, mode: list[str], tmp_path: Path) -> None:
    done = dpu_cc(*mode, name, "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].endswith(f"error: no such file or directory: '{name}'")
    assert lines[1].endswith("error: no input files")
    assert not list(tmp_path.iterdir())


def test_one_missing_input_keeps_the_others_from_being_compiled(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(C)
    done = dpu_cc("-c", "k.c", "x.foo", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("error: ") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["k.c"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["k.ll", "k.bc", "k.m", "k.cu", "k.f90", "k.cl", "k.rs"])
def test_languages_that_are_not_supported_are_errors(
    name: str, mode: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text("\n")
    done = dpu_cc(*mode, name, "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert f"error: '{name}': language not supported" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["-c", "-S", "-E", "-fsyntax-only"])
@pytest.mark.parametrize("name", ["k.foo", "k.txt", "k.c.bak"])
def test_files_of_unknown_types_are_errors(name: str, mode: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(C)
    done = dpu_cc(mode, name, "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert f"error: '{name}': file type not recognized" in done.stderr
    assert not (tmp_path / "out").exists()
    if mode == "-c":
        assert dpu_cc(mode, "-x", "c", name, "-o", "out", cwd=tmp_path).returncode == 0
        assert (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["k.h", "k.hpp"])
def test_headers_are_preprocessed_and_not_compiled(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("#define NUMBER 42\nint number = NUMBER;\n")
    done = dpu_cc("-E", name, cwd=tmp_path)
    assert done.returncode == 0
    assert "int number = 42;" in done.stdout
    done = dpu_cc("-c", name, "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "language not supported" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["k.o", "libk.a"])
def test_files_that_are_linked_are_unused_by_a_compilation(name: str, tmp_path: Path) -> None:
    """As with clang: a warning."""
    (tmp_path / name).write_bytes(b"\x7fELF")
    (tmp_path / "m.c").write_text(C)
    done = dpu_cc("-c", name, "m.c", "-o", "m.o", cwd=tmp_path)
    assert done.returncode == 0
    assert f"warning: {name}: 'linker' input unused" in done.stderr
    assert (tmp_path / "m.o").exists()


def test_assembly_is_not_overwritten_by_what_s_makes(tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text(DPU_ASSEMBLY)
    done = dpu_cc("-S", "k.s", cwd=tmp_path)
    assert done.returncode == 0
    assert "warning: k.s: 'assembler' input unused" in done.stderr
    assert (tmp_path / "k.s").read_text() == DPU_ASSEMBLY


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no input files"),
        (["-c"], "no input files"),
        (["-O2", "-o", "out"], "no input files"),
        (["--frobnicate", "k.c"], "unknown argument: '--frobnicate'"),
        (["-c", "-zzz", "k.c"], "unknown argument: '-zzz'"),
        (["-x", "klingon", "-c", "k.c"], "language not recognized: 'klingon'"),
        (["-x", "ir", "-c", "k.c"], "'k.c': language not supported: 'ir'"),
        (["-c", "-"], "-E or -x required when input is from standard input"),
        (["-c", "k.c", "-o"], "argument to '-o' is missing (expected 1 value)"),
        (["-c", "k.c", "k.c", "-o", "out"], "cannot specify -o when generating multiple output"),
    ],
)
def test_command_lines_that_clang_refuses_are_refused(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "k.c").write_text(C)
    done = dpu_cc(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert f"error: {message}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["k.c"]


def test_an_unknown_argument_is_refused_where_only_objects_are_linked(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(C)
    assert dpu_cc("-c", "k.c", cwd=tmp_path).returncode == 0
    done = dpu_cc("--frobnicate", "k.o", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "unknown argument: '--frobnicate'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_syntax_alone_is_checked(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(C)
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n")
    assert dpu_cc("-fsyntax-only", "k.c", cwd=tmp_path).returncode == 0
    done = dpu_cc("-fsyntax-only", "bad.c", cwd=tmp_path)
    assert done.returncode != 0
    assert "nothing" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.c", "k.c"]


def test_help_is_printed() -> None:
    done = dpu_cc("--help")
    assert done.returncode == 0
    assert "NR_TASKLETS" in done.stdout
