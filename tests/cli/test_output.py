"""Output that has nowhere to go: a full disk, a reader that has gone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.workers import full_disk
from tests.conftest import ROOT

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
PROGRAM = [sys.executable, "-m", "cudla_sim"]
FULL = os.strerror(errno.ENOSPC)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--cflags",),
        ("--help",),
        ("schema",),
        ("inspect", str(DIGITS)),
        ("nvdla", "time", "--json", str(DIGITS)),
        ("nvdla", "check", str(DIGITS)),
    ],
)
def test_a_full_disk_behind_the_output_is_one_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == f"cudla-sim: the output: {FULL}\n"


@pytest.mark.parametrize("words", [("--cflags",), ("inspect", str(DIGITS))])
def test_a_reader_that_has_gone_is_no_error(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as output:
        done = subprocess.run([*PROGRAM, *words], stdout=output, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_tool_that_says_so_is_told_as_a_full_disk(tmp_path: Path) -> None:
    full_disk.refuse("clang: error: unable to execute command", [tmp_path / "out.o"])
    with pytest.raises(full_disk.DiskFull, match=rf"^{FULL}: /.* \(TMPDIR") as found:
        full_disk.refuse(f"ld: final link failed: {FULL}", [tmp_path / "out.o"])
    assert found.value.errno == errno.ENOSPC
    assert Path(found.value.filename).is_mount()


def test_a_dpu_program_on_a_full_disk(tmp_path: Path) -> None:
    """Tools that say that the disk is full, whatever they are asked."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("clang", "gcc", "ld", "objcopy"):
        file = tools / name
        file.write_text(f"#!/bin/sh\necho '{name}: fatal error: {FULL}' >&2\nexit 1\n")
        file.chmod(0o755)
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    driver = ROOT / "pyimpl" / "cudla_sim" / "sdk" / "bin" / "dpu-upmem-dpurte-clang"
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [str(driver), "empty.c", "-o", "empty"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith(f"dpu-upmem-dpurte-clang: error: {FULL}: ")
