"""What cuDLA applications include beside CUDA, and what they expect of unordered streams."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.sdk import _forward
from cudla_sim import paths

from .conftest import PROGRAMS, Run, nvcc

SHAPES = st.sampled_from((4, 5)).flatmap(
    lambda rank: st.tuples(
        st.lists(st.integers(1, 7), min_size=rank, max_size=rank).filter(
            lambda shape: math.prod(shape) <= 1024  # a half counts to 2048
        ),
        st.permutations(range(rank)),
    )
)


@given(SHAPES)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_permuted_copy_is_that_of_numpy(seams: Run, example: tuple[list[int], list[int]]) -> None:
    shape, order = example
    done = seams("permute", *shape, *order)
    assert done.returncode == 0, done.stderr
    wanted = np.arange(math.prod(shape)).reshape(shape).transpose(order).ravel()
    assert [float(word) for word in done.stdout.split()] == wanted.tolist()


def test_a_non_blocking_stream_follows_what_was_launched_before(seams: Run) -> None:
    done = seams(CUDLA_SIM_CUDA_CHECKS="streams=warn")
    assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr
    assert done.stderr.count("add_one in CUDA stream 1, which is non-blocking, does not wait") == 1
    assert not seams().stderr


def test_a_kernel_has_memory_of_its_own(seams: Run) -> None:
    done = seams("memory")
    assert (done.returncode, done.stdout) == (0, f"{8 * sum(range(32))}\n"), done.stderr


def test_a_toolkits_folder_of_headers_stands_before_the_real_ones(tmp_path: Path) -> None:
    """As with ``-I$CUDA_PATH/include`` where ``--env`` names ours behind it; TensorRT's own header
    is found behind both."""
    real, made = paths.include_dir() / "cuda", tmp_path / "toolkit" / "include"
    _forward(real, made)
    tensorrt = tmp_path / "tensorrt"
    tensorrt.mkdir()
    (tensorrt / "NvInfer.h").write_text("namespace nvinfer1 { inline int real() { return 8; } }\n")
    folders = [f"-I{made}", f"-I{real}"]
    source = "#include <NvInfer.h>\n#include <NvInferPlugin.h>\n#include <cuda_runtime.h>\n"
    for more, text in ((), ""), (("-idirafter", str(tensorrt)), "int eight = nvinfer1::real();\n"):
        subprocess.run(
            ["g++", "-fsyntax-only", *folders, *more, "-x", "c++", "-"],
            input=source + text,
            text=True,
            check=True,
        )


def test_ranges_of_nvtx_do_nothing(tmp_path: Path) -> None:
    program = tmp_path / "nvtx"
    done = nvcc("-std=c++14", "-Xcompiler", "-Wall,-Wextra", PROGRAMS / "nvtx.cu", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("1 0\n", "")
