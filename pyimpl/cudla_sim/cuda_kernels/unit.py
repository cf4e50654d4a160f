"""A source with kernels to an object: preprocessed, rewritten, compiled.

Where g++ refuses what nvcc takes, another way is tried: functions that call themselves are not
inlined whatever ``__forceinline__`` says, Thrust has the headers of its CUDA system, which include
more, there are the texture and surface references that CUDA had before 12.0, and declarators are
made g++'s (declarators.py). What is told to the user is what the first way said, if none succeeds.
Kernels are loops over their threads (regions/) only where that compiles.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import paths
from ..workers.precompiled import name_source
from . import declarators, precompiled, sides, thrust
from .accepted import accepted
from .host_compiler import Compiler, Failed
from .linkage import OWN, keep_to_itself
from .regions import LANES
from .rewrite import CannotRewrite, rewrite
from .sides import Places

_QUIET = ("-Wno-unknown-pragmas", "-Wno-attributes")
"""nvcc's own pragmas (unroll) and attributes are no one's else."""
_IN_PLACE = "-fno-move-loop-stores"
"""The threads of a block are a loop: a wrong store behind it would be nobody's, without a line.

g++ 12 does that; clang++ has no need of it."""
_DIVISIONS = "-fno-isolate-erroneous-paths-dereference"
"""A division by what the compiler knows to be zero stays one: a GPU does not stop at it."""
_AS_WARNINGS = "-fpermissive"
"""For names that change their meaning in a class: nvcc gives g++ all names in full."""
_PLACE = "-fdebug-prefix-map"
"""Of a folder that is not there the next time: a header is not precompiled for it."""
_IS_PRECOMPILED = "#pragma GCC pch_preprocess "
_RESERVED = re.compile(r"^register unsigned long cudla_sim_reserved asm\([^;]*;", re.MULTILINE)
"""A register is reserved again behind a header that is precompiled (kernels/reserved.hpp). Where
g++ has read the header as text, it says that this conflicts with the first time."""
_NOT_INLINED = "always_inline"
_NOT_INCLUDED = re.compile(
    r"error: .[\w:]+. (?:is not a member of|in namespace) .(?:std|thrust|cub)\b"
)
_ROUNDS = 4
"""Of compilations, each without the host's text where the ones before found errors."""
_REFERENCES = "(?:texture|surface)(?:Reference)?"
_NO_REFERENCES = re.compile(
    rf"error: (?:.{_REFERENCES}. (?:does not name a type|was not declared|has not been declared)"
    rf"|(?:no template named|unknown type name|use of undeclared identifier) .{_REFERENCES}.)"
)
"""As g++ and clang++ say it."""


@dataclass(frozen=True)
class _Way:
    forced_inline: bool = True
    cuda_thrust: bool = False
    references: bool = False
    declarators: frozenset[str] | None = None
    regions: bool = True
    sides: bool = True
    without: Places = frozenset()

    def headers(self) -> list[Path]:
        """What is read before the source."""
        folder = paths.include_dir() / "cuda" / "kernels"
        chosen = ("thrust_cuda.hpp", self.cuda_thrust), ("texture_references.hpp", self.references)
        return [folder / name for name, wanted in chosen if wanted]


class Unit:
    """One source; *number* tells it from others of that name."""

    def __init__(self, compiler: Compiler, source: Path, number: int, target: Path) -> None:
        self.compiler = compiler
        self.options = compiler.options
        self.source = source
        self.target = target
        self.before = compiler.folder / f"{number}-{source.stem}.cu.ii"
        self.written = compiler.folder / f"{number}-{source.stem}.cpp.ii"
        self.words = self._words()
        self.apart = not compiler.checks.compiled and precompiled.apart(self.words)
        self.header = self._header()
        self.own = False

    def compile(self) -> None:
        """Raises Failed and CannotRewrite."""
        way = _Way(sides=not self.options.module)  # whose host is another program
        text = self._preprocessed(way)
        if not self.compiler.names_thrust() and thrust.needs_cuda_system(text):
            way = replace(way, cuda_thrust=True)
            text = self._preprocessed(way)
        status, said, plain = self._tried(text, way)
        if status and sides.ON_THE_HOST in text and self._without_sides(way, plain):
            status, said = 0, f"nvcc: warning: {self.source}: {sides.left_out(plain)}\n"
        sys.stderr.write(said)
        sys.stderr.flush()
        if status:
            raise Failed(status)
        if self.own:
            try:
                keep_to_itself(self.compiler.name, self.target)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"nvcc: {self.target}: device code of its own: {error}", file=sys.stderr)
                raise Failed(1) from None
        if self.apart and self.header != precompiled.source():
            try:
                precompiled.join(self.compiler.name, self.header, self.target)
            except (OSError, subprocess.CalledProcessError):  # it is gone, or damaged
                self._whole()
                self.compile()

    def _without_sides(self, way: _Way, said: str) -> bool:
        """Whether it compiles without the host's text where that was an error, or without any."""
        for _ in range(_ROUNDS):
            places = way.without | sides.errors(said)
            if places == way.without:
                break
            way = replace(way, without=places)
            status, _, said = self._tried(self._preprocessed(way), way)
            if not status:
                return True
        way = replace(way, sides=False)
        return self._tried(self._preprocessed(way), way)[0] == 0

    def _tried(self, text: str, way: _Way) -> tuple[int, str, str]:
        """In the ways that may succeed: the status, and what the first one said if none does."""
        status, first, plain = self._compiled(text, way)
        if status and LANES in self.written.read_text("utf-8", "surrogateescape"):
            way = replace(way, regions=False)  # messages are of the user's own text
            status, first, plain = self._compiled(text, way)
        said, told = first, plain
        while status and (other := self._other(way, text, told)):
            if other.headers() != way.headers():
                text = self._preprocessed(other)
            way = other
            status, said, told = self._compiled(text, way)
        return (status, first, plain) if status else (status, said, told)

    def _whole(self) -> None:
        """From now on nothing of the cache is used."""
        self.apart = False
        self.header = precompiled.source()

    def translate(self) -> None:
        """The C++ that it becomes, to the target: all of it, for any compiler.

        Raises Failed and CannotRewrite.
        """
        self._whole()
        text = self._preprocessed(_Way())
        if not self.options.dry:
            self._rewrite(text, _Way())
            self.target.write_bytes(self.written.read_bytes())

    def _other(self, way: _Way, text: str, said: str) -> _Way | None:
        """What may succeed after the compiler *said* that."""
        if way.forced_inline and _NOT_INLINED in said:
            return replace(way, forced_inline=False)
        includes = "thrust" in text and not self.compiler.names_thrust()
        if includes and not way.cuda_thrust and _NOT_INCLUDED.search(said):
            return replace(way, cuda_thrust=True)
        if not way.references and _NO_REFERENCES.search(said):
            return replace(way, references=True)
        if declarators.REFUSED.search(said):
            known = way.declarators or frozenset()
            types = known | declarators.types(said)
            if way.declarators is None or types != known:
                return replace(way, declarators=types)
        return None

    def _words(self) -> list[str]:
        plain = [w for w in self.options.compile if w]
        lines = [] if any(word.startswith("-g") for word in plain) else ["-g1"]
        if self.compiler.checks.compiled:
            lines += ["-fsanitize=thread", "-Wno-tsan"]
        else:
            lines += _as_device_code(plain)
            lines += accepted(self.compiler.name, (_IN_PLACE, _DIVISIONS))
        if any(word.startswith("-flto") for word in plain):
            lines.append("-fno-lto")  # a later compilation would not know which register is taken
        return [self.options.standard, *plain, *lines, *_QUIET]

    def _preprocessed(self, way: _Way) -> str:
        compiler, header = self.compiler, self.header
        more = [*self._more(way), "-o", str(self.before), *compiler.dependencies(self.target)]
        compiler.call(compiler.preprocess(self.source, "cu", more, header))
        if self.options.dry:
            return ""
        self._name_source(header)
        text = self._read(self.before)
        if not way.sides or not sides.differ(text):
            return text
        host = self.before.with_suffix(".host.ii")
        more = [*self._more(way), "-o", str(host), "-include", str(sides.header())]
        compiler.call(compiler.preprocess(self.source, "cu", more, header))
        return sides.merged(text, self._read(host), way.without)

    def _read(self, file: Path) -> str:
        text = file.read_text("utf-8", "surrogateescape")
        return text if _IS_PRECOMPILED in text else _RESERVED.sub("", text, count=1)

    def _more(self, way: _Way) -> list[str]:
        """Words for the preprocessor besides the usual ones."""
        more = ["-E"]
        if self.header != precompiled.source():
            more += ["-fpch-preprocess", *self.words, *self._apart()]
        for before in way.headers():
            more += ["-include", str(before)]
        return more

    def _compiled(self, text: str, way: _Way) -> tuple[int, str, str]:
        if not self.options.dry:
            self._rewrite(text, way)
        named = ["-x", "c++-cpp-output", str(self.written), "-c", "-o", str(self.target)]
        more = [] if way.declarators is None else [_AS_WARNINGS]
        return self.compiler.attempt([self.compiler.name, *self.words, *more, *named])

    def _rewrite(self, text: str, way: _Way) -> None:
        try:
            changed = rewrite(
                text,
                forced_inline=way.forced_inline,
                lanes=self.compiler.lanes,
                regions=self.compiler.regions and way.regions,
                declarators=way.declarators,
                separate=self.options.separate or bool(self.options.module),  # found by name
            )
        except CannotRewrite as error:
            raise CannotRewrite(f"{self.source}: {error}") from None
        self.own = OWN in changed
        self.written.write_text(changed, "utf-8", "surrogateescape")

    def _apart(self) -> list[str]:
        return [precompiled.APART] if self.apart else []

    def _header(self) -> Path:
        """What comes before the source: precompiled where that can be."""
        compiler, options = self.compiler, self.options
        if options.dry:
            return precompiled.source()
        lasting = [word for word in self.words if not word.startswith(_PLACE)]
        how = [*compiler.macros(), *self._apart(), *compiler.includes(), *lasting]
        made = precompiled.header(compiler.name, how, options.preprocess)
        return made or precompiled.source()

    def _name_source(self, header: Path) -> None:
        """Dependencies name the header itself, not what stands for it."""
        words = self.compiler.dependencies(self.target)
        if words and header != precompiled.source():
            told = Path(words[words.index("-MF") + 1])
            name_source(told, header, precompiled.source())


def _as_device_code(words: Sequence[str]) -> list[str]:
    """nvcc's -O is for the host; code for a GPU is optimized unless it is debugged."""
    wanted = [word for word in words if word.startswith("-O")]
    debugged = any(word.startswith("-g") for word in words)
    if (wanted and wanted[-1] != "-O2") or (debugged and not wanted):
        return []
    return ["-O3"]
