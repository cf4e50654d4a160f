"""``cudla-sim nvcc``: preprocess, rewrite, compile, link."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import flags, paths
from .host_compiler import ARCHITECTURE, BUILD, RELEASE, Compiler, Failed
from .options import BadOption, Options, parse, with_environment
from .rewrite import CannotRewrite
from .unit import Unit

_HELP = """Usage: cudla-sim nvcc [OPTIONS] FILE...

Compiles CUDA C++ for this machine's processor, with nvcc's options: -c, -o, -I, -D, -L, -l, -O, -g,
-std, -Xcompiler, -Xlinker, -shared, -dc, -dlink, -lib, -odir, -E, -M, -MD, -x cu, -ccbin,
--version, --dryrun; those for a GPU's code (-arch, -gencode, -lineinfo, ...) have no effect."""


def main(words: Sequence[str]) -> int:
    """The exit status."""
    try:
        options = parse(with_environment(words, os.environ) if words else words)
        if options.action == "-V":
            print(_version())
            return 0
        if options.action == "-h" or not words:
            print(_HELP)
            return 0 if words else 1
        with tempfile.TemporaryDirectory(prefix="cudla-sim-nvcc-") as folder:
            _Build(options, Path(folder)).run()
    except (BadOption, CannotRewrite) as error:
        print(f"nvcc: {error}", file=sys.stderr)
        return 1
    except Failed as error:
        return error.status
    return 0


def _version() -> str:
    return (
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        "cudla-sim's stand-in for it: kernels run on the CPU\n"
        f"Cuda compilation tools, release {RELEASE}, V{BUILD}"
    )


class _Build:
    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.compiler = Compiler(options, folder)
        self.number = 0

    def run(self) -> None:
        """Raises BadOption, CannotRewrite and Failed."""
        options = self.options
        if options.verbose:
            self._introduce()
        sources = [(Path(name), kind) for name, kind in options.inputs if kind]
        if not options.inputs:
            raise BadOption("no input files")
        if options.action in ("-E", "-M", "-MM"):
            for source, kind in sources:
                out = ["-o", options.output] if options.output else []
                self.compiler.call(self.compiler.preprocess(source, kind, [options.action, *out]))
            return
        if options.action == "-dlink":
            self._empty(str(self._target("a_dlink.o")))
            return
        if options.action == "-c" and options.output and len(sources) > 1:
            raise BadOption("-o with -c takes one source")
        objects = []
        for source, kind in sources:
            if not source.exists():
                raise BadOption(f"{source}: No such file or directory")
            default = source.stem + ".o"
            if options.action == "-c":
                target = self._target(default)
            else:
                self.number += 1
                target = self.folder / f"{self.number}-{default}"
            self._compile(source, kind, target)
            objects.append(str(target))
        if options.action == "-c":
            return
        if options.action == "-lib":
            others = [name for name, kind in options.inputs if not kind]
            self.compiler.call(["ar", "rcs", str(self._target("a.a")), *objects, *others])
            return
        self._link(objects)

    def _target(self, default: str) -> Path:
        """A result's place, by its usual name."""
        return Path(self.options.output or Path(self.options.folder, default))

    def _introduce(self) -> None:
        """Where things lie, in nvcc's words: CMake reads them, and the line of the link (which has
        the very text of LIBRARIES), and the default architecture."""
        top = paths.toolkit_dir()
        for line in (
            f"_HERE_={top / 'bin'}",
            f"TOP={top}",
            f"PATH={os.environ.get('PATH', '')}",
            f'INCLUDES="-I{top / "include"}"',
            f"LIBRARIES={self._libraries()}",
            f"cicc -arch compute_{ARCHITECTURE // 10}",
        ):
            print(f"#$ {line}", file=sys.stderr, flush=True)

    def _libraries(self) -> str:
        return f'"-L{paths.toolkit_dir() / "lib64"}"'

    def _compile(self, source: Path, kind: str, target: Path) -> None:
        options, compiler = self.options, self.compiler
        if kind == "cu":
            self.number += 1
            Unit(compiler, source, self.number, target).compile()
            return
        words = [*compiler.includes(), *options.preprocess, *(w for w in options.compile if w)]
        words += compiler.dependencies(target)
        standard = [options.standard] if kind == "c++" else []
        named = ["-x", kind, str(source), "-c", "-o", str(target)]
        compiler.call([compiler.name, *standard, *words, *named])

    def _link(self, objects: Sequence[str]) -> None:
        options = self.options
        words = [self.compiler.name, *objects, *options.link, "-o", str(self._target("a.out"))]
        runtime = [f"-l{options.runtime}"] if options.runtime else []
        if options.verbose:  # as nvcc writes it
            named = " ".join(["-lcudadevrt", *runtime, "-lrt -lpthread -ldl"])
            line = f"{shlex.join(words)} {self._libraries()} {named}"
            print(f"#$ {line}", file=sys.stderr, flush=True)
        for folder in reversed(flags.library_dirs(cuda=True)):
            words += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
        # the toolkit's other libraries are found without -L, as with nvcc
        toolkit = f"-L{paths.toolkit_dir() / 'lib64'}"
        self.compiler.call([*words, "-lcudart", "-pthread", "-ldl", "-lrt", toolkit])

    def _empty(self, target: str) -> None:
        """What a device link leaves: an object without anything."""
        source = self.folder / "empty.c"
        source.write_text("typedef int nothing;\n")
        self.compiler.call(
            [self.compiler.name, "-x", "c", "-fPIC", "-c", str(source), "-o", target]
        )
