"""The pages that say how an API and a mode are added, followed in a copy of the sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT

from .blocks import IN_A_COPY, Shell, apply, blocks

NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so*", "sdk", "golden", "images")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The sources with an environment of their own, nothing built."""
    target = tmp_path / "clone"
    for name in ("codegen", "include", "shim", "pyimpl", "tests", "docs", "c_examples"):
        shutil.copytree(ROOT / name, target / name, ignore=NOT_COPIED, symlinks=True)
    (target / "pyimpl/cudla_sim/sdk").mkdir()
    for name in ("build_ffi.py", "pyproject.toml"):
        shutil.copy(ROOT / name, target)
    environment = tmp_path / "env"
    command = [sys.executable, "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(command, check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    ours = [target / "pyimpl", sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "clone.pth").write_text("".join(f"{path}\n" for path in ours))
    return target


GCC = """#!/bin/sh
case "$*" in
*" -c "*/generated/* | *" -c "*_cudla_sim.c*) exec {gcc} "$@" -O0 ;;
esac
exec {gcc} "$@"
"""
"""What is generated from a changed header is compiled for a few calls: an optimiser takes half of
the test's time."""


@pytest.fixture
def objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds take what this checkout has compiled, and keep what they compile to themselves."""
    store, folder = tmp_path / "objects", tmp_path / "bin"
    store.mkdir()
    folder.mkdir()
    for made in (ROOT / "build" / "objects").glob("*.o"):
        (store / made.name).symlink_to(made)
    compiler = folder / "gcc"
    compiler.write_text(GCC.format(gcc=shutil.which("gcc")))
    compiler.chmod(0o755)
    monkeypatch.setenv("BUILD_FFI_OBJECTS", str(store))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.slow
@pytest.mark.usefixtures("objects")
@pytest.mark.parametrize("page", IN_A_COPY)
def test_the_page_can_be_followed(page: str, clone: Path, tmp_path: Path) -> None:
    if page == "docs/inside/adding_mode.md":  # it begins in a clone that has been built
        compiled = "pyimpl/cudla_sim/native/_compiled.abi3.so"
        shutil.copy(ROOT / compiled, clone / compiled)
    shell = Shell(clone, tmp_path / "env" / "bin" / "python")
    stale = clone / "pyimpl/cudla_sim/constants/removed_api.py"
    stale.touch()
    for block in blocks(ROOT / page):
        shell.take(block)
    builds = any("build_ffi.py" in block.text for block in blocks(ROOT / page))
    assert stale.exists() is not builds, "a build removes what it does not generate"


def test_a_change_has_one_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\ntwo\n")
    apply(tmp_path, "--- a/a\n+++ b/a\n@@\n two\n-three\n+3\n+4\n two\n")
    assert (tmp_path / "a").read_text() == "one\ntwo\n3\n4\ntwo\n"
    with pytest.raises(AssertionError, match="2 times"):
        apply(tmp_path, "--- a/a\n+++ b/a\n@@\n two\n+2\n")
