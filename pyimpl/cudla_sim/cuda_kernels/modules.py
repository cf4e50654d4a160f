"""Modules: shared libraries of kernels, and links of several that were compiled to be linked.

nvcc's manual, "Separate compilation": with ``-rdc=true`` a module has symbols of others. Such a one
keeps its object, of which a link makes another module.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from .. import flags
from .linkage import tool

_OWN = "{ local: _ZZ[!N]*; _ZZN[!9]*; _ZZN9[!c]*; _ZGVZ[!N]*; _ZGVZN[!9]*; _ZGVZN9[!c]*; };\n"
"""A module's variables in functions, all but the engine's (namespace cudla_sim): those of templates
and inline functions would exist once in a process, and be those of the first module."""
_OBJECT = ".cudla_sim.object"
"""A section for each object, with its number."""

_WRONG = re.compile(r"(undefined reference to|multiple definition of) [`']([^']+)'")


class CannotJoin(Exception):
    """What the linker says."""


def _elf(data: bytes) -> Any:
    """Raises CannotJoin for one that is damaged."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile  # nvcc links without it

    try:
        return ELFFile(BytesIO(data))
    except ELFError as error:
        raise CannotJoin(f"an image is damaged: {error}") from None


def runtime(library: str) -> list[str]:
    """Words that link *library*, and find it where it is now."""
    words = []
    for folder in reversed(flags.library_dirs(cuda=True)):
        words += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    return [*words, f"-l{library}", "-pthread", "-ldl", "-lrt"]


def link(compiler: str, objects: Sequence[Path], target: Path) -> list[str]:
    """The command that makes a module; a file is written beside the first object."""
    own = objects[0].with_name("own.map")
    own.write_text(_OWN)
    # a kernel may be called wait: what the module has comes before what the process has
    words = ["-shared", "-Wl,-Bsymbolic", f"-Wl,--version-script={own}"]
    # the module takes our runtime, whatever the process has under NVIDIA's name
    return [compiler, *words, *map(str, objects), "-o", str(target), *runtime("cudart_sim")]


def keep_objects(compiler: str, objects: Sequence[Path], module: Path) -> list[str]:
    """The command that puts the objects into their module."""
    words = [f"--add-section={_OBJECT}{number}={path}" for number, path in enumerate(objects)]
    return [tool(compiler, "objcopy"), *words, str(module)]


def objects_of(module: bytes) -> list[bytes]:
    """What a module keeps; nothing, where it was not compiled with ``-rdc=true``. Raises
    CannotJoin."""
    sections = _elf(module).iter_sections()
    return [section.data() for section in sections if section.name.startswith(_OBJECT)]


def joined(modules: Sequence[bytes], names: Sequence[str]) -> bytes:
    """One module of several. Raises CannotJoin, which tells of them by their names, and OSError."""
    compiler = os.environ.get("NVCC_CCBIN", "") or "g++"
    with tempfile.TemporaryDirectory(prefix="cudla-sim-link-") as name:
        folder = Path(name)
        objects: list[Path] = []
        called: list[str] = []
        for module, known in zip(modules, names, strict=True):
            for data in objects_of(module):
                objects.append(folder / f"{len(objects)}.o")
                objects[-1].write_bytes(data)
                called.append(known)
        target = folder / "module"
        command = [*link(compiler, objects, target), "-Wl,-z,defs", "-Wl,--no-demangle"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotJoin(_said(done.stderr, objects, called))
        kept = subprocess.run(keep_objects(compiler, objects, target), check=False)
        if kept.returncode != 0:
            raise CannotJoin("objcopy failed")
        return target.read_bytes()


def _said(text: str, objects: Sequence[Path], names: Sequence[str]) -> str:
    """The first thing that is wrong, as NVIDIA's linker says it."""
    wrong = _WRONG.search(text)
    if wrong is None:
        return text.strip().splitlines()[-1] if text.strip() else "the linker failed"
    symbol = wrong[2]
    missing = wrong[1].startswith("undefined")
    found = [n for n, each in enumerate(objects) if _has(each, symbol, undefined=missing)]
    where = f" in '{names[found[-1]]}'" if found else ""
    return f"{wrong[1].capitalize()} '{symbol}'{where}"


def _has(path: Path, symbol: str, *, undefined: bool) -> bool:
    table = _elf(path.read_bytes()).get_section_by_name(".symtab")
    return any(
        each.name == symbol and (each["st_shndx"] == "SHN_UNDEF") == undefined
        for each in table.iter_symbols()
    )
