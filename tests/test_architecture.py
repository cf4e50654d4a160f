"""Who may import whom, and what must not be imported at all (README, "How it is built")."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "pyimpl" / "cudla_sim"
MODELS = {"nvdla", "cudla", "nvsci", "cudart", "upmem", "cupva"}
ALLOWED_BETWEEN_MODELS = {
    ("cudla", "nvdla"),
    ("cudla", "nvsci"),
    ("cudla", "cudart"),
    ("cudart", "nvsci"),
    ("cupva", "nvsci"),
    ("cupva", "cudart"),
}
LEAVES = {"core", "constants", "native"}
# Installing these changes the host's signal handlers or starts processes behind its back.
BANNED_AT_RUN_TIME = {"signal", "asyncio", "subprocess"}
# Never imported by the library inside a host program.
TOOLS = {"tools", "cli", "commands", "flags", "paths", "doctor", "testing", "__main__", "lib"}
# Commands of their own inside a model: the compilers of DPU programs and of VPU kernels.
TOOL_FOLDERS = ("upmem/toolchain/", "cupva/toolchain/")
# DPU and VPU programs run in processes of their own, which the first launch starts on purpose.
STARTS_PROCESSES = {"upmem/workers/process.py", "cupva/workers/process.py"}


def imports(path: Path) -> set[str]:
    """Absolute dotted names that a module imports."""
    package = path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports(path: Path) -> None:
    where = str(path.relative_to(PACKAGE))
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if where.startswith(TOOL_FOLDERS):
        own = "tools"
    for name in imports(path):
        target = part_of(name)
        top = name.split(".")[0]
        if top in ("cffi", "_cffi_backend", "_cudla_sim"):
            assert own in ("abi", "native"), "only abi/ and native/ may touch cffi"
        if own in MODELS and target and target != own:
            assert target in LEAVES or (own, target) in ALLOWED_BETWEEN_MODELS, name
            assert "os.environ" not in path.read_text(), "models do not read the environment"
        if own in LEAVES and target:
            assert target in LEAVES, name
        if target == "obs":
            assert own in ("abi", "obs"), "obs watches; nobody depends on it"
        if own not in TOOLS and where not in STARTS_PROCESSES:
            assert top not in BANNED_AT_RUN_TIME, name
            tools = ("cudla_sim.upmem.toolchain", "cudla_sim.cupva.toolchain")
            assert not name.startswith(tools), "a tool, not the library's"


def test_library_start_imports_no_tools() -> None:
    """What a C program pays for with its first call: numpy, cffi, ourselves."""
    code = (
        "import sys, ctypes; from cudla_sim import paths;"
        "l = ctypes.CDLL(str(paths.library())); l.simWarmup();"
        "print(*sorted(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    for name in ("typer", "rich", "elftools", "subprocess", "asyncio", "hypothesis", "flatbuffers"):
        assert name not in loaded


def test_generated_files_are_fresh() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "build_ffi.py"), "--verify"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_export_has_a_handler() -> None:
    """The coverage table has no line without one."""
    text = (ROOT / "shim" / "generated" / "coverage.md").read_text()
    assert "| missing |" not in text
