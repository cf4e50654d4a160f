"""nvcc's command line: what concerns C++ goes to the host's compiler, the rest is for a GPU."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

WITH_VALUE = {
    "-gencode": "", "--generate-code": "", "-arch": "", "--gpu-architecture": "", "-code": "",
    "--gpu-code": "", "-maxrregcount": "", "--maxrregcount": "", "-Xptxas": "",
    "--ptxas-options": "", "-Xnvlink": "", "--nvlink-options": "", "-Xarchive": "",
    "-diag-suppress": "", "--diag-suppress": "",
    "-diag-error": "", "--diag-error": "", "-diag-warn": "", "--diag-warn": "", "-Xcudafe": "",
    "-t": "", "--threads": "",
    "-keep-dir": "", "--keep-dir": "", "-fmad": "", "--fmad": "", "-ftz": "", "--ftz": "",
    "-prec-div": "", "--prec-div": "", "-prec-sqrt": "", "--prec-sqrt": "", "-Werror": "",
    "-allow-unsupported-compiler": "", "-split-compile": "", "--split-compile": "",
    "-opt-info": "", "--optimization-info": "", "-dopt": "", "--dopt": "", "-cudadevrt": "",
    "--cudadevrt": "", "-ldir": "", "--libdevice-directory": "", "-target-dir": "",
    "--target-directory": "", "-arbin": "", "--archiver-binary": "", "-time": "", "--time": "",
    "-Ofc": "", "--ofast-compile": "", "-static-global-template-stub": "",
    "--static-global-template-stub": "", "-device-entity-has-hidden-visibility": "",
    "--device-entity-has-hidden-visibility": "", "-jtd": "", "--jump-table-density": "",
    "-brief-diag": "", "--brief-diagnostics": "", "-compress-mode": "", "--compress-mode": "",
}  # fmt: skip
"""Options with a value that mean nothing for the CPU."""
WITHOUT_VALUE = {
    "-lineinfo", "--generate-line-info", "-use_fast_math", "--use_fast_math", "-G",
    "--device-debug", "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "--extended-lambda",
    "-extended-lambda", "--expt-extended-lambda", "-expt-extended-lambda", "-keep", "--keep",
    "-m64", "--restrict", "-restrict", "-res-usage", "--resource-usage", "-src-in-ptx",
    "--source-in-ptx", "--no-host-device-move-forward", "-forward-unknown-to-host-compiler",
    "--forward-unknown-to-host-compiler", "--allow-unsupported-compiler",
    "-allow-unsupported-compiler", "-dlto", "--dlink-time-opt", "-gen-opt-lto", "--gen-opt-lto",
    "-noprof", "--dont-use-profile", "-nohdinitlist",
    "--no-host-device-initializer-list", "-extra-device-vectorization",
    "--extra-device-vectorization", "-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets",
    "-Wdefault-stream-launch", "--Wdefault-stream-launch", "-Wmissing-launch-bounds",
    "--Wmissing-launch-bounds", "-Wext-lambda-captures-this", "--Wext-lambda-captures-this",
    "-no-compress", "--no-compress", "-use-local-env", "--use-local-env", "-ewp",
    "--extensible-whole-program",
}  # fmt: skip
REFUSED = {
    "-ptx": "PTX", "--ptx": "PTX", "-cubin": "a cubin", "--cubin": "a cubin",
    "-fatbin": "a fat binary", "--fatbin": "a fat binary", "-optix-ir": "OptiX IR",
    "--optix-ir": "OptiX IR", "-ltoir": "LTO IR", "--ltoir": "LTO IR",
}  # fmt: skip
_ALIASES = {
    "--compile": "-c", "-dc": "-c", "--device-c": "-c", "-dw": "-c", "--device-w": "-c",
    "--output-file": "-o", "--define-macro": "-D", "--undefine-macro": "-U",
    "--include-path": "-I", "--library-path": "-L", "--library": "-l", "--std": "-std",
    "--debug": "-g", "--optimize": "-O", "--shared": "-shared", "--preprocess": "-E",
    "--device-link": "-dlink", "--lib": "-lib", "--verbose": "-v", "--dryrun": "-dryrun",
    "--version": "-V", "--x": "-x", "--include": "-include", "--system-include": "-isystem",
    "-isystem": "-isystem", "--generate-dependencies": "-M", "--help": "-h",
    "--generate-dependencies-with-compile": "-MD", "--dependency-output": "-MF",
    "--generate-nonsystem-dependencies-with-compile": "-MMD",
    "--generate-dependency-targets": "-MP", "--dependency-target-name": "-MT",
    "--link": "-link", "--disable-warnings": "-w",
    "--output-directory": "-odir", "--no-exceptions": "-noeh", "--archive-options": "-Xarchive",
    "--ftemplate-depth": "-ftemplate-depth",
    "--ftemplate-backtrace-limit": "-ftemplate-backtrace-limit",
}  # fmt: skip
_SEPARATE = ("-dc", "--device-c")
ACTIONS = ("-link", "-c", "-E", "-M", "-MM", "-dlink", "-lib", "-V", "-h")
SOURCES = {".cu": "cu", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".c++": "c++", ".c": "c"}
_STANDARD = 17


class BadOption(Exception):
    """An option that is none, or that nobody can do here."""


@dataclass
class Options:
    """*action* is one of ACTIONS. *preprocess*, *compile* and *link* are words for the host's
    compiler at that step; *inputs* are pairs of file and language ("" is for the linker)."""

    action: str = "-link"
    output: str = ""
    folder: str = ""
    """Where files go that have no name of the user's."""
    inputs: list[tuple[str, str]] = field(default_factory=list)
    preprocess: list[str] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    standard: str = f"-std=gnu++{_STANDARD}"
    compiler: str = ""
    separate: bool = False
    """-rdc=true: names of devices are the whole program's."""
    verbose: bool = False
    dry: bool = False
    runtime: str = "cudart_static"
    """The library of the runtime by its name; empty for none. Both are the shared one here."""


def with_environment(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The words, with those of NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS around them (nvcc's manual,
    "NVCC Environment Variables"). Raises BadOption."""
    try:
        before, behind = (
            shlex.split(environment.get(name, ""))
            for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
        )
    except ValueError as error:
        raise BadOption(f"NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS: {error}") from error
    return [*before, *words, *behind]


def parse(words: Sequence[str]) -> Options:
    """Raises BadOption."""
    found = Options()
    language = ""
    queue = _expanded(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        name = _ALIASES.get(name, name)

        def rest(name: str = name, equals: str = equals, value: str = value) -> str:
            if equals:
                return value
            if not queue:
                raise BadOption(f"{name} needs a value")
            return queue.pop(0)

        if word in REFUSED:
            raise BadOption(f"{word}: {REFUSED[word]} is code for a GPU, which is not supported")
        if name in ("-ccbin", "--compiler-bindir"):
            found.compiler = rest()
        elif name in ("-cudart", "--cudart"):
            found.runtime = _runtime(rest())
        elif name in ("-default-stream", "--default-stream"):
            _require_legacy_stream(rest())
        elif name in ("-rdc", "--relocatable-device-code"):
            found.separate = rest() in ("true", "1", "yes")
        elif name in WITH_VALUE:
            rest()
        elif word in WITHOUT_VALUE:
            if word in ("-G", "--device-debug"):
                found.compile += ["-g", "-O0"]
        elif name in ("-Xcompiler", "--compiler-options"):
            _to_host(found, rest().split(","))
        elif name in ("-Xlinker", "--linker-options"):
            found.link += [f"-Wl,{part}" for part in rest().split(",")]
        elif name in ACTIONS:
            found.action = name
            found.separate |= word in _SEPARATE
        elif name == "-o":
            found.output = rest()
        elif name == "-odir":
            found.folder = rest()
        elif name == "-w":
            _to_host(found, [name])
        elif name == "-noeh":
            _to_host(found, ["-fno-exceptions"])
        elif name in ("-ftemplate-depth", "-ftemplate-backtrace-limit"):
            _to_host(found, [f"{name}={rest()}"])
        elif word[:2] == "-t" and word[2:].isdigit():
            continue  # --threads
        elif name == "-x":
            language = {"cu": "cu", "c++": "c++", "c": "c"}.get(rest(), "c++")
        elif name in ("-v", "-dryrun"):
            found.verbose, found.dry = True, found.dry or name == "-dryrun"
        elif name == "-std":
            found.standard = _standard(rest())
        elif name in ("-I", "-D", "-U", "-include", "-isystem"):
            found.preprocess += [name, rest()]
        elif word[:2] in ("-I", "-D", "-U"):
            found.preprocess.append(word)
        elif name in ("-L", "-l"):
            found.link += [name + rest()]
        elif word[:2] in ("-L", "-l"):
            found.link.append(word)
        elif name in ("-MF", "-MT", "-MQ"):
            found.dependencies += [name, rest()]
        elif name in ("-MD", "-MMD", "-MP"):
            found.dependencies.append(name)
        elif name == "-shared":
            found.link.append(word)
            found.compile.append("-fPIC")
        elif name == "-O" or word[:2] == "-O":
            found.compile.append(f"-O{rest()}" if name == "-O" else word)
        elif word[:2] in ("-g", "-p") or word in ("-fPIC", "-pthread", "-fopenmp"):
            _to_host(found, [word])
        elif word.startswith("-"):
            _to_host(found, [word])  # as nvcc with --forward-unknown-to-host-compiler
        else:
            kind = language or SOURCES.get(Path(word).suffix, "")
            found.inputs.append((word, kind))
            if not kind:
                found.link.append(word)
    _before(found)
    return found


_BEFORE = (
    "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
    "-isysroot", "--sysroot", "-I", "-D", "-U",
)  # fmt: skip
"""Options of the preprocessor, with a value in the same word or in the next one."""
_BEFORE_ALONE = ("-nostdinc", "-nostdinc++", "-undef", "-Wp,")


def _before(found: Options) -> None:
    """nvcc gives -Xcompiler to the preprocessor, too; here they are words for that one alone."""
    words, found.compile = found.compile, []
    while words:
        word = words.pop(0)
        if word.startswith(_BEFORE):
            found.preprocess.append(word)
            if word in _BEFORE and words:
                found.preprocess.append(words.pop(0))
        elif word.startswith(_BEFORE_ALONE):
            found.preprocess.append(word)
        else:
            found.compile.append(word)


def _expanded(words: Sequence[str]) -> list[str]:
    """With the words of --options-file; NAME=VALUE of options that are glued."""
    queue: list[str] = []
    given = list(words)
    while given:
        word = given.pop(0)
        name, equals, value = word.partition("=")
        if name in ("-optf", "--options-file"):
            path = value if equals else (given.pop(0) if given else "")
            try:
                given = shlex.split(Path(path).read_text()) + given
            except OSError as error:
                raise BadOption(f"{name} {path}: {error.strerror}") from None
        else:
            queue.append(word)
    return queue


def _to_host(found: Options, words: Sequence[str]) -> None:
    found.compile += [word.strip("\"'") for word in words]
    linked = (
        "-fopenmp", "-pthread", "-fsanitize", "-static", "-g", "-m", "-fPIC", "-rdynamic", "-pg",
        "--coverage", "-coverage", "-fprofile", "-fuse-ld",
    )  # fmt: skip
    found.link += [word for word in words if word.startswith(linked)]


def _runtime(kind: str) -> str:
    names = {"static": "cudart_static", "shared": "cudart", "none": ""}
    if kind not in names:
        raise BadOption(f"-cudart {kind}: none, shared or static")
    return names[kind]


def _require_legacy_stream(kind: str) -> None:
    if kind not in ("legacy", "null"):
        raise BadOption(
            f"--default-stream {kind}: per-thread default streams are not supported; valid values: "
            "legacy, null"
        )


def _standard(text: str) -> str:
    """At least C++17, which kernels' headers need."""
    digits = "".join(c for c in text if c.isdigit() or (c.isalpha() and c in "xyzab"))
    known = {"03": 3, "98": 3, "11": 11, "14": 14, "17": 17, "20": 20, "23": 23}
    year = known.get(digits[-2:], _STANDARD)
    return f"-std=gnu++{max(year, _STANDARD)}"
