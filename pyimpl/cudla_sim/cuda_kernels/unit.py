"""A source with kernels to an object: preprocessed, rewritten, compiled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..workers.precompiled import name_source
from . import precompiled
from .host_compiler import Compiler, Failed
from .linkage import OWN, keep_to_itself
from .rewrite import CannotRewrite, rewrite

_QUIET = ("-Wno-unknown-pragmas", "-Wno-attributes")
"""nvcc's own pragmas (unroll) and attributes mean nothing to other compilers."""
_PLACE = "-fdebug-prefix-map"
"""Of a folder that is not there the next time: a header is not precompiled for it."""
_NOT_INLINED = "always_inline"


class Unit:
    """One source; *number* distinguishes it from others of that name."""

    def __init__(self, compiler: Compiler, source: Path, number: int, target: Path) -> None:
        self.compiler = compiler
        self.options = compiler.options
        self.source = source
        self.target = target
        self.before = compiler.folder / f"{number}-{source.stem}.cu.ii"
        self.written = compiler.folder / f"{number}-{source.stem}.cpp.ii"
        self.words = self._words()
        self.header = self._header()
        self.own = False

    def compile(self) -> None:
        """Raises Failed and CannotRewrite."""
        text = self._preprocessed()
        status, said = self._compiled(text, forced_inline=True)
        if status and _NOT_INLINED in said:  # functions that call themselves
            status, said = self._compiled(text, forced_inline=False)
        sys.stderr.write(said)
        sys.stderr.flush()
        if status:
            raise Failed(status)
        if self.own:
            try:
                keep_to_itself(self.compiler.name, self.target)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"nvcc: {self.target}: localizing device symbols: {error}", file=sys.stderr)
                raise Failed(1) from None

    def _words(self) -> list[str]:
        plain = [word for word in self.options.compile if word]
        optimized = [] if any(word.startswith(("-O", "-g")) for word in plain) else ["-O2"]
        return [self.options.standard, *plain, *optimized, *_QUIET]

    def _preprocessed(self) -> str:
        compiler, header = self.compiler, self.header
        more = ["-E", "-o", str(self.before), *compiler.dependencies(self.target)]
        if header != precompiled.source():
            more += ["-fpch-preprocess", *self.words]
        compiler.call(compiler.preprocess(self.source, "cu", more, header))
        if self.options.dry:
            return ""
        words = compiler.dependencies(self.target)
        if words and header != precompiled.source():
            listed = Path(words[words.index("-MF") + 1])
            name_source(listed, header, precompiled.source())
        return self.before.read_text("utf-8", "surrogateescape")

    def _compiled(self, text: str, *, forced_inline: bool) -> tuple[int, str]:
        if not self.options.dry:
            try:
                changed = rewrite(text, forced_inline=forced_inline, separate=self.options.separate)
            except CannotRewrite as error:
                raise CannotRewrite(f"{self.source}: {error}") from None
            self.own = OWN in changed
            self.written.write_text(changed, "utf-8", "surrogateescape")
        named = ["-x", "c++-cpp-output", str(self.written), "-c", "-o", str(self.target)]
        return self.compiler.attempt([self.compiler.name, *self.words, *named])

    def _header(self) -> Path:
        """What comes before the source: precompiled where that is possible."""
        compiler = self.compiler
        if self.options.dry:
            return precompiled.source()
        lasting = [word for word in self.words if not word.startswith(_PLACE)]
        how = [*compiler.macros(), *compiler.includes(), *lasting]
        made = precompiled.header(compiler.name, how, self.options.preprocess)
        return made or precompiled.source()
