"""The vendors' library names: small real libraries whose symbols are those of ours.

Each is an ELF filter (``DT_FILTER``): a program links against it and records the vendor's name; at
run time the loader takes every symbol from libcudla_sim.so.
"""

from __future__ import annotations

import fnmatch
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from cudla_sim.families import FAMILIES, libraries

from . import emit
from .parse import Api

_DT_FILTER = 0x7FFFFFFF


def _defined(library: Path) -> dict[str, tuple[str, int]]:
    """Name -> (type, size in bytes) of what a shared library exports."""
    with library.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".dynsym")
        return {
            symbol.name: (symbol["st_info"]["type"], symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF"
        }


def _source(names: Sequence[str], defined: dict[str, tuple[str, int]]) -> str:
    """Nobody runs or reads what is in it: the loader looks into libcudla_sim.so first."""
    lines = ["static void nobody(void) { __builtin_trap(); }"]
    for name in names:
        kind, size = defined[name]
        if kind == "STT_OBJECT":
            # programs may hold copies of data, which have to be as large as the original
            lines.append(f"const char {name}[{size}] __attribute__((aligned(32))) = {{0}};")
        else:
            lines.append(f'void {name}(void) __attribute__((alias("nobody")));')
    return "\n".join(lines) + "\n"


def _make_filter(library: Path, real: str) -> None:
    """Turns the dependency on ``real`` into a filter; not every linker has an option for it."""
    with library.open("r+b") as file:
        section: Any = ELFFile(file).get_section_by_name(".dynamic")
        for index, tag in enumerate(section.iter_tags()):
            if tag.entry.d_tag == "DT_NEEDED" and tag.needed == real:
                file.seek(section["sh_offset"] + index * section["sh_entsize"])
                file.write(_DT_FILTER.to_bytes(8, "little"))
                return
    raise SystemExit(f"build_ffi: {library} does not name {real}")


def make(api: Api, lib: Path, compile_shared: Callable[[Path, Path, list[str]], None]) -> None:
    """Writes the libraries of all families below ``lib``.

    ``compile_shared(source, target, options)`` compiles one shared library. Libraries that an
    earlier build left and no family has are removed.
    """
    made = {lib / name for name in libraries()} | {lib / f.real for f in FAMILIES}
    for path in {*lib.glob("*.so*"), *lib.glob("*/*.so*")} - made:
        path.unlink()
    defined = {name: _defined(lib / name) for name in {f.real for f in FAMILIES}}
    functions: dict[str, set[str]] = {}
    for function in api.functions:
        functions.setdefault(emit.family(function.header), set()).add(function.name)
    built: dict[str, bytes] = {}
    for family, library in libraries().values():
        target = lib / library.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        if library.soname not in built:
            here = defined[family.real]
            wanted = functions[family.name] | functions["sim"]
            wanted |= {n for n in here for p in family.cpp_symbols if fnmatch.fnmatchcase(n, p)}
            wanted = {n for n in wanted for p in library.names if fnmatch.fnmatchcase(n, p)}
            depth = library.file.count("/")
            origin = "$ORIGIN" + "/.." * depth
            if family.name in ("upmem", "cudart"):
                origin += ":$ORIGIN/../../lib"  # from the copies in sdk/lib and toolkit/lib64
            with tempfile.TemporaryDirectory() as scratch:
                source = Path(scratch) / "dropin.c"
                source.write_text(_source(sorted(wanted & here.keys()), here))
                options = [
                    "-w",
                    "-fno-builtin",
                    "-fvisibility=default",
                    "-s",
                    "-nostdlib",
                    "-fno-sanitize=all",  # there is nothing in it, and no runtime beside it
                    f"-Wl,-soname,{library.soname}",
                    *("-Wl,--no-as-needed", str(lib / family.real)),
                    f"-Wl,-rpath,{origin}",
                    "-Wl,-z,max-page-size=4096",
                    "-Wl,--build-id=none",
                ]
                if library.version:
                    script = Path(scratch) / "dropin.map"
                    script.write_text(f"{library.version} {{ global: *; }};\n")
                    options.append(f"-Wl,--version-script={script}")
                compile_shared(source, target, options)
                _make_filter(target, family.real)
            built[library.soname] = target.read_bytes()
        else:
            target.write_bytes(built[library.soname])
            target.chmod(0o755)
