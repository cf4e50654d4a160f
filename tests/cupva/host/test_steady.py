"""What a submission costs once the stream knows it, counted in functions of Python."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import cudla_sim
from cudla_sim.capi import load

PACKAGE = Path(cudla_sim.__file__).parent
MOST_CALLS = 44
WORDS = 6
"""Of the largest of the structures."""


def _image(subject: Path, folder: Path) -> tuple[int, int]:
    """Address and size of the executable in an object file."""
    library = folder / "subject.so"
    subprocess.run(["gcc", "-shared", "-o", str(library), str(subject)], check=True)
    loaded = ctypes.CDLL(str(library))
    at = ctypes.addressof(ctypes.c_char.in_dll(loaded, "_cupva_exe_data_subject"))
    return at, ctypes.c_uint32.in_dll(loaded, "_cupva_exe_size_subject").value


def _words() -> Any:
    return (ctypes.c_uint64 * WORDS)()


def test_few_functions_are_called(sim: ModuleType, subject: Path, tmp_path: Path) -> None:
    """From the submission in C to the fence that was waited for."""
    api = load()
    at, size = _image(subject, tmp_path)
    executable, stream, sync = (ctypes.c_void_p() for _ in range(3))
    program, request, fence = _words(), _words(), _words()
    assert api.CupvaExecutableCreate(ctypes.byref(executable), at, size) == 0
    assert api.CupvaCmdProgramCreate(program, executable) == 0
    assert api.CupvaStreamCreate(ctypes.byref(stream), 1, 1) == 0
    assert api.CupvaSyncObjCreate(ctypes.byref(sync), False, 3, 1) == 0
    assert api.CupvaFenceInit(fence, sync) == 0
    assert api.CupvaCmdRequestFencesInit(request, fence, 1) == 0
    commands = (ctypes.c_void_p * 2)(ctypes.addressof(program), ctypes.addressof(request))
    reached = ctypes.c_bool()

    def run() -> None:
        assert api.CupvaStreamSubmit(stream, commands, None, 2, 1, -1, -1) == 0
        assert api.CupvaFenceWait(fence, -1, ctypes.byref(reached)) == 0
        assert reached.value

    for _ in range(3):  # the worker starts, and the stream gets to know it
        run()
    calls: list[str] = []

    def called(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            calls.append(f"{path.name}: {frame.f_code.co_name}")

    fewest: list[str] = []
    for _ in range(20):  # a worker that answers late takes a few calls more
        calls.clear()
        sys.setprofile(called)
        try:
            run()
        finally:
            sys.setprofile(None)
        fewest = min(fewest or list(calls), list(calls), key=len)
    assert 5 < len(fewest) <= MOST_CALLS, "\n".join(fewest)
