"""``cudla-sim nvcc``: preprocess, rewrite, compile, link."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import flags, paths
from ..core.config import from_environment
from ..core.errors import ConfigError
from ..cudart.checks import Checks
from ..cudart.settings import Settings
from ..workers.precompiled import name_source
from . import precompiled
from .options import BadOption, Options, parse, with_environment
from .rewrite import CannotRewrite, rewrite

RELEASE, BUILD = "12.9", "12.9.86"
"""Of CUDA, as our headers say; CMake reads them."""
ARCHITECTURE = 870
"""Of an Orin: ``__CUDA_ARCH__`` of compute capability 8.7."""
_HELP = """Usage: cudla-sim nvcc [OPTIONS] FILE...

Compiles CUDA C++ for this machine's processor, with nvcc's options: -c, -o, -I, -D, -L, -l, -O, -g,
-std, -Xcompiler, -Xlinker, -shared, -dc, -dlink, -lib, -E, -M, -MD, -x cu, -ccbin, --version,
--dryrun; those for a GPU's code (-arch, -gencode, -lineinfo, ...) are taken and mean nothing.
-fatbin and -cubin write modules for cuModuleLoad, with code for this processor; -ptx is refused."""


class _Failed(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


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
    except _Failed as error:
        return error.status
    return 0


def _version() -> str:
    return (
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        "cudla-sim's stand-in for it: kernels run on the CPU\n"
        f"Cuda compilation tools, release {RELEASE}, V{BUILD}"
    )


def _checks() -> Checks:
    """What kernels are compiled for: the setting, as for everything else."""
    try:
        return Checks.parse(from_environment(os.environ).of(Settings).cuda_checks)
    except (ConfigError, ValueError) as cause:
        raise BadOption(f"cuda_checks: {cause}") from None


class _Build:
    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.compiler = self._host(options.compiler)
        self.number = 0
        self.checks = _checks()

    def _host(self, given: str) -> str:
        if not given:
            return os.environ.get("NVCC_CCBIN", "") or "g++"
        path = Path(given)
        return str(path / "g++") if path.is_dir() else given

    def run(self) -> None:
        options = self.options
        if options.verbose:
            self._introduce()
        sources = [(Path(name), kind) for name, kind in options.inputs if kind]
        if not options.inputs:
            raise BadOption("no input files")
        if options.action in ("-E", "-M", "-MM"):
            for source, kind in sources:
                out = ["-o", options.output] if options.output else []
                self._call(self._preprocess(source, kind, [options.action, *out]))
            return
        if options.action == "-dlink":
            self._empty(options.output or "a_dlink.o")
            return
        if options.action in ("-c", "-fatbin") and options.output and len(sources) > 1:
            raise BadOption(f"-o with {options.action} takes one source")
        if options.action == "-fatbin":
            self._modules(sources)
            return
        objects = []
        for source, kind in sources:
            if not source.exists():
                raise BadOption(f"{source}: No such file or directory")
            default = source.stem + ".o"
            if options.action == "-c":
                target = Path(options.output or default)
            else:
                self.number += 1
                target = self.folder / f"{self.number}-{default}"
            self._compile(source, kind, target)
            objects.append(str(target))
        if options.action == "-c":
            return
        if options.action == "-lib":
            others = [name for name, kind in options.inputs if not kind]
            self._call(["ar", "rcs", options.output or "a.a", *objects, *others])
            return
        self._link(objects)

    def _modules(self, sources: Sequence[tuple[Path, str]]) -> None:
        """Kernels as a shared library, which the driver loads."""
        for source, kind in sources:
            if not source.exists():
                raise BadOption(f"{source}: No such file or directory")
            unit = self.folder / f"{source.stem}.o"
            self._compile(source, kind, unit)
            target = self.options.output or f"{source.stem}{self.options.module}"
            self._call([self.compiler, "-shared", str(unit), "-o", target, *self._runtime()])

    def _runtime(self) -> list[str]:
        words = []
        for folder in reversed(flags.library_dirs(cuda=True)):
            words += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
        return [*words, "-lcudart", "-pthread", "-ldl", "-lrt"]

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
        options = self.options
        plain = [w for w in options.compile if w]
        if kind != "cu":
            words = [*self._includes(), *options.preprocess, *plain]
            words += self._dependencies(target)
            standard = [options.standard] if kind == "c++" else []
            named = ["-x", kind, str(source), "-c", "-o", str(target)]
            self._call([self.compiler, *standard, *words, *named])
            return
        self.number += 1
        before = self.folder / f"{self.number}-{source.stem}.cu.ii"
        written = self.folder / f"{self.number}-{source.stem}.cpp.ii"
        lines = [] if any(word.startswith("-g") for word in plain) else ["-g1"]
        if self.checks.compiled:
            lines += ["-fsanitize=thread", "-Wno-tsan"]
        else:
            lines += _as_device_code(plain)
            if _accepts(self.compiler, _IN_PLACE):
                lines.append(_IN_PLACE)
        if any(word.startswith("-flto") for word in plain):
            lines.append("-fno-lto")  # a later compilation would not know which register is taken
        words = [options.standard, *plain, *lines, *_QUIET]
        header = self._header(words)
        more = ["-E", "-o", str(before), *self._dependencies(target)]
        if header != precompiled.source():
            more += ["-fpch-preprocess", *words]
        self._call(self._preprocess(source, kind, more, header))
        if not options.dry:
            self._name_source(header, target)
            text = before.read_text("utf-8", "surrogateescape")
            try:
                changed = rewrite(text)
            except CannotRewrite as error:
                raise CannotRewrite(f"{source}: {error}") from None
            written.write_text(changed, "utf-8", "surrogateescape")
        named = ["-x", "c++-cpp-output", str(written), "-c", "-o", str(target)]
        self._call([self.compiler, *words, *named])

    def _header(self, words: Sequence[str]) -> Path:
        """What comes before the source: precompiled where that can be."""
        options = self.options
        if options.dry:
            return precompiled.source()
        how = [*self._macros(), *self._includes(), *words]
        made = precompiled.header(self.compiler, how, options.preprocess)
        return made or precompiled.source()

    def _name_source(self, header: Path, target: Path) -> None:
        """Dependencies name the header itself, not what stands for it."""
        words = self._dependencies(target)
        if words and header != precompiled.source():
            told = Path(words[words.index("-MF") + 1])
            name_source(told, header, precompiled.source())

    def _macros(self) -> list[str]:
        major, minor, build = BUILD.split(".")
        words = ["-D__CUDACC__", "-D__NVCC__", f"-D__CUDA_ARCH__={ARCHITECTURE}"]
        words += [f"-D__CUDACC_VER_MAJOR__={major}", f"-D__CUDACC_VER_MINOR__={minor}"]
        words += [f"-D__CUDACC_VER_BUILD__={build}", "-D__CUDACC_RDC__"]
        words += ["-D__CUDACC_EXTENDED_LAMBDA__", "-D__CUDACC_RELAXED_CONSTEXPR__"]
        words += self._cccl()
        if self.checks.compiled:
            words.append(f"-DCUDLA_SIM_CHECKS={self.checks.word}")
        return words

    def _preprocess(
        self, source: Path, kind: str, more: Sequence[str], header: Path | None = None
    ) -> list[str]:
        options = self.options
        words = [self.compiler, options.standard]
        if kind == "cu":
            words += ["-x", "c++", *self._macros()]
            words += ["-include", str(header or precompiled.source())]
            words += ["-include", str(precompiled.behind())]
        # what decides about macros of the compiler itself
        decided = ("-f", "-m", "-O", "-p", "-std")
        words += [word for word in options.compile if word.startswith(decided)]
        return [*words, *options.preprocess, *self._includes(), *more, str(source)]

    def _cccl(self) -> list[str]:
        """Thrust of a user's own CCCL runs on the host; its ranges for NVIDIA's profiler do not."""
        name = "THRUST_DEVICE_SYSTEM"
        said = any(name in word for word in self.options.preprocess)
        return ["-DCCCL_DISABLE_NVTX", *([] if said else [f"-D{name}={name}_CPP"])]

    def _includes(self) -> list[str]:
        return [f"-I{folder}" for folder in flags.include_dirs(cuda=True)]

    def _dependencies(self, target: Path) -> list[str]:
        words = list(self.options.dependencies)
        if words and "-MT" not in words and "-MQ" not in words:
            words += ["-MT", str(target)]
        if words and "-MF" not in words:
            words += ["-MF", str(target.with_suffix(".d"))]
        return words

    def _link(self, objects: Sequence[str]) -> None:
        options = self.options
        words = [self.compiler, *objects, *options.link, "-o", options.output or "a.out"]
        runtime = [f"-l{options.runtime}"] if options.runtime else []
        if options.verbose:  # as nvcc writes it
            named = " ".join(["-lcudadevrt", *runtime, "-lrt -lpthread -ldl"])
            line = f"{shlex.join(words)} {self._libraries()} {named}"
            print(f"#$ {line}", file=sys.stderr, flush=True)
        self._call([*words, *self._runtime()])

    def _empty(self, target: str) -> None:
        """What a device link leaves: an object without anything."""
        source = self.folder / "empty.c"
        source.write_text("typedef int nothing;\n")
        self._call([self.compiler, "-x", "c", "-fPIC", "-c", str(source), "-o", target])

    def _call(self, command: Sequence[str]) -> None:
        if self.options.verbose:
            print(f"#$ {shlex.join(command)}", file=sys.stderr, flush=True)
        if self.options.dry:
            return
        try:
            status = subprocess.run(command, check=False).returncode
        except OSError as error:
            raise BadOption(f"{command[0]}: {error.strerror}; install g++ or say -ccbin") from None
        if status:
            raise _Failed(status if status > 0 else 1)


_IN_PLACE = "-fno-move-loop-stores"
"""The threads of a block are a loop: a wrong store behind it would be nobody's, without a line."""


def _accepts(compiler: str, option: str) -> bool:
    """Whether the compiler knows an option: g++ 12 does this one, clang++ has no need of it."""
    command = [compiler, "-Werror", option, "-x", "c++", "-E", "-P", os.devnull]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _as_device_code(words: Sequence[str]) -> list[str]:
    """nvcc's -O is for the host; code for a GPU is optimized unless it is debugged."""
    wanted = [word for word in words if word.startswith("-O")]
    debugged = any(word.startswith("-g") for word in words)
    if (wanted and wanted[-1] != "-O2") or (debugged and not wanted):
        return []
    return ["-O3"]


_QUIET = ("-Wno-unknown-pragmas", "-Wno-attributes")
"""nvcc's own pragmas (unroll) and attributes are no one's else."""
