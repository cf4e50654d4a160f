"""PTX compiled for this processor: what a GPU's driver does, with a cache as that one has.

CUDA C++ Programming Guide, "Just-in-Time Compilation"; PTX ISA.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import paths
from ..cudart.compiled import OWN_THREAD
from ..workers import runtime
from .ptx.module.translate import translate
from .ptx.scope import CannotTranslate

KIND = "ptx"
"""Of the cache."""
_NAME = "module"
_WORDS = ("-cubin", "-O2", "-Xcompiler", "-w", *OWN_THREAD)
_NATIVE = ("-Xcompiler", "-march=native", "-Xcompiler", "-ffp-contract=off")
"""It runs where it is compiled; what PTX does not fuse stays two operations."""


class CannotCompile(ValueError):
    """The text says what is not known, or what the compiler says."""


def is_ptx(text: bytes) -> bool:
    """Whether a text looks like PTX: comments and blanks, then ``.version``."""
    at = 0
    while True:
        rest = text[at:].lstrip()
        at = len(text) - len(rest)
        if rest.startswith(b"//"):
            at = text.find(b"\n", at)
        elif rest.startswith(b"/*"):
            end = text.find(b"*/", at)
            at = end + 2 if end >= 0 else -1
        else:
            return rest.startswith((b".version", b".target", b".address_size"))
        if at < 0:
            return False


def compiled(modules: Sequence[tuple[str, str]]) -> bytes:
    """A module of all of them: name and text of each, linked with each other.

    Raises CannotCompile. Programs that run again find it in the cache.
    """
    found = runtime.kept(KIND, _key(modules), _NAME, lambda folder: _build(modules, folder))
    if found is not None:
        return (found / _NAME).read_bytes()
    with tempfile.TemporaryDirectory(prefix="cudla-sim-ptx-") as folder:
        _build(modules, Path(folder))
        return (Path(folder) / _NAME).read_bytes()


def _key(modules: Sequence[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for name, text in modules:
        digest.update(f"{len(text)} {name} {text}".encode("utf-8", "surrogateescape"))
    package = Path(__file__).parents[1]
    files = [*package.glob("cuda_kernels/**/*.py"), *paths.include_dir().glob("cuda/**/*.h*")]
    return runtime.key((digest.hexdigest(), _WORDS, _words(), _processor()), "g++", files)


def _words() -> tuple[str, ...]:
    return _NATIVE if platform.machine() in ("x86_64", "aarch64") else ()


def _processor() -> str:
    """What -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text("ascii", "replace").splitlines()
    except OSError:
        return platform.machine()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _build(modules: Sequence[tuple[str, str]], folder: Path) -> None:
    try:
        source = translate(modules)
    except CannotTranslate as error:
        raise CannotCompile(f"{error} is not known here") from None
    written = folder / "module.cu"
    written.write_text(source, "utf-8", "surrogateescape")
    plain_names = ("-Xcompiler", f"-fdebug-prefix-map={folder}=")
    command: list[str | Path] = [paths.toolkit_dir() / "bin" / "nvcc", *_WORDS, *_words()]
    done = subprocess.run(
        [*command, *plain_names, written.name, "-o", folder / _NAME],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace")
        first = next((line for line in said.splitlines() if "error" in line), said.strip()[:400])
        raise CannotCompile(f"the host's compiler refuses what the PTX became: {first}")
