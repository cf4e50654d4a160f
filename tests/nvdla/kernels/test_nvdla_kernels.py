"""The compiled kernels by themselves, each for all instructions of this machine, and for arm64
under qemu. The programs compare with loops of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCES = {
    "dots": [HERE / "dots.c", *(ROOT / "shim/native" / n for n in ("int_dot.c", "int_wide.c"))],
    "lut": [HERE / "lut.c"],
}
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=all"


def run(name: str, compiler: str, options: str, folder: Path, runner: tuple[str, ...] = ()) -> str:
    """Build a program, run it, and return what it prints; it must end well."""
    program = folder / name
    words = [compiler, "-std=gnu11", "-O2", "-g", *options.split(), f"-I{ROOT / 'shim'}"]
    files = [str(source) for source in SOURCES[name]]
    subprocess.run([*words, *files, "-o", str(program), "-lm"], check=True)
    done = subprocess.run(
        [*runner, str(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SOURCES)
def test_here(name: str, tmp_path: Path) -> None:
    assert "wrong" not in run(name, "gcc", "", tmp_path)


@pytest.mark.stress  # the compiler takes half a minute
@pytest.mark.parametrize("name", SOURCES)
def test_sanitized(name: str, tmp_path: Path) -> None:
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    words = ["gcc", *SANITIZED.split(), str(probe), "-o", str(tmp_path / "probe")]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no sanitizers")
    assert "wrong" not in run(name, "gcc", SANITIZED, tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_arm64(name: str, tmp_path: Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if shutil.which(compiler) is None or shutil.which(emulator) is None:
        pytest.skip(f"needs {compiler} and {emulator}")
    printed = run(name, compiler, "-static", tmp_path, (emulator,))
    assert name != "dots" or "neon (wide) is right" in printed
