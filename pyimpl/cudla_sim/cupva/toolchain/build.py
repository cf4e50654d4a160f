"""The way from sources to a VPU executable, and from that to an object for the host program."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ...workers.precompiled import name_source
from ..processor import BUILD_SECTION, LEVELS, NEEDS_SECTION
from . import steps
from .options import Options
from .runtime import device_header, headers, precompiled, runtime_object

# Kernels are C with features of C++; they are written for a compiler that wraps and aliases.
_LANGUAGE = (
    *("-std=gnu++17", "-fpermissive", "-O2", "-g1", "-Wno-psabi"),
    # a multiplication and an addition stay two operations on machines that could fuse them
    "-ffp-contract=off",
    *("-fwrapv", "-fno-strict-aliasing", "-fno-pie", "-fno-common", "-fno-threadsafe-statics"),
    *("-DCUPVA_DEVICE=1", "-DCUPVA_BUILD_MODE=1"),
    # words of C that C++ does not have
    *("-Drestrict=__restrict__", "-D_Static_assert=static_assert", "-D_Bool=bool"),
)


_OF_CODE = ("-O", "-g", "-m", "-f", "-std=")
"""How flags begin that must be those of headers that were compiled before."""


def _compile(options: Options, compiler: list[str], source: str, target: Path) -> None:
    machine = steps.machine_flags(compiler, options.compile)
    of_code = [word for word in options.compile if word.startswith(_OF_CODE)]
    made = precompiled(compiler, [*_LANGUAGE, *machine, *of_code])
    before = [] if made is None else ["-isystem", str(made)]
    flags = [*_LANGUAGE, *machine, *before, "-isystem", str(headers()), *options.compile]
    if options.dependencies:
        flags += [*options.dependencies, "-MF", str(target.with_suffix(".d"))]
        if not any(f in ("-MT", "-MQ") for f in options.dependencies):
            flags += ["-MT", options.output]
    steps.run([*compiler, *flags, "-x", "c++", "-c", source, "-o", str(target)], options.verbose)
    if options.dependencies and made is not None:
        header = device_header()
        name_source(target.with_suffix(".d"), made / header.name, header)


def _compiled(options: Options, compiler: list[str], folder: Path, pool: Executor) -> list[Path]:
    """The objects of all sources."""
    targets = [folder / f"{number}.o" for number in range(len(options.sources))]
    running = [
        pool.submit(_compile, options, compiler, source, target)
        for source, target in zip(options.sources, targets, strict=True)
    ]
    from . import exports, layout  # noqa: F401 - reading ELF is loaded while the compiler works

    for each in running:
        each.result()
    if options.dependencies:
        rules = "".join(t.with_suffix(".d").read_text() for t in targets)
        Path(options.dependency_file).write_text(rules)
    return targets


def _join(options: Options, targets: list[Path], folder: Path) -> Path:
    """One object of all sources, whose main function does not collide with the worker's."""
    objects = [str(t) for t in targets]
    own = [o for o in options.objects if o.endswith(".o")]
    joined = folder / "kernel.o"
    steps.run(["ld", "-r", *objects, *own, "-o", str(joined)], options.verbose)
    steps.run(["objcopy", "--redefine-sym", "main=cupva_vpu_main", str(joined)], options.verbose)
    return joined


def _link(options: Options, compiler: Sequence[str], kernel: Path, folder: Path) -> Path:
    from . import layout

    banks = layout.variables(kernel)
    layout.check(banks)
    script = folder / "vmem.ld"
    script.write_text(layout.script(kernel, banks))
    image = folder / "image"
    libraries = [o for o in options.objects if not o.endswith(".o")]
    command = [*compiler, "-no-pie", "-Wl,--as-needed", "-Wl,--build-id=none", "-Wl,-z,noexecstack"]
    if shutil.which("ld.bfd"):
        command.append("-fuse-ld=bfd")  # the script adds to the built-in one: not every linker can
    command += [str(kernel), str(runtime_object(list(compiler))), *libraries, *options.link]
    command += ["-T", str(script), "-o", str(image)]
    try:  # C++'s library is seldom needed, and half of what the linker reads
        steps.run([*command, "-nodefaultlibs", "-lm", "-lgcc", "-lc"], options.verbose, told=False)
    except steps.StepFailed:
        steps.run([*command, "-lm"], options.verbose)
    return image


def _without_main(kernel: Path) -> bool:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    with kernel.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection), "ld -r keeps symbols"
        found = table.get_symbol_by_name("cupva_vpu_main")
    return not found or found[0]["st_shndx"] == "SHN_UNDEF"


def build(options: Options, folder: Path) -> Path:
    """The VPU executable, in ``folder``. Raises StepFailed, OSError."""
    compiler = steps.compiler()
    if not options.portable or steps.target(tuple(compiler)) != "x86_64":
        return _build(options, compiler, folder)
    images = []
    for level in LEVELS:
        own = folder / level
        own.mkdir()
        chosen = replace(options, compile=[*options.compile, f"-march={level}"])
        images.append((level, _build(chosen, compiler, own)))
    # Each is a whole executable; the file is the one that most machines run.
    whole = folder / "whole"
    shutil.copy(images[-1][1], whole)
    _add_sections(whole, {BUILD_SECTION + level: image for level, image in images})
    return whole


def _add_sections(image: Path, contents: dict[str, Path]) -> None:
    words = []
    for name, content in contents.items():
        if content.stat().st_size:
            words += ["--add-section", f"{name}={content}"]
            words += ["--set-section-flags", f"{name}=readonly"]
    if words:
        steps.run(["objcopy", *words, str(image)])


def _needs(options: Options, compiler: list[str]) -> str:
    chosen = [*steps.machine_flags(compiler, options.compile), *options.compile]
    return steps.needs(compiler, chosen)


def _build(options: Options, compiler: list[str], folder: Path) -> Path:
    with ThreadPoolExecutor(3) as pool:
        named = pool.submit(_needs, options, compiler)  # while the kernel is compiled
        targets = _compiled(options, compiler, folder, pool)
        kernel = _join(options, targets, folder)
        if _without_main(kernel):
            raise steps.StepFailed("no source has CUPVA_VPU_MAIN()")
        image = _link(options, compiler, kernel, folder)
        from . import exports

        symbols, needs = folder / "symbols", folder / "needs"
        symbols.write_bytes(exports.symbols(image))
        needs.write_text(named.result())
    _add_sections(image, {".cupva_symbols": symbols, NEEDS_SECTION: needs})
    return image


def embed(name: str, image: Path, output: Path, folder: Path) -> None:
    """An object with the executable as data. Raises StepFailed."""
    size = image.stat().st_size
    text = f"""\
    .section .data._cupva_exe, "aw"
    .global _cupva_exe_data_{name}, _cupva_exe_size_{name}
    .type _cupva_exe_data_{name}, @object
    .type _cupva_exe_size_{name}, @object
    .balign 64
_cupva_exe_data_{name}:
    .incbin "{image}"
    .size _cupva_exe_data_{name}, {size}
    .balign 4
_cupva_exe_size_{name}:
    .long {size}
    .size _cupva_exe_size_{name}, 4
    .section .note.GNU-stack, "", @progbits
"""
    source = folder / "embed.s"
    source.write_text(text)
    steps.run([*steps.compiler(), "-c", str(source), "-o", str(output)])


def compile_kernel(options: Options) -> None:
    """Everything. Raises StepFailed, OSError."""
    with tempfile.TemporaryDirectory(prefix="pva-cc-") as name:
        folder = Path(name)
        image = build(options, folder)
        if options.image:
            Path(options.image).write_bytes(image.read_bytes())
        embed(options.executable, image, Path(options.output), folder)


def compile_image(sources: Sequence[str | Path], *flags: str) -> bytes:
    """A VPU executable in memory. Raises StepFailed, OSError."""
    options = Options(sources=[str(s) for s in sources], compile=list(flags))
    with tempfile.TemporaryDirectory(prefix="pva-cc-") as name:
        return build(options, Path(name)).read_bytes()
