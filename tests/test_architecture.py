"""Who may import whom, and what must not be imported at all (README, "How it is built")."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import build_ffi
from codegen import parse, sources
from cudla_sim.families import FAMILIES
from tests.conftest import ROOT

PACKAGE = ROOT / "pyimpl" / "cudla_sim"
MODELS = {f.name for f in FAMILIES if (PACKAGE / f.name).is_dir()}
ALLOWED_BETWEEN_MODELS = {(f.name, other) for f in FAMILIES for other in f.needs}
# Modules of models that may reach further, when Python asks for it.
REACHES = {("cudla/device.py", "boards"): "cudla_sim.dla.check"}
LEAVES = {
    "core", "constants", "native", "workers", "cluster", "families", "paths",
    "lazy", "settings", "version", "board_table", "enumerations",
}  # fmt: skip
# Installing these changes the host's signal handlers or starts processes behind its back.
BANNED_AT_RUN_TIME = {"signal", "asyncio", "subprocess"}
# Never imported by the library inside a host program.
TOOLS = {
    "tools", "cli", "commands", "flags", "paths", "doctor", "capi", "testing", "__main__", "lib",
    "evaluation", "cuda_kernels",
}  # fmt: skip
# Who may look at the environment: settings are read in one place, the rest are commands and what
# the vendor's own library reads.
READS_ENVIRONMENT = {
    "__init__.py": "reset() begins with the settings of the environment",
    "core/process.py": "settings",
    "abi/upmem/sets.py": "UPMEM_PROFILE, as libdpu reads it",
    "upmem/debug/native/in_gdb.py": "runs in gdb, which the command tells so what it needs",
    "abi/cupva/family.py": "CUPVA_DMATIMEOUT, as libcupva_host reads it",
    "cudart/log.py": "CUDA_LOG_FILE, as the driver reads it",
    "cuda_kernels/driver.py": "NVCC_CCBIN, as nvcc reads it",
    "testing/compile.py": "starts programs in a changed environment",
    "nvdla/parts/host.py": "keeps onnxruntime from reporting",
    "workers/runtime.py": "where compilers keep what they have built",
}
ATTRIBUTE_OF_THE_ENVIRONMENT = re.compile(r"environb?\b|getenv\b")
# Commands of their own inside a model: the compilers of DPU programs and of VPU kernels.
TOOL_FOLDERS = ("upmem/toolchain/", "cupva/toolchain/")
# DPU and VPU programs run in processes of their own, which the first launch starts on purpose.
# nvrtcCompileProgram runs the compiler.
STARTS_PROCESSES = {"workers/process.py", "cupva/workers/process.py", "cudart/compiled.py"}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imports(path: Path) -> set[str]:
    """Absolute dotted names that a module imports."""
    package = path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *filter(None, [node.module])])
            found |= {f"{stem}.{a.name}" for a in node.names}
    return found


def part_of(name: str) -> str:
    """The part of the package that a dotted name lies in, "" for other packages."""
    pieces = name.split(".")
    return pieces[1] if pieces[0] == "cudla_sim" and len(pieces) > 1 else ""


SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if "prototypes" not in p.name)


# Each rule looks at all modules in one test: one for each of nine hundred would take longer to be
# collected and reported, in every worker, than what it looks at.
def test_imports() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}: {why}"
        for path in SOURCES
        for name in imports(path)
        for why in _against_imports(path, name)
    ]
    assert not wrong


def _against_imports(path: Path, name: str) -> Iterator[str]:
    """Why a module may not import this name."""
    where = str(path.relative_to(PACKAGE))
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if where.startswith(TOOL_FOLDERS):
        own = "tools"
    target = part_of(name)
    top = name.split(".")[0]
    if top in ("cffi", "_cffi_backend", "_cudla_sim") and own not in ("abi", "native"):
        yield "only abi/ and native/ may touch cffi"
    if own in MODELS and target and target != own:
        between = (own, target) in ALLOWED_BETWEEN_MODELS or (where, target) in REACHES
        if target not in LEAVES and not between:
            yield "another model, which this one does not need"
    if own in LEAVES and target and target not in LEAVES:
        yield "what lies below all others needs nothing but its like"
    if target == "obs" and own not in ("abi", "obs"):
        yield "obs watches; nobody depends on it"
    if own not in TOOLS and where not in STARTS_PROCESSES:
        if top in BANNED_AT_RUN_TIME:
            yield "not in a host program"
        if name.startswith(("cudla_sim.upmem.toolchain", "cudla_sim.cupva.toolchain")):
            yield "a tool, not the library's"


@pytest.mark.parametrize(
    ("where", "name", "why"),
    [
        ("core/memory.py", "cffi.FFI", "cffi"),
        ("cudla/device.py", "cudla_sim.upmem.sets", "another model"),
        ("core/memory.py", "cudla_sim.nvdla.chip", "below all others"),
        ("nvsci/rules.py", "cudla_sim.obs.trace", "obs watches"),
        ("cudla/device.py", "subprocess", "host program"),
        ("upmem/sets.py", "cudla_sim.upmem.toolchain.cli", "a tool"),
    ],
)
def test_imports_against_the_rules_are_found(where: str, name: str, why: str) -> None:
    assert any(why in found for found in _against_imports(PACKAGE / where, name))


def imported_from_cudla_sim(path: Path) -> set[str]:
    return {part_of(name) for name in imports(path)} - {""}


def test_environment_is_read_in_one_place() -> None:
    """Settings come from core.config."""
    readers = {
        where
        for path in SOURCES
        for where in (str(path.relative_to(PACKAGE)),)
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in TOOLS
        and not where.startswith(TOOL_FOLDERS)
        and ATTRIBUTE_OF_THE_ENVIRONMENT.search(path.read_text())
        and {"environ", "getenv", "environb"}
        & {n.attr for n in ast.walk(parsed(path)) if isinstance(n, ast.Attribute)}
    }
    assert readers <= set(READS_ENVIRONMENT)


def test_the_product_does_not_import_its_tests_helpers() -> None:
    importers = {path for path in SOURCES if "testing" in imported_from_cudla_sim(path)}
    assert {path.relative_to(PACKAGE).parts[0] for path in importers} <= {"testing"}


@pytest.mark.parametrize(
    "path", sorted((PACKAGE.parent / "dpu").rglob("*.py")), ids=lambda p: p.name
)
def test_the_package_dpu_is_a_user_of_the_c_api(path: Path) -> None:
    """It calls the exported functions; abi: the program behind a pointer, to list its symbols;
    workers: the isolated command line of the compiler."""
    assert imported_from_cudla_sim(path) <= {"capi", "upmem", "constants", "abi", "workers"}
    assert "environ" not in path.read_text()


EXTENSIONS = {"cudla_sim.abi._cudla_sim", "cudla_sim.native._compiled"}


def _modules() -> dict[str, Path]:
    """All modules of the package by their dotted names; a package is its ``__init__``."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in SOURCES
    }


MODULES = _modules()


@functools.cache
def needs() -> dict[str, set[str]]:
    """Which module needs which: also for annotations, and inside of functions."""
    return {
        name: {
            found
            for i in imports(path) - EXTENSIONS
            for found in (i if i in MODULES else i.rpartition(".")[0],)
            if found in MODULES
        }
        - {name}
        for name, path in MODULES.items()
    }


def test_no_module_needs_one_that_needs_it() -> None:
    TopologicalSorter(needs()).prepare()


def test_no_package_needs_one_that_needs_it() -> None:
    """Of those right below ``cudla_sim``; modules there count as packages."""
    graph: dict[str, set[str]] = {}
    for name, needed in needs().items():
        own = part_of(name)
        graph.setdefault(own, set()).update({part_of(n) for n in needed} - {own})
    TopologicalSorter(graph).prepare()


def test_no_part_of_the_nvdla_needs_one_that_needs_it() -> None:
    """Packages and modules right below ``cudla_sim.nvdla``."""
    graph: dict[str, set[str]] = {}
    for name, needed in needs().items():
        if name.startswith("cudla_sim.nvdla."):
            own = name.split(".")[2]
            below = {n.split(".")[2] for n in needed if n.startswith("cudla_sim.nvdla.")}
            graph.setdefault(own, set()).update(below - {own})
    TopologicalSorter(graph).prepare()


FALLBACKS = {
    "conv.layer": "how weights are arranged: for Winograd, fp16 in float32, `arithmetic: numpy`",
    "sdp.launch": "comparisons (EQL), what leaves integers as fp16 or follows an fp16 convolution"
    " in float32; outputs that lie over inputs; PDP on the fly",
    "pdp.launch": "windows past the input, outputs over inputs, other modes; errors",
    "cdp.launch": "outputs that lie partly over inputs",
    "rubik.launch": "there is no compiled function",
    "bdma.launch": "there is no compiled function",
}
"""Units that compute with numpy what compiled functions leave, and what that is."""


def _in_numpy(name: str) -> bool:
    return name.startswith("cudla_sim.nvdla.hw.units.") and "reference" in name.split(".")


def test_numpy_twins_are_for_tests_and_what_is_not_compiled() -> None:
    importers = {
        name
        for name, needed in needs().items()
        if not _in_numpy(name) and any(map(_in_numpy, needed))
    }
    assert importers == {f"cudla_sim.nvdla.hw.units.{name}" for name in FALLBACKS}


@pytest.mark.parametrize("name", sorted(n for n in MODULES if ".nvdla.facts" in n))
def test_facts_import_nothing_above_them(name: str) -> None:
    below = ("cudla_sim.nvdla.facts", "cudla_sim.core", "cudla_sim.constants")
    assert all(n.startswith(below) or n == "cudla_sim.nvdla.errors" for n in needs()[name])


@pytest.mark.parametrize("name", sorted(p.stem for p in (PACKAGE / "native").glob("[a-z]*.py")))
def test_compiled_functions_can_be_the_first_import(name: str) -> None:
    program = f"from cudla_sim.native import {name}"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_library_start_imports_no_tools() -> None:
    """What a C program pays for with its first call: cffi, ourselves."""
    loaded = _loaded_after("l.simWarmup()")
    for name in ("click", "elftools", "subprocess", "asyncio", "hypothesis", "flatbuffers"):
        assert name not in loaded


def _loaded_after(calls: str) -> set[str]:
    """The modules of a Python that made these calls of the library ``l``."""
    code = (
        "import sys, ctypes; from cudla_sim import paths;"
        f"l = ctypes.CDLL(str(paths.library())); {calls};"
        "print(*sorted(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "call",
    ["simWarmup()", "cudlaGetVersion(ctypes.byref(ctypes.c_uint64()))", "cudlaGetVersion(0)"],
)
def test_a_call_that_needs_no_model_imports_none(call: str) -> None:
    loaded = _loaded_after(f"l.{call}")
    assert "numpy" not in loaded
    assert "cudla_sim.families" not in loaded, "it is for builds, commands and fault rules"
    assert not {f"cudla_sim.{model}" for model in MODELS - {"cudla"}} & loaded


@pytest.mark.parametrize(
    ("call", "family"),
    [("dpu_alloc(1, 0, 0)", "upmem"), ("cudaMalloc(0, 1)", "cudart"), ("CupvaMemFree(0)", "cupva")],
)
def test_the_first_call_of_an_api_leaves_the_others_out(call: str, family: str) -> None:
    loaded = _loaded_after(
        f"l.{call}" if family != "cudart" else f"ctypes.CDLL(str(paths.library())).sim__{call}"
    )
    assert f"cudla_sim.abi.{family}" in loaded
    assert not {f"cudla_sim.abi.{name}" for name in {"upmem", "cupva"} - {family}} & loaded


FIRST_CALLS = {
    "cudlaDeviceGetCount": "l.cudlaDeviceGetCount(room)",
    "cudlaCreateDevice": "l.cudlaCreateDevice(0, room, 1)",
    "hybrid": "l.cudlaCreateDevice(0, room, 0)",
    "cudaMalloc": "l.sim__cudaMalloc(room, 4096)",
    "cudaStreamCreate": "l.sim__cudaStreamCreate(room)",
    "dpu_alloc": "l.dpu_alloc(1, None, room)",
    "NvSciBufModuleOpen": "l.NvSciBufModuleOpen(room)",
    "NvSciSyncModuleOpen": "l.NvSciSyncModuleOpen(room)",
    "CupvaMemAlloc": "l.CupvaMemAlloc(room, ctypes.c_int64(4096), 3, 1)",
    "NvDlaInitialize": "l.NvDlaInitialize(room)",
    "dla_register_driver": "l.dla_register_driver(room, None)",
    "createRuntime": "not ctypes.CDLL(str(paths.library().parent / 'libnvdla_runtime.so'))"
    "._ZN5nvdla13createRuntimeEv()",
}


@pytest.mark.parametrize("call", FIRST_CALLS.values(), ids=FIRST_CALLS.keys())
def test_numpy_and_the_units_wait_until_something_is_computed(call: str) -> None:
    """They take longer than all the rest of a first call."""
    loaded = _loaded_after(f"room = ctypes.create_string_buffer(4096); assert {call} == 0")
    assert "numpy" not in loaded
    assert "cudla_sim.nvdla.hw.chip" not in loaded


def test_every_declared_function_has_a_handler_in_the_module_of_the_table() -> None:
    assert "cudla_sim.abi.upmem.older" in _loaded_after(
        "l.simWarmup(); from cudla_sim.abi import attach; attach.attach_all()"
    )


def test_first_calls_of_several_threads_and_a_fork_among_them() -> None:
    """Each answers its status; the child of a fork goes on with what it needs."""
    code = """
import ctypes, os, sys, threading
from cudla_sim import paths
l = ctypes.CDLL(str(paths.library()))
calls = ["cudlaCreateDevice", "NvSciBufModuleOpen", "sim__cudaMalloc", "dpu_load",
         "CupvaMemAlloc", "NvDlaSubmit", "sim__cudaGetDeviceCount"]
begin, answers = threading.Barrier(len(calls) + 1), {}
def work(name):
    begin.wait()
    answers[name] = getattr(l, name)(*[0] * 6)
threads = [threading.Thread(target=work, args=(name,)) for name in calls]
for t in threads: t.start()
begin.wait()
child = os.fork()
if child == 0:
    os._exit(all(getattr(l, name)(*[0] * 6) for name in calls))
for t in threads: t.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
assert all(answers.values()) and len(answers) == len(calls), answers
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert "internal error" not in run.stderr


def test_every_export_has_a_handler() -> None:
    states = sources.states(build_ffi.api(), PACKAGE, ROOT / "shim")
    assert {state for state, _ in states.values()} == {"implemented", "refuses"}


def test_a_function_without_a_handler_is_missing(tmp_path: Path) -> None:
    include = tmp_path / "include"
    include.mkdir()
    (include / "one.h").write_text("int simOne(void);\nint simTwo(void);\nint simThree(void);\n")
    api = parse.read([include / "one.h"], include, ROOT / "shim" / "parse_include")
    (tmp_path / "abi").mkdir()
    (tmp_path / "abi" / "one.py").write_text(
        '@family.export("simOne")\nfamily.unsupported("simTwo", because="no")\n'
    )
    sources.mark(api, tmp_path, tmp_path)
    assert sources.states(api, tmp_path, tmp_path) == {
        "simOne": ("implemented", "abi/one.py"),
        "simTwo": ("refuses", "abi/one.py"),
        "simThree": ("missing", ""),
    }


def test_a_misspelt_header_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cudla_misspelt\.h"):
        parse.read([tmp_path / "cudla_misspelt.h"], tmp_path, ROOT / "shim" / "parse_include")
