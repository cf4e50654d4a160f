"""The vendors' library names: what programs record, and where the loader finds the functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from cudla_sim import paths
from cudla_sim.families import libraries
from cudla_sim.testing import Compiler

from . import programs


def needed(program: Path) -> list[str]:
    with program.open("rb") as file:
        tags = ELFFile(file).get_section_by_name(".dynamic").iter_tags()
        return [tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"]


def exported(library: Path) -> list[str]:
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        nowhere = ("SHN_UNDEF", "SHN_ABS")  # needed; the names of versions
        return [s.name for s in symbols if s.name and s["st_shndx"] not in nowhere]


@pytest.mark.parametrize("name", list(libraries()))
def test_functions_are_those_of_the_real_library(name: str) -> None:
    """Opened by the vendor's name alone, in a process that has nothing of ours yet."""
    text = """
import ctypes, sys
vendor = ctypes.CDLL(sys.argv[1])
real = ctypes.CDLL(sys.argv[2])
address = lambda library, name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value
print([n for n in sys.argv[3:] if address(vendor, n) != address(real, n)])
"""
    family, _ = libraries()[name]
    names = exported(paths.lib_dir() / name)
    assert names
    files = [str(paths.lib_dir() / f) for f in (name, family.real)]
    command = [sys.executable, "-c", text, *files, *names]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout == "[]\n", run.stderr


def test_a_program_records_the_vendors_name(sim_cc: Compiler) -> None:
    folder = paths.lib_dir()
    libraries = (f"-L{folder}", f"-Wl,-rpath,{folder}", "-lcudla", "-lnvscisync", "-ldpu")
    program = sim_cc.build(programs.VERSION, libraries=("-Wl,--no-as-needed", *libraries))
    assert needed(program)[:3] == ["libcudla.so.1", "libnvscisync.so.1", "libdpu.so.2025.1"]
    assert sim_cc.run(program).out == "0 1005000 \n"


def test_our_library_needs_no_python() -> None:
    assert not [n for n in needed(paths.library()) if "python" in n]
