"""No command, and no helper process of one, imports modules from the folder that it is run in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cudla_sim import paths
from tests.conftest import ROOT

from .test_help import everything

DATA = ROOT / "c_examples" / "cudla" / "data"
SCRIPT = Path(sys.executable).with_name("cudla-sim")

HOSTILE = (
    "abc", "argparse", "cffi", "click", "collections", "contextlib", "copy", "ctypes",
    "cudla_sim", "dataclasses", "dpu", "elftools", "enum", "flatbuffers", "functools", "gdb",
    "gzip", "hashlib", "inspect", "io", "itertools", "json", "logging", "matplotlib", "numpy",
    "onnx", "onnxruntime", "os", "pathlib", "pickle", "PIL", "pkgutil", "queue", "random", "re",
    "runpy", "shlex", "shutil", "signal", "sitecustomize", "socket", "string", "struct",
    "subprocess", "tempfile", "threading", "tokenize", "types", "typing", "usercustomize",
    "warnings", "weakref", "zipfile",
)  # fmt: skip
"""Names of modules that commands import, of the standard library and of dependencies."""


def onnx_model(folder: Path) -> None:
    onnx = pytest.importorskip("onnx")
    shape = [1, 8, 4, 4]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"], name="relu")],
        "relu",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)],
    )
    opset = [onnx.helper.make_opsetid("", 13)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "m.onnx")
    np.save(folder / "calib.npy", np.ones(shape, np.float32))


def dpu_program(folder: Path) -> None:
    text = ".text\n.globl main\n__bootstrap:\nmain:\n  stop\n"
    (folder / "task.S").write_text(text)


def network(folder: Path) -> None:
    shutil.copy(DATA / "digits_int8.nvdla", folder / "net.nvdla")


def samples(folder: Path) -> None:
    network(folder)
    np.save(folder / "x.npy", np.zeros((4, 1, 8, 8), np.float32))


def assembled(folder: Path) -> None:
    dpu_program(folder)
    words = [str(SCRIPT), "dpu", "as", "task.S", "-o", "task"]
    subprocess.run(words, cwd=folder, check=True, timeout=60)


def exported(folder: Path) -> None:
    network(folder)
    words = [str(SCRIPT), "nvdla", "export", "net.nvdla", "-o", "out"]
    subprocess.run(words, cwd=folder, check=True, timeout=60)


def kernel(folder: Path) -> None:
    text = "__global__ void k(int *p) { *p = 1; }\nint main() { k<<<1, 1>>>(0); return 0; }\n"
    (folder / "k.cu").write_text(text)


def vpu_kernel(folder: Path) -> None:
    shutil.copy(ROOT / "c_examples" / "cupva" / "hello_dev.c", folder)


def nothing(folder: Path) -> None:
    pass


HOST = str(paths.lib_dir() / "first_call")
"""A compiled C program that makes one cuDLA call."""

CASES: dict[tuple[str, ...], tuple[Callable[[Path], None], str]] = {
    ("run",): (nothing, f"-- {HOST}"),
    ("report",): (nothing, f"-o page.html -- {HOST}"),
    ("doctor",): (nothing, ""),
    ("nvdla", "check"): (network, "net.nvdla"),
    ("nvdla", "evaluate"): (samples, "net.nvdla --samples x.npy --workers 2"),
    ("nvdla", "export"): (network, "net.nvdla -o out"),
    ("nvdla", "layout"): (network, "net.nvdla"),
    ("nvdla", "replay"): (exported, "out"),
    ("nvdla", "run"): (network, "net.nvdla --layers"),
    ("nvdla", "time"): (network, "net.nvdla"),
    ("inspect",): (network, "net.nvdla"),
    ("compile",): (onnx_model, "m.onnx -o m.nvdla --calib calib.npy"),
    ("trtexec",): (onnx_model, "--onnx=m.onnx --useDLACore=0 --int8 --saveEngine=m.nvdla"),
    ("dla", "check"): (onnx_model, "m.onnx"),
    ("dla", "time"): (onnx_model, "m.onnx"),
    ("dla", "rules"): (nothing, ""),
    ("upmem", "report"): (nothing, f"-- {HOST}"),
    ("upmem", "time"): (nothing, f"-- {HOST}"),
    ("dpu", "trace"): (assembled, "task"),
    ("dpu", "gdbserver"): (nothing, "missing"),  # the server of a program waits for a debugger
    ("dpu", "debug"): (nothing, f"-- {HOST}"),
    ("dpu", "as"): (dpu_program, "task.S -o task"),
    ("dpu", "disasm"): (assembled, "task"),
    ("nvcc",): (kernel, "-c k.cu -o k.o"),
    ("pva-cc",): (vpu_kernel, "-c hello_dev.c -o hello.o"),
    ("pva", "explain"): (nothing, f"-- {HOST}"),
    ("pva", "plot"): (nothing, f"-o flows -- {HOST}"),
    ("help",): (nothing, ""),
    ("version",): (nothing, ""),
    ("devices",): (nothing, ""),
    ("schema",): (nothing, ""),
    ("cache",): (nothing, ""),
}

REFUSE = {
    ("upmem", "report"), ("upmem", "time"),  # the program uses no DPUs
    ("pva", "explain"), ("pva", "plot"),  # nor dataflows
    ("dpu", "gdbserver"),  # there is no program
}  # fmt: skip


def run_among_hostile_modules(folder: Path, words: list[str]) -> tuple[int, str, str]:
    """Exit status, printed text, and the names of the hostile modules that were executed."""
    executed = folder.parent / "executed.txt"
    executed.touch()
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(f"open({str(executed)!r}, 'a').write({name!r} + '\\n')")
    done = subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONSAFEPATH": ""},  # which would hide the fault
    )
    return done.returncode, done.stdout + done.stderr, executed.read_text()


def test_every_command_has_a_case() -> None:
    commands = set(everything())
    groups = {words[:-1] for words in commands}
    assert set(CASES) == commands - groups


@pytest.mark.slow
@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_command_imports_nothing_from_the_current_folder(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    prepare, arguments = CASES[words]
    folder = tmp_path / "data"
    folder.mkdir()
    prepare(folder)
    command = [str(SCRIPT), *words, *arguments.split()]
    status, printed, executed = run_among_hostile_modules(folder, command)
    assert executed == "", printed
    assert status == 0 or words in REFUSE, printed


def test_python_api_of_dpus_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """``dpu.DpuSet(c_source=...)`` starts the compiler."""
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "script.py").write_text(
        "from io import StringIO\nfrom dpu import DpuSet\n"
        "with DpuSet(1, c_source=StringIO('int main(void) { return 0; }')) as dpus:\n"
        "    dpus.exec()\n"
        "print('done')\n"
    )
    script = [sys.executable, str(tmp_path / "script.py")]
    assert run_among_hostile_modules(folder, script) == (0, "done\n", "")
