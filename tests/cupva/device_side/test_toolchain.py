"""``cudla-sim pva-cc``: options, several sources, superbanks that are too small, errors."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from cudla_sim.cupva.executable import Executable
from cudla_sim.cupva.toolchain.build import compile_image
from cudla_sim.cupva.toolchain.cli import main
from cudla_sim.cupva.toolchain.options import UsageError, parse

KERNEL = "#include <cupva_device.h>\nVMEM(A, int, x);\nCUPVA_VPU_MAIN() { return x; }\n"

pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler for VPU kernels"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failure(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) != 0
    return capsys.readouterr().err


def test_object_has_data_and_size(folder: Path) -> None:
    """What PVA_DECLARE_EXECUTABLE declares; seen by a program that links it."""
    (folder / "kernel.c").write_text(KERNEL)
    command = [sys.executable, "-m", "cudla_sim", "pva-cc", "kernel.c", "-o", "out.o", "-O3"]
    subprocess.run([*command, "--name", "mine", "--image", "mine.elf"], check=True)
    (folder / "host.cpp").write_text(
        "#include <cupva_platform.h>\nPVA_DECLARE_EXECUTABLE(mine)\n"
        'extern "C" int size() { return PVA_EXECUTABLE_SIZE(mine); }\n'
        'extern "C" const void *data() { return PVA_EXECUTABLE_DATA(mine); }\n'
    )
    from cudla_sim import paths

    compiler = shutil.which("g++") or "clang++"
    include = f"-I{paths.include_dir() / 'cupva'}"
    flags = ["-shared", "-fPIC", "-DCUPVA_DEVICE=0", include]
    subprocess.run([compiler, *flags, "host.cpp", "out.o", "-o", "libhost.so"], check=True)
    library = ctypes.CDLL(str(folder / "libhost.so"))
    library.data.restype = ctypes.c_void_p
    embedded = ctypes.string_at(library.data(), library.size())
    assert embedded == (folder / "mine.elf").read_bytes()
    assert set(Executable(embedded).symbols) == {"x"}


def test_several_sources_macros_and_dependencies(folder: Path) -> None:
    (folder / "inc").mkdir()
    (folder / "inc" / "value.h").write_text("#define FIVE 5\n")
    (folder / "one.c").write_text(
        '#include <cupva_device.h>\n#include "value.h"\nVMEM(B, int, shared);\nint two(void);\n'
        "CUPVA_VPU_MAIN() { return FIVE + SIX + two(); }\n"
    )
    (folder / "two.c").write_text(
        "#include <cupva_device.h>\nEXTERN_VMEM(B, int, shared);\n"
        "int two(void) { return shared; }\n"
    )
    words = ["one.c", "two.c", "-Iinc", "-D", "SIX=6", "-MMD", "-MF", "deps.d", "-c", "-fPIC"]
    assert main([*words, "-std=c11"]) == 0
    assert (folder / "one.o").exists(), "named as the first source"
    rules = (folder / "deps.d").read_text()
    assert "one.o:" in rules
    assert "value.h" in rules
    assert "two.c" in rules


def test_superbank_overflow(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "big.c").write_text(
        "#include <cupva_device.h>\nVMEM(A, char, fits, 131008);\nVMEM(B, int, large, 32768);\n"
        "VMEM(B, char, more, 100);\nCUPVA_VPU_MAIN() { return 0; }\n"
    )
    text = failure(capsys, "big.c")
    assert "superbank B overflows by 100 bytes: its variables need 131172 bytes of 131072" in text
    assert "(largest: large 131072, more 100)" in text
    assert "superbank A" not in text
    assert not (folder / "big.o").exists()


def test_gaps_do_not_count_against_a_superbank(folder: Path) -> None:
    variables = "".join(f"VMEM(C, char, v{i}, 1024);\n" for i in range(128))
    (folder / "full.c").write_text(
        f"#include <cupva_device.h>\n{variables}CUPVA_VPU_MAIN() {{ return 0; }}\n"
    )
    symbols = Executable(compile_image([folder / "full.c"])).symbols
    assert len(symbols) == 128
    ends = sorted((s.offset, s.offset + s.size) for s in symbols.values())
    assert all(after[0] - before[1] >= 64 for before, after in pairwise(ends))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("int x;\n", "no source has CUPVA_VPU_MAIN()"),
        (KERNEL + "VMEM(D, int, y);\n", "VMEM variable 'y': superbank 'D'; A, B and C exist"),
        (KERNEL + "int y; CUPVA_EXPORT(y, z);\n", "'z' is exported but does not lie in VMEM"),
        (KERNEL + f"VMEM(A, int, {'n' * 65});\n", "has 65 characters; at most 64"),
        (KERNEL + "VMEM(A, int, y); CUPVA_EXPORT(y, x2); VMEM_NOEXPORT(A, int, w);"
         "namespace o { CUPVA_EXPORT(w, x2); }\n",
         "two variables are exported as 'x2'"),
        (KERNEL + "int f(void) { return undeclared_thing; }\n", "undeclared_thing"),
    ],
)  # fmt: skip
def test_errors(folder: Path, capsys: pytest.CaptureFixture[str], source: str, text: str) -> None:
    (folder / "k.c").write_text(source)
    assert text in failure(capsys, "k.c")


def test_include_of_the_header_as_c_is_explained(folder: Path) -> None:
    (folder / "k.c").write_text(KERNEL)
    from cudla_sim import paths

    done = subprocess.run(
        ["gcc", "-fsyntax-only", f"-I{paths.include_dir() / 'cupva'}", "k.c"],
        capture_output=True,
        text=True,
    )
    assert "VPU kernels are compiled as C++" in done.stderr


def test_command_line() -> None:
    options = parse(["a.c", "-ofoo.o", "b.o", "-lm", "-L", "x", "--name=n", "-Wall", "-I", "i"])
    assert (options.sources, options.objects) == (["a.c"], ["b.o"])
    assert (options.output, options.executable) == ("foo.o", "n")
    assert options.link == ["-lm", "-Lx"]
    assert options.compile == ["-Wall", "-I", "i"]
    assert parse(["dir/my-kernel.c"]).output == "my_kernel.o"
    for words in ([], ["-O2"], ["a.c", "-o"], ["a.c", "--name", "1x"]):
        with pytest.raises(UsageError):
            parse(words)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "usage: cudla-sim pva-cc" in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++")
def test_clang(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "clang++")
    (folder / "k.c").write_text(KERNEL + "dvshortx f(dvshortx a) { return dvmux(a > 1, a, 2); }\n")
    assert set(Executable(compile_image([folder / "k.c"])).symbols) == {"x"}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_headers_are_precompiled_where_they_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A macro that the headers read is obeyed: assert() is nothing with NDEBUG."""
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "k.c").write_text(KERNEL.replace("return x;", 'assert(x != 5 && "told"); return x;'))
    assert b"told" in compile_image([folder / "k.c"], "-H")
    assert "! " in capfd.readouterr().err
    assert len(list(folder.glob("cache/cudla-sim/vpu/*/cupva_device.h.gch"))) == 1
    source, target = str(folder / "k.c"), str(folder / "k")
    assert main(["-MD", "-MF", str(folder / "k.d"), source, "-o", target]) == 0
    told = (folder / "k.d").read_text()
    assert f"{folder}/cache" not in told
    assert "cupva/cupva_device.h" in told
    assert b"told" not in compile_image([folder / "k.c"], "-H", "-DNDEBUG")
    assert "! " not in capfd.readouterr().err
    assert b"told" in compile_image([folder / "k.c"], "-O0")
    assert len(list(folder.glob("cache/cudla-sim/vpu/*/cupva_device.h.gch"))) == 2
    (folder / "cache").rename(folder / "away")
    (folder / "cache").write_text("no folder: nothing is kept")
    assert b"told" in compile_image([folder / "k.c"], "-H")
    assert "! " not in capfd.readouterr().err
