"""``cudla-sim nvcc``: preprocess, rewrite, compile, link."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import paths
from . import linker, modules
from .host_compiler import ARCHITECTURE, BUILD, RELEASE, Compiler, Failed
from .options import BadOption, Options, parse, with_environment
from .rewrite import CannotRewrite
from .unit import Unit

_EARLIER = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86)
_HELP = """Usage: cudla-sim nvcc [OPTIONS] FILE...

Compiles CUDA C++ for this machine's processor, with nvcc's options: -c, -o, -I, -D, -L, -l, -O, -g,
-std, -Xcompiler, -Xlinker, -shared, -dc, -dlink, -lib, -run, -odir, -E, -M, -MD, -x cu, -ccbin,
--version, --dryrun; those for a GPU's code (-arch, -gencode, -lineinfo, ...) are taken and mean
nothing. -cuda writes the C++ that a source becomes.
-fatbin and -cubin write modules for cuModuleLoad, with code for this processor; -ptx is refused."""


def main(words: Sequence[str]) -> int:
    """The exit status."""
    try:
        options = parse(with_environment(words, os.environ) if words else words)
        if options.action == "-V":
            print(_architectures(options.listed) if options.listed else _version())
            return 0
        if options.action == "-h" or not words:
            print(_HELP)
            return 0 if words else 1
        with tempfile.TemporaryDirectory(prefix="cudla-sim-nvcc-") as folder:
            status = _Build(options, Path(folder)).run()
    except (BadOption, CannotRewrite) as error:
        print(f"nvcc: {error}", file=sys.stderr)
        return 1
    except Failed as error:
        return error.status
    return status


def _architectures(prefix: str) -> str:
    """What nvcc of this release compiles for, up to ours; it is all the same here."""
    return "\n".join(f"{prefix}{number}" for number in (*_EARLIER, ARCHITECTURE // 10))


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

    def run(self) -> int:
        """The status of what -run starts, 0 otherwise."""
        self._steps()
        return self._start() if self.options.action == "-run" else 0

    def _steps(self) -> None:
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
        if options.action in ("-c", "-cuda", "-fatbin") and options.output and len(sources) > 1:
            raise BadOption(f"-o with {options.action} takes one source")
        if options.action == "-fatbin":
            self._modules(sources)
            return
        objects = []
        for source, kind in sources:
            if not source.exists():
                raise BadOption(f"{source}: No such file or directory")
            if options.action == "-cuda":
                self._translate(source, kind)
                continue
            default = source.stem + ".o"
            if options.action == "-c":
                target = self._target(default)
            else:
                self.number += 1
                target = self.folder / f"{self.number}-{default}"
            self._compile(source, kind, target)
            objects.append(str(target))
        if options.action in ("-c", "-cuda") or self._program():
            return
        if options.action == "-lib":
            others = [name for name, kind in options.inputs if not kind]
            self.compiler.call(["ar", "rcs", str(self._target("a.a")), *objects, *others])
            return
        self._link(objects)

    def _target(self, default: str) -> Path:
        """A result's place, by its usual name."""
        return Path(self.options.output or Path(self.options.folder, default))

    def _translate(self, source: Path, kind: str) -> None:
        if kind != "cu":
            raise BadOption(f"-cuda: {source} is no .cu file")
        self.number += 1
        target = self._target(f"{source.name}.cpp.ii")
        Unit(self.compiler, source, self.number, target).translate()

    def _program(self) -> Path | None:
        """What -run starts as it is: its only input."""
        if self.options.action != "-run" or len(self.options.inputs) != 1:
            return None
        name, kind = self.options.inputs[0]
        return Path(name) if not kind and Path(name).suffix not in (".o", ".a", ".so") else None

    def _start(self) -> int:
        """The status of what was linked, or is named; as a shell tells a signal."""
        options = self.options
        program = self._program() or self._target("a.out")
        if options.dry:
            return 0
        try:
            done = subprocess.run([program.absolute(), *options.arguments], check=False)
        except OSError as error:
            raise BadOption(f"-run: {program}: {error.strerror}") from None
        return done.returncode if done.returncode >= 0 else 128 - done.returncode

    def _modules(self, sources: Sequence[tuple[Path, str]]) -> None:
        """Kernels as a shared library, which the driver loads."""
        for source, kind in sources:
            if not source.exists():
                raise BadOption(f"{source}: No such file or directory")
            unit = self.folder / f"{source.stem}.o"
            self._compile(source, kind, unit)
            target = self._target(f"{source.stem}{self.options.module}")
            self._linked(modules.link(self.compiler.name, [unit], target))
            if self.options.separate and not self.options.dry:
                self.compiler.call(modules.keep_objects(self.compiler.name, [unit], target))

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
        # the toolkit's other libraries are found without a word, as with nvcc
        toolkit = f"-L{paths.toolkit_dir() / 'lib64'}"
        self._linked([*words, *modules.runtime("cudart"), toolkit])

    def _linked(self, command: Sequence[str]) -> None:
        chosen = linker.faster(self.compiler.name, self.options.link)
        if chosen:
            status, said, _ = self.compiler.attempt([*command, *chosen])
            if status == 0:
                sys.stderr.write(said)
                return
        self.compiler.call(command)

    def _empty(self, target: str) -> None:
        """What a device link leaves: an object without anything."""
        source = self.folder / "empty.c"
        source.write_text("typedef int nothing;\n")
        self.compiler.call(
            [self.compiler.name, "-x", "c", "-fPIC", "-c", str(source), "-o", target]
        )
