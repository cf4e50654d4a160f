"""CUDA C++ that a program compiles while it runs.

``cudla-sim nvcc`` does it, in a process of its own, as a module. NVRTC user guide, "Compilation",
"Accessing lowered names".
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from .. import paths

OWN_THREAD = ("-Xcompiler", "-ftls-model=local-dynamic")
"""For modules: variables of a thread are all their own, and one call finds them."""
_NAMED = "__cudla_sim_named_"
_ONLY_NVRTC = (
    *("-default-device", "--device-as-default-execution-space", "--minimal", "-minimal"),
    *("--disable-warnings", "-w", "--no-source-include", "-no-source-include"),
    *("--extra-device-vectorization", "-extra-device-vectorization", "--builtin-move-forward="),
    *("--pch", "-pch", "--split-compile=", "-split-compile=", "--time=", "-time="),
    *("--create-pch=", "--use-pch=", "--instantiate-templates-in-pch=", "--modify-stack-limit="),
    *("--builtin-initializer-list=", "-builtin-initializer-list=", "--device-stack-protector="),
    *("--device-int128", "-device-int128", "--device-float128", "-device-float128"),
    *("--no-display-error-number", "-no-display-error-number", "--display-error-number"),
    *("--frandom-seed=", "--fdevice-time-trace=", "-fdevice-time-trace="),
)

_SEPARATE = ("-dc", "--device-c")
_RELOCATABLE = "-rdc=true"
"""What those mean to NVRTC; to nvcc, an object."""


@dataclass
class Program:
    """A source with the headers that it includes, by their names there."""

    source: str
    name: str
    headers: dict[str, str]
    handle: int = 0
    names: list[str] = field(default_factory=list)
    """Expressions whose names in the module are wanted."""
    log: str = ""
    module: bytes = b""
    lowered: dict[str, str] = field(default_factory=dict)
    tried: bool = False

    def compile(self, options: list[str]) -> None:
        """``module`` is empty afterwards when it failed; ``log`` says why."""
        self.tried = True
        self.module, self.lowered = b"", {}
        with tempfile.TemporaryDirectory(prefix="cudla-sim-nvrtc-") as folder:
            wanted = [_RELOCATABLE if o in _SEPARATE else o for o in options]
            done = self._run(Path(folder), [o for o in wanted if not o.startswith(_ONLY_NVRTC)])
            self.log = done.stdout.decode(errors="replace")
            if done.returncode == 0:
                self.module = (Path(folder) / "module").read_bytes()
                self.lowered = _lowered(self.module, self.names)

    @property
    def refused_option(self) -> bool:
        """The compiler did not begin."""
        words = ("nvcc: ", "unrecognized command-line option", "unknown argument:")
        return not self.module and any(word in self.log for word in words)

    def _run(self, folder: Path, options: list[str]) -> subprocess.CompletedProcess[bytes]:
        for name, text in self.headers.items():
            place = folder / "headers" / name.lstrip("/").replace("..", "_")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8", "surrogateescape")
        shown = self.name or "default_program"
        pointers = "".join(
            f'extern "C" const void *const {_NAMED}{n} = (const void *){_address(name)};\n'
            for n, name in enumerate(self.names)
        )
        source = folder / "program.cu"
        quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
        text = f'#line 1 "{quoted}"\n{self.source}\n#line 1 "name expressions"\n{pointers}'
        source.write_text(text, "utf-8", "surrogateescape")
        words: list[Any] = [paths.toolkit_dir() / "bin" / "nvcc", "-cubin", "-O2", *OWN_THREAD]
        beside = os.path.dirname(shown)
        words += [f"-I{folder / 'headers'}", f"-I{beside or '.'}", *options]
        return subprocess.run(
            [*words, source, "-o", folder / "module"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )


def _address(name: str) -> str:
    name = name.strip()
    return name if name.startswith("&") else f"&{name}"


def _lowered(module: bytes, names: list[str]) -> dict[str, str]:
    """What the pointers to the named things point to: the loader fills them in by name, or by
    place for what nobody can replace."""
    if not names:
        return {}
    elf = ELFFile(BytesIO(module))
    table: Any = elf.get_section_by_name(".dynsym")
    symbols = [s for s in table.iter_symbols() if s.name]
    places = {
        s["st_value"]: s.name for s in symbols if s["st_value"] and not s.name.startswith(_NAMED)
    }
    pointers = {s["st_value"]: s.name for s in symbols if s.name.startswith(_NAMED)}
    found: dict[str, str] = {}
    moves: Any = elf.get_section_by_name(".rela.dyn")
    for move in moves.iter_relocations():
        pointer = pointers.get(move["r_offset"])
        if pointer is None:
            continue
        symbol = table.get_symbol(move["r_info_sym"]).name if move["r_info_sym"] else ""
        found[names[int(pointer.removeprefix(_NAMED))]] = symbol or places.get(move["r_addend"], "")
    return {name: lowered for name, lowered in found.items() if lowered}
