"""PTX compiled for this processor: what a GPU's driver does, with a cache as that one has.

CUDA C++ Programming Guide, "Just-in-Time Compilation"; PTX ISA.
"""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import paths
from ..cudart.compiled import OWN_THREAD
from ..workers import runtime
from ..workers.answers import processor
from .ptx.module.translate import Program
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
    return _kept(modules, "all", lambda: Program(modules).source())


@dataclass(frozen=True)
class Pieces:
    """A module that is compiled when it is needed: its variables, and each kernel by its name."""

    variables: bytes
    kernels: frozenset[str]
    compile: Callable[[str], bytes]


_LARGE = 256 << 10
"""Bytes of text that take g++ about a minute. Libraries have kernels of many types in one."""
_KERNEL = re.compile(r"^\s*(?:\.\w+\s+)*\.entry\s+([\w$]+)", re.MULTILINE)


def in_pieces(modules: Sequence[tuple[str, str]]) -> Pieces | None:
    """None where one module is better, or must be. Raises CannotCompile."""
    names = frozenset(name for _, text in modules for name in _KERNEL.findall(text))
    if len(names) < 2 or sum(len(text) for _, text in modules) < _LARGE:
        return None
    parsed: list[Program] = []

    def program() -> Program:
        if not parsed:
            parsed.append(Program(modules))
        return parsed[0]

    variables = _kept(modules, "variables", lambda: program().variables() or "")
    if not variables:
        return None
    return Pieces(
        variables,
        names,
        lambda name: _kept(modules, f"kernel {name}", lambda: program().kernel(name)),
    )


def _kept(modules: Sequence[tuple[str, str]], part: str, source: Callable[[], str]) -> bytes:
    def build(folder: Path) -> None:
        _build(source, folder)

    found = runtime.kept(KIND, _key(modules, part), _NAME, build)
    if found is not None:
        return (found / _NAME).read_bytes()
    with tempfile.TemporaryDirectory(prefix="cudla-sim-ptx-") as folder:
        build(Path(folder))
        return (Path(folder) / _NAME).read_bytes()


def _key(modules: Sequence[tuple[str, str]], part: str) -> str:
    digest = hashlib.sha256(part.encode())
    for name, text in modules:
        digest.update(f"{len(text)} {name} {text}".encode("utf-8", "surrogateescape"))
    package = Path(__file__).parents[1]
    files = [*package.glob("cuda_kernels/**/*.py"), *paths.include_dir().glob("cuda/**/*.h*")]
    return runtime.key((digest.hexdigest(), _WORDS, _words(), processor()), "g++", files)


def _words() -> tuple[str, ...]:
    return _NATIVE if platform.machine() in ("x86_64", "aarch64") else ()


def _build(make: Callable[[], str], folder: Path) -> None:
    try:
        source = make()
    except CannotTranslate as error:
        raise CannotCompile(f"{error} is not known here") from None
    if not source:
        (folder / _NAME).write_bytes(b"")
        return
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
