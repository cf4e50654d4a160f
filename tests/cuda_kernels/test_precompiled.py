"""Headers of kernels that are compiled once: programs and make see no difference."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim.cuda_kernels import precompiled
from cudla_sim.workers import runtime

from .conftest import exactly as nvcc

PROGRAM = """#include <cstdio>
__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x + MORE; }
int main() {
    int *x, found[32], sum = 0;
    cudaMalloc(&x, sizeof(found));
    k<<<1, 32>>>(x);
    cudaMemcpy(found, x, sizeof(found), cudaMemcpyDeviceToHost);
    for (int one : found)
        sum += one;
    printf("%d\\n", sum);
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a cache")


@pytest.fixture
def source(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "k.cu").write_text(PROGRAM)
    return tmp_path / "k.cu"


@pytest.fixture
def plain(source: Path) -> Path:
    """The header of a compilation without further options: the last that was used."""
    assert build(source, "-DMORE=1") == "528\n"
    return max(kept(), key=lambda header: header.parent.stat().st_mtime_ns)


def kept() -> list[Path]:
    return sorted((runtime.root() / precompiled.KIND).glob("*/*.gch"))


def build(source: Path, *words: object) -> str:
    """Without optimisation: the engine is compiled in a third of the time."""
    target = source.with_suffix("")
    done = nvcc("-O0", *words, source, "-o", target)
    assert done.returncode == 0, done.stderr
    return subprocess.run([target], capture_output=True, text=True, check=True).stdout


def test_made_once_for_a_set_of_options(source: Path) -> None:
    assert build(source, "-DMORE=1") == "528\n"
    ages = {file: file.stat().st_mtime_ns for file in kept()}
    assert len(ages) == 1
    assert build(source, "-DMORE=2", "-I", source.parent) == "560\n"
    assert {file: file.stat().st_mtime_ns for file in kept()} == ages
    assert build(source, "-DMORE=0", "-std=c++20") == "496\n"
    assert len(kept()) == 2


def test_common_macros_of_releases(source: Path) -> None:
    """With -DNDEBUG, as CMake's releases have it, the headers are others; those are kept, too."""
    before = kept()
    for words in (["-DNDEBUG"], ["-D", "NDEBUG"], ["-Xcompiler", "-DNDEBUG"]):
        assert build(source, "-DMORE=1", *words) == "528\n"
    assert len(kept()) == len(before) + 1


def test_options_that_mean_something_to_the_headers(source: Path) -> None:
    assert build(source, "-DMORE=1", "-D_GLIBCXX_ASSERTIONS", "-include", "climits") == "528\n"


def test_without_a_cache(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert build(source, "-DMORE=1") == "528\n"


def test_a_damaged_one_is_not_believed(source: Path, plain: Path) -> None:
    sound = plain.read_bytes()
    plain.write_bytes(b"nothing")
    assert build(source, "-DMORE=2") == "560\n"
    plain.write_bytes(sound)


def test_an_engine_that_is_damaged_or_gone(source: Path, plain: Path) -> None:
    engine = plain.with_name("engine.o")
    sound = engine.read_bytes()
    engine.write_bytes(b"nothing")
    assert build(source, "-DMORE=2") == "560\n"
    engine.unlink()
    assert build(source, "-DMORE=3") == "592\n"
    engine.write_bytes(sound)


@pytest.mark.parametrize("options", [[], ["-dc"], ["-Xcompiler", "-fPIC,-fvisibility=hidden"]])
def test_objects_are_whole(source: Path, options: list[str]) -> None:
    """Any linker makes programs of them: there is no library of ours for kernels."""
    target = source.with_suffix(".o")
    assert nvcc("-O0", *options, "-c", "-DMORE=1", source, "-o", target).returncode == 0
    symbols = subprocess.run(["nm", "-C", target], capture_output=True, text=True, check=True)
    assert "cudla_sim::run_grid" in symbols.stdout
    missing = [line for line in symbols.stdout.splitlines() if line.split()[0] == "U"]
    assert missing
    assert not [line for line in missing if "cudla_sim::" in line]


@pytest.mark.parametrize("options", ["--coverage", "-gsplit-dwarf", "-pg"])
def test_options_that_leave_more_than_an_object(source: Path, options: str) -> None:
    target = source.with_suffix(".o")
    words = ["-O0", "-Xcompiler", options]
    done = nvcc(*words, "-c", "-DMORE=1", source, "-o", target)
    assert (done.returncode, done.stderr) == (0, "")
    program = source.with_suffix("")
    done = nvcc(*words, target, "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([program], capture_output=True, text=True, cwd=source.parent, check=True)
    assert done.stdout == "528\n"
    left = {path.suffix for path in source.parent.iterdir()}
    assert {"--coverage": ".gcda", "-gsplit-dwarf": ".dwo", "-pg": ".out"}[options] in left


@pytest.mark.skipif(not shutil.which("make"), reason="no make on this machine")
def test_make_goes_on_when_the_cache_is_gone(source: Path, cache: Path) -> None:
    folder = source.parent
    depends = folder / "k.d"
    done = nvcc("-O0", "-c", "-MD", "-MF", depends, "-DMORE=1", source, "-o", folder / "k.o")
    assert done.returncode == 0, done.stderr
    assert str(precompiled.source()) in depends.read_text()
    assert cache.name.replace(" ", "\\ ") not in depends.read_text()
    (folder / "Makefile").write_text(f"{folder}/k.o:\n\tfalse\ninclude k.d\n")
    away = cache.with_name("away")
    cache.rename(away)
    done = subprocess.run(["make", "-C", folder], capture_output=True, text=True, check=False)
    away.rename(cache)
    assert done.returncode == 0, done.stderr
    assert "up to date" in done.stdout


def test_lines_of_messages_are_the_users(source: Path) -> None:
    source.write_text("\n" + PROGRAM)
    done = nvcc("-O0", source, "-o", source.with_suffix(""))
    assert done.returncode == 1
    assert "k.cu:3:" in done.stderr
    assert "MORE" in done.stderr


def test_modules_share_one(source: Path) -> None:
    """PTX is compiled in a folder of its own each time; 35 MB are not kept for each."""
    source.write_text("__global__ void k(int *x) { x[threadIdx.x] = MORE; }\n")
    before = kept()
    for number in (1, 2):
        place = f"-fdebug-prefix-map=/somewhere/{number}="
        words = ["-O0", "-cubin", "-Xcompiler", place, f"-DMORE={number}", "-o", f"{source}.cubin"]
        done = nvcc(*words, source)
        assert (done.returncode, done.stderr) == (0, "")
    assert len(kept()) == len(before) + 1


@pytest.mark.parametrize("words", [[], ["-DNDEBUG"]])
def test_a_file_decides_about_asserts(source: Path, words: list[str]) -> None:
    source.write_text(
        "#include <cstdio>\n"
        "__global__ void before() { assert(threadIdx.x > 5); }\n"
        "#undef NDEBUG\n#include <assert.h>\n"
        "__global__ void k(int v) { assert(v == 3); }\n"
        "int main() {\n"
        "#if defined(GIVEN)\n    before<<<1, 1>>>();\n#endif\n"
        '    k<<<1, 1>>>(3);\n    printf("%d ", cudaDeviceSynchronize());\n'
        '    k<<<1, 1>>>(4);\n    printf("%d\\n", cudaDeviceSynchronize());\n}\n'
    )
    given = [*words, "-DGIVEN"] if words else []
    assert build(source, *given) == "0 710\n"  # cudaErrorAssert
