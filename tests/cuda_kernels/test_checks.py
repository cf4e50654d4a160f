"""Checks of memory and races: what is told, of which lines, and what is not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PROGRAMS, nvcc

SOURCE = (PROGRAMS / "checked.cu").read_text().splitlines()
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def line(of: str) -> str:
    number = next(i for i, text in enumerate(SOURCE, 1) if f"// the line of {of}" in text)
    return f"checked.cu:{number}"


@pytest.fixture(scope="session")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    target = tmp_path_factory.mktemp("checked") / "checked"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_CUDA_CHECKS", "memory,race")
        done = nvcc("-O1", PROGRAMS / "checked.cu", "-o", target)
    assert done.returncode == 0, done.stderr

    def run(how: str, checks: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(target), how],
            env={**os.environ, "CUDLA_SIM_CUDA_CHECKS": checks},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("end", "IllegalAddress", ("READ", "read of 4 bytes", "0 bytes behind the 400 bytes at")),
        ("before", "IllegalAddress", ("WRITE", "write of 4 bytes")),
        ("stack", "IllegalAddress", ("READ", "no memory of the device")),
        ("heap", "IllegalAddress", ("WRITE", "write of 4 bytes")),
        ("shared", "IllegalAddress", ("SHARED", "0 bytes behind the 256 bytes of dynamic shared")),
        ("crooked", "MisalignedAddress", ("CROOKED", "the address is no multiple of the size")),
        ("other", "IllegalAddress", ("STACK", "local memory of another thread")),
        ("freed", "IllegalAddress", ("WRITE", "write of 4 bytes")),
    ],
)
def test_an_access_to_what_is_not_the_devices(
    checked: Run, how: str, error: str, words: tuple[str, ...]
) -> None:
    done = checked(how)
    assert done.stdout == f"cudaError{error}\n", done.stderr
    (told,) = done.stderr.splitlines()
    for part in (line(words[0]), *words[1:]):
        assert part in told
    thread = {"shared": 63, "other": 1, "crooked": 0}.get(how, 3)
    assert re.search(rf"block \([01], 0, 0\), thread \({thread}, 0, 0\)", told)


@pytest.mark.parametrize(
    ("how", "results"),
    [
        ("everything", "4 3 2"),
        ("later", "0 0 0"),
        ("neighbour-waits", "1 2 3"),
        ("flag", "1 1 1"),
        ("step-waits", "496 1520 0"),
        ("ordered", "128 128 128"),
    ],
)
def test_nothing_is_told_of_correct_kernels(checked: Run, how: str, results: str) -> None:
    done = checked(how)
    assert (done.stdout, done.stderr) == (f"cudaSuccess {results}\n", "")


@pytest.mark.parametrize(
    ("how", "places"),
    [
        ("neighbour", ("STORED", "TAKEN")),
        ("overwrites", ("LAST", "LAST")),
        ("step", ("STEP",)),
        ("overtakes", ("SUMMED", "BACK")),
    ],
)
def test_a_race(checked: Run, how: str, places: tuple[str, ...]) -> None:
    done = checked(how)
    assert done.stdout.startswith("cudaSuccess ")
    told = done.stderr.splitlines()
    assert told
    for one in told:
        assert re.search(r"race in (static|dynamic) shared memory", one)
        assert len(re.findall(r"thread \(\d+, 0, 0\)", one)) == 2
    assert any(all(line(place) in one for place in places) for one in told)


def test_a_race_as_a_fault(checked: Run) -> None:
    done = checked("neighbour", "race=fault")
    assert done.stdout == "cudaErrorLaunchFailure\n"
    assert len(done.stderr.splitlines()) == 1


def test_memory_as_a_warning(checked: Run) -> None:
    done = checked("heap", "memory=warn")
    assert done.stdout.startswith("cudaSuccess ")
    assert line("WRITE") in done.stderr


def test_the_setting_where_a_program_runs_decides(checked: Run) -> None:
    done = checked("heap", "memory=off,race=warn")
    assert done.stdout.startswith("cudaSuccess ")
    assert done.stderr == ""


def test_kernels_that_were_not_compiled_for_it(tmp_path: Path) -> None:
    source, target = tmp_path / "plain.cu", tmp_path / "plain"
    source.write_text(
        "__global__ void good() {}\n"
        "int main() { good<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
    )
    assert nvcc(source, "-o", target).returncode == 0
    done = subprocess.run(
        [target],
        env={**os.environ, "CUDLA_SIM_CUDA_CHECKS": "memory"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert "kernels of this program are not checked" in done.stderr


def test_an_unknown_check_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDLA_SIM_CUDA_CHECKS", "memories")
    done = nvcc("-c", PROGRAMS / "checked.cu", "-o", tmp_path / "checked.o")
    assert done.returncode == 1
    assert "'memories' is no check" in done.stderr
