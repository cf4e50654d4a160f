"""dpu-upmem-dpurte-clang, dpu-clang, and clang with ``--target=dpu-upmem-dpurte``.

The commands themselves are scripts that ``cudla_sim.paths`` writes.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ... import paths
from ...workers.full_disk import DiskFull
from ..assembler.expressions import AsmError
from ..workers.executable import NATIVE
from . import counting, profile, races, steps
from .link import link
from .mixed import links
from .options import Input, Options, UsageError, parse
from .routes import ROUTES, Route, available
from .runtime import archive, syslib

TRIPLE = "dpu-upmem-dpurte"
_NO_COMPILER = (
    "no compiler for DPU programs was found. Install clang (best) or gcc, and binutils:\n"
    "  apt install clang binutils"
)
_WORDS_ALONE = (
    "dpu-upmem-dpurte-clang: warning: between this assembly and C go 32-bit arguments and results "
    "alone: others need clang, gcc does not show the declarations\n"
)
_HELP = """OVERVIEW: compiles DPU programs from C, C++ and assembly

USAGE: dpu-upmem-dpurte-clang [options] file...

OPTIONS: those of clang. What a DPU program needs:
  -DNR_TASKLETS=N          number of tasklets
  -DSTACK_SIZE_DEFAULT=N   stack of each tasklet, in bytes
  -mcpu=v1A|v1B            generation of the chip
  -c, -S, -E, -o FILE, -x LANGUAGE, -I DIR, -D NAME=VALUE, -O0..-O3, -g, -l NAME, -L DIR"""
_OTHER_PROCESSOR = (
    "UnsupportedOperation: C sources of DPU programs are compiled for x86-64 alone, and this "
    "machine is {}. Compile them with the dpu-upmem-dpurte-clang of UPMEM's SDK, here or there: "
    "dpu_load runs its binaries on any machine, and assembly (.S) is made here"
)


def _no_compiler() -> str:
    if platform.machine() != NATIVE:
        return _OTHER_PROCESSOR.format(platform.machine())
    wanted = os.environ.get("DPU_COMPILER_ROUTE")
    if not wanted:
        return _NO_COMPILER
    if wanted not in ROUTES:
        return f"DPU_COMPILER_ROUTE={wanted} is no way of compiling: {', '.join(ROUTES)}"
    return f"DPU_COMPILER_ROUTE={wanted} asks for a compiler that is not installed.\n{_NO_COMPILER}"


def _own_folder() -> Path:
    """Where our own ``clang`` lies; it must not be taken for the real one."""
    return (paths.sdk_dir() / "bin").resolve()


def _fail(*texts: str) -> int:
    for text in texts:
        sys.stderr.write(f"dpu-upmem-dpurte-clang: error: {text}\n")
    return 1


def choose_route() -> tuple[Route, Path]:
    """The best route that works here, and its runtime. Raises UsageError, DiskFull."""
    failures = []
    for route in available(_own_folder()):
        try:
            return route, archive(route)
        except DiskFull:  # no fault of the compiler, and another one would meet it, too
            raise
        except (steps.StepFailed, OSError) as error:
            failures.append(f"{route.name}: {error}")
    raise UsageError("\n".join([_no_compiler(), *failures]))


def _answer(options: Options) -> int:
    query = options.query or ""
    if query == "-dumpmachine" or "target-triple" in query:
        print(TRIPLE)
    elif query in ("--help", "-help"):
        print(_HELP)
    elif query == "-dumpversion":
        print("12.0.0")
    elif query == "--version":
        routes = available(_own_folder())
        print("clang version 12.0.0 (cudla-sim DPU driver)")
        print(f"Target: {TRIPLE}\nThread model: posix")
        print(
            f"Compiles with: {routes[0].name} ({routes[0].compiler})" if routes else _no_compiler()
        )
    elif "file-name=" in query or "prog-name=" in query:
        print(query.partition("=")[2])
    return 0


def _dependency_flags(options: Options, source: Input, target: str) -> list[str]:
    """-M options for the preprocessor: it does not know the name of our object file."""
    flags = list(options.dependencies)
    if not flags:
        return []
    if not any(word in ("-MT", "-MQ") for word in flags):
        flags += ["-MT", target]
    if any(word in ("-MD", "-MMD") for word in flags) and "-MF" not in flags:
        base = options.output or Path(source.path).name
        flags += ["-MF", str(Path(base).with_suffix(".d"))]
    return flags


def _object(options: Options, route: Route, source: Input, output: str) -> None:
    """Compiles one input to ``output``: an object, or assembly with -S."""
    if source.language.startswith("assembler"):
        flags = options.preprocess if source.language.endswith("cpp") else []
        if not _dpu_object(options, route, source, output):
            steps.assemble(
                route, source.path, source.language, flags, output,
                text=options.action == "assemble",
            )  # fmt: skip
        return
    target = options.output or "a.out" if options.action == "link" else output
    flags = [*options.preprocess, *_warnings(options), *_dependency_flags(options, source, target)]
    text = steps.preprocess(
        route, source.path, source.language, flags, options.generation, syslib()
    )
    name = source.path if source.path != "-" else "stdin.c"
    cxx = source.language in steps.CXX
    steps.compile_text(
        route,
        text,
        route.compile_flags(options.compile, cxx=cxx),
        output,
        name,
        cxx=cxx,
        assembly=options.action == "assemble",
        counted=_counted(route),
        profiled=profile.asked(os.environ),
        watched=route.clang and races.asked(os.environ),
    )


def _has_assembly(options: Options) -> bool:
    return any(source.language.startswith("assembler") for source in options.inputs)


def _dpu_object(options: Options, route: Route, source: Input, output: str) -> bool:
    """Compiles a source in DPU assembly as C; False for this machine's assembly."""
    from . import dpu_assembly  # not for C: its tables take as long to load as a small compilation

    target = options.output or "a.out" if options.action == "link" else output
    flags = [*options.preprocess, *_dependency_flags(options, source, target)]
    text = dpu_assembly.unit(options, source, flags, _counted(route), _own_folder())
    if text is None:
        return False
    if not route.clang:
        sys.stderr.write(_WORDS_ALONE)
    own = [word for word in options.compile if word.startswith(("-O", "-g"))]
    steps.compile_text(
        route,
        text.encode("latin-1"),
        # main has the parameters of any other function here, which clang refuses of a hosted one.
        route.compile_flags([*own, "-O1", "-w", "-ffreestanding"]),
        output,
        source.path,
        assembly=options.action == "assemble",
        watched=route.clang and races.asked(os.environ),
    )
    return True


def _between(route: Route, objects: Iterable[str], folder: str) -> list[str]:
    """The object of what stands between C and assembly, where declarations ask for it."""
    try:
        text = links.wrappers(objects)
    except AsmError as error:
        raise UsageError(str(error)) from None
    if not text:
        return []
    output = f"{folder}/between.o"
    steps.compile_text(
        route, text.encode(), route.compile_flags(["-O2", "-w"]), output, "between.c", native=True
    )
    return [output]


def _counted(route: Route) -> bool:
    """Whether programs count the instructions of a DPU, for times of the hardware."""
    if not counting.asked(os.environ):
        return False
    if not route.clang:
        sys.stderr.write(counting.NO_CLANG)
    return route.clang


def _warnings(options: Options) -> list[str]:
    """Flags that change what the preprocessor defines or reports."""
    return [word for word in options.compile if word.startswith(("-O", "-W", "-f", "-w", "-d"))]


def _preprocess_only(options: Options, route: Route) -> None:
    chunks = []
    for source in options.inputs:
        target = Path(source.path).with_suffix(".o").name
        flags = [*options.preprocess, *_warnings(options)]
        flags += _dependency_flags(options, source, target)
        if "-P" in options.compile:
            flags.append("-P")
        chunks.append(
            steps.preprocess(
                route, source.path, source.language or "c", flags, options.generation, syslib()
            )
        )
    if options.output and options.output != "-":
        Path(options.output).write_bytes(b"".join(chunks))
    else:
        sys.stdout.buffer.write(b"".join(chunks))
        sys.stdout.flush()


def _unused(options: Options, source: Input) -> bool:
    """Whether an input has no part in a compilation that does not link; says so, as clang does."""
    kind = "" if source.language else "linker"
    if options.action == "assemble" and source.language == "assembler":
        kind = "assembler"
    if kind:
        sys.stderr.write(
            f"dpu-upmem-dpurte-clang: warning: {source.path}: '{kind}' input unused "
            "[-Wunused-command-line-argument]\n"
        )
    return bool(kind)


def _check_syntax(options: Options, route: Route) -> None:
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        for source in options.inputs:
            if not _unused(options, source):
                _object(options, route, source, file.name)


def _separate(options: Options, route: Route) -> None:
    suffix = ".s" if options.action == "assemble" else ".o"
    sources = [source for source in options.inputs if not _unused(options, source)]
    if options.output and len(sources) > 1:
        raise UsageError("cannot specify -o when generating multiple output files")
    for source in sources:
        default = Path(source.path).with_suffix(suffix).name if source.path != "-" else "-.o"
        output = options.output or default
        if output == "-":
            with tempfile.NamedTemporaryFile(suffix=suffix) as file:
                _object(options, route, source, file.name)
                sys.stdout.buffer.write(Path(file.name).read_bytes())
        else:
            _object(options, route, source, output)


def _program(options: Options, route: Route, runtime: Path) -> None:
    _ = options.tasklets  # an impossible number is worth no compilation
    with tempfile.TemporaryDirectory(prefix="dpu-") as folder, ThreadPoolExecutor(2) as pool:
        objects = {}
        compiled = []
        for index, source in enumerate(options.inputs):
            objects[index] = source.path
            if source.language:
                objects[index] = f"{folder}/{index}-{Path(source.path).stem}.o"
                compiled.append(pool.submit(_object, options, route, source, objects[index]))
        for job in compiled:
            job.result()
        more = _between(route, objects.values(), folder)
        link(options, objects, runtime, options.output or "a.out", more)


def drive(arguments: list[str]) -> int:
    """Compiles as the command line says; gives the exit status."""
    try:
        options = parse(arguments, os.environ.get("DPU_ARCH_VERSION") or "v1A")
        if options.query:
            return _answer(options)
        if options.action == "link" and not options.dry_run and _has_assembly(options):
            from . import dpu_assembly

            status = dpu_assembly.drive(options, _own_folder())
            if status is not None:
                return status
        route, runtime = choose_route()
        if options.verbose or options.dry_run:
            sys.stderr.write(f"Target: {TRIPLE}\nCompiles with: {route.name} ({route.compiler})\n")
        if options.dry_run:
            return 0
        if options.action in ("preprocess", "dependencies"):
            if options.action == "dependencies":
                options.preprocess += [w for w in options.dependencies if w in ("-M", "-MM")]
            _preprocess_only(options, route)
        elif options.action == "syntax":
            _check_syntax(options, route)
        elif options.action in ("compile", "assemble"):
            _separate(options, route)
        else:
            _program(options, route, runtime)
    except UsageError as error:
        return _fail(*error.args)
    except steps.StepFailed as error:
        return error.status
    except OSError as error:
        return _fail(str(error))
    return 0


def main() -> int:
    """Entry point of ``dpu-upmem-dpurte-clang`` and ``dpu-clang``."""
    return drive(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
