"""The compiled kernels by themselves, each for all instructions of this machine, and for arm64
under qemu. The programs compare with loops of their own."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.native import objects_of
from cudla_sim.core.config import ISA

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
INTS = ("int_sdp", "int_lines", "int_lut", "sdp_map", "parallel", "cpu")
HALF = ("half_lut", "half_pool", "half_average", "half_cdp", "half_sdp", "half_lines", *INTS)
BYTES = ("int_brief", "int_diagonal", *INTS)
SOURCES = {
    "bytes": [HERE / "bytes.c", *(ROOT / "shim/native" / f"{n}.c" for n in BYTES)],
    "dots": [
        HERE / "dots.c",
        *(ROOT / "shim/native" / n for n in ("int_dot.c", "int_whole.c", "int_wide.c", "cpu.c")),
    ],
    "lut": [HERE / "lut.c", *(ROOT / "shim/native" / n for n in ("int_lut.c", "cpu.c"))],
    "half": [HERE / "half.c", *(ROOT / "shim/native" / f"{n}.c" for n in HALF)],
}
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=all"


@functools.cache
def built(name: str, compiler: str, options: str, folder: Path) -> Path:
    program = folder / f"{name}-{compiler}"
    words = [compiler, "-std=gnu11", "-O2", "-ffp-contract=off", *options.split()]
    files = [str(source) for source in SOURCES[name]]
    if compiler == "gcc" and not options:  # the very objects of the library
        files[1:] = objects_of(ROOT, SOURCES[name][1:], folder)
    more = [f"-I{ROOT / 'shim'}", "-o", str(program), "-lm", "-pthread"]
    subprocess.run([*words, *files, *more], check=True)
    return program


@functools.cache
def run(
    name: str,
    compiler: str,
    options: str,
    folder: Path,
    runner: tuple[str, ...] = (),
    isa: str = "machine",
) -> str:
    """Build a program, run it, and return what it prints; it must end well."""
    program = built(name, compiler, options, folder)
    done = subprocess.run(
        [*runner, str(program), isa], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.parametrize("isa", ISA)
@pytest.mark.parametrize("name", SOURCES)
def test_here(name: str, isa: str, folder: Path) -> None:
    """A level that this machine lacks is as much of it as there is."""
    assert "wrong" not in run(name, "gcc", "", folder, isa=isa)


@pytest.mark.stress  # the compiler takes half a minute
@pytest.mark.parametrize("name", SOURCES)
def test_sanitized(name: str, folder: Path) -> None:
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    words = ["gcc", *SANITIZED.split(), str(probe), "-o", str(folder / "probe")]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no sanitizers")
    assert "wrong" not in run(name, "gcc", SANITIZED, folder)


@pytest.mark.parametrize("name", SOURCES)
def test_arm64(name: str, folder: Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if shutil.which(compiler) is None or shutil.which(emulator) is None:
        pytest.skip(f"needs {compiler} and {emulator}")
    printed = run(name, compiler, "-static", folder, (emulator,))
    if name == "dots":
        assert "neon (wide) is right" in printed
    if name == "half":  # it has no model of its own
        assert printed == run(name, "gcc", "", folder)
