"""CUDLA_SIM_BOARD: what the cuDLA level and the compiler's commands are on a board."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import ModuleType
from typing import Any

import onnx
import pytest

from cudla_sim.core.config import Config, from_environment
from cudla_sim.core.errors import ConfigError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.testing import CApi
from cudla_sim.tools.root import run_command

from .graphs import Graph, convolution, ones, single
from .test_published import classifier

TWO = {"orin": (2, 2), "xavier": (2, 1), "orin-nx-8gb": (1, 2), "orin-nano": (0, 2)}


@pytest.mark.parametrize("board", TWO)
def test_cores_and_version(board: str, sim: ModuleType, sim_api: CApi) -> None:
    cores, version = TWO[board]
    sim.configure(board=board)
    count = ctypes.c_uint64()
    assert sim_api.cudlaDeviceGetCount(ctypes.byref(count)) == 0
    assert count.value == cores
    device = ctypes.c_void_p()
    status = sim_api.cudlaCreateDevice(0, ctypes.byref(device), 1)
    if not cores:
        assert status == 1
        assert "Jetson Orin Nano has no DLA" in sim.last_explanation()
        return
    assert status == 0
    answer = ctypes.c_uint32()
    assert sim_api.cudlaDeviceGetAttribute(device, 1, ctypes.byref(answer)) == 0
    assert answer.value == version
    assert sim_api.cudlaCreateDevice(cores, ctypes.byref(device), 1) == 1


def test_what_is_given_wins_over_the_board() -> None:
    board = from_environment({"CUDLA_SIM_BOARD": "xavier", "CUDLA_SIM_DLA_VERSION": "2.0"})
    assert (board.dla_version, board.dla_count) == ("2.0", 2)
    one = Config(board="orin-nx-8gb", dla_count=2)
    assert one.dla_count == 2
    # a board that is changed takes with it what followed from the first
    assert Config(board="orin-nx-8gb").replace(board="xavier").dla_count == 2
    assert Config(board="xavier").replace(board="").dla_version == "2.0"
    with pytest.raises(ConfigError, match="'tx2'"):
        Config(board="tx2")


def trtexec(*words: Any) -> int:
    return run_command(["trtexec", *map(str, words)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(classifier(), path)
    return path


Capture = pytest.CaptureFixture[str]


def test_trtexec_says_what_the_board_would_do(model: Path, capsys: Capture) -> None:
    words = (f"--onnx={model}", "--useDLACore=0", "--fp16", "--board=orin", "--skipInference")
    assert trtexec(*words, "--allowGPUFallback") == 0
    printed = capsys.readouterr().out
    for text in (
        "[W] [TRT] Layer 'GlobalAveragePool_0' (REDUCE): Unsupported on DLA. Switching this layer's"
        " device type to GPU.",
        "[I] [TRT] [DlaLayer] {ForeignNode[Conv_0...Relu_3]}",
        "[I] [TRT] [GpuLayer] SHUFFLE: Flatten_0",
    ):
        assert text in printed
    assert trtexec(*words) == 1
    errors = capsys.readouterr().err
    assert (
        "[E] [TRT] Layer 'Flatten_0' is not supported on DLA but GPU fallback is not enabled."
        in errors
    )


def test_adjusting_brings_it_to_the_dla(model: Path, tmp_path: Path, capsys: Capture) -> None:
    engine = tmp_path / "net.bin"
    words = (f"--onnx={model}", "--useDLACore=0", "--fp16", "--board=orin", "--skipInference")
    assert trtexec(*words, "--adjustForDLA", f"--saveEngine={engine}") == 0
    printed = capsys.readouterr().out
    assert "adjusted for DLA: GlobalAveragePool GlobalAveragePool_0: AveragePool 2 x 2" in printed
    assert "[GpuLayer]" not in printed
    # the simulator builds the adjusted model: 32 pictures with 10 results each
    result = Loadable.parse(engine.read_bytes()).outputs[0]
    assert (result.n, result.c) == (32, 10)


def test_reporting_capability_fails_where_a_layer_cannot(model: Path, capsys: Capture) -> None:
    words = (f"--onnx={model}", "--useDLACore=0", "--fp16", "--board=orin", "--skipInference")
    assert trtexec(*words, "--reportCapabilityDLA", "--allowGPUFallback") == 1
    errors = capsys.readouterr().err
    assert "[E] [TRT] node Flatten_0 (Flatten): Flatten is not mapped to the DLA" in errors


def test_cores_that_are_not_there(model: Path, capsys: Capture) -> None:
    words = (f"--onnx={model}", "--fp16", "--allowGPUFallback", "--skipInference")
    assert trtexec(*words, "--useDLACore=1", "--board=orin-nx-8gb") == 1
    assert "Cannot create DLA engine, 1 not available" in capsys.readouterr().err
    assert trtexec(*words, "--useDLACore=0", "--board=orin-nano") == 1
    assert "Cannot create DLA engine, 0 not available" in capsys.readouterr().err
    assert trtexec(*words, "--useDLACore=0", "--board=tx2") == 1
    assert "'tx2' is no board" in capsys.readouterr().err


def test_the_environment_names_the_board(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("CUDLA_SIM_BOARD", "xavier")
    words = (f"--onnx={model}", "--useDLACore=0", "--fp16", "--skipInference")
    assert trtexec(*words) == 1
    assert "GPU fallback is not enabled" in capsys.readouterr().err


def test_pools(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "conv.onnx"
    graph = Graph()
    graph.add("Relu", graph.add("Conv", (1, 64, 64, 64), ones(64, 64, 3, 3)))
    onnx.save(graph.model(), path)
    words = (f"--onnx={path}", "--useDLACore=0", "--fp16", "--board=orin", "--skipInference")
    small = "dlaSRAM:3,dlaLocalDRAM:4K,dlaGlobalDRAM:4K"
    assert trtexec(*words, f"--memPoolSize={small}") == 0
    printed = capsys.readouterr().out
    # 3 MiB are rounded to 2, Orin has 1; 62 x 62 x 64 halves, and 64 x 64 x 9 halves of weights
    assert "dlaSRAM: a core of Jetson AGX Orin 64GB has 1024 KiB" in printed
    assert "intermediate tensors of 0.5 MiB; kDLA_LOCAL_DRAM has 0.0 MiB" in printed
    assert "weights of 0.1 MiB; kDLA_GLOBAL_DRAM has 0.0 MiB" in printed
    assert trtexec(*words, "--memPoolSize=dlaLocalDRAM:3") == 1
    assert "no power of two" in capsys.readouterr().err


@pytest.mark.parametrize(("board", "line"), [("orin", 64), ("xavier", 32)])
def test_lines_of_pictures(board: str, line: int, tmp_path: Path) -> None:
    """Developer guide, DLA I/O formats: 4 channels of 8 columns are 32 bytes."""
    path, engine = tmp_path / "conv.onnx", tmp_path / "conv.bin"
    onnx.save(convolution((1, 3, 8, 8), 16), path)
    done = trtexec(
        f"--onnx={path}", "--useDLACore=0", "--int8", f"--board={board}", "--inventRanges",
        "--inputIOFormats=int8:dla_hwc4", "--outputIOFormats=int8:chw32", "--buildDLAStandalone",
        f"--saveEngine={engine}",
    )  # fmt: skip
    assert done == 0
    tensor = Loadable.parse(engine.read_bytes()).inputs[0]
    assert tensor.strides[1] == line
    assert tensor.size == 8 * line


def test_a_picture_of_xaviers_lines_is_read_right(tmp_path: Path) -> None:
    """The same numbers with lines of 32 bytes as with lines of 64."""
    import numpy as np

    from cudla_sim import network
    from cudla_sim.compiler import compilation
    from cudla_sim.compiler.options import Options

    path = tmp_path / "conv.onnx"
    kernel = np.random.default_rng(1).normal(size=(16, 3, 3, 3)).astype(np.float32)
    onnx.save(single("Conv", (1, 3, 9, 9), kernel), path)
    results = []
    x = np.random.default_rng(2).normal(size=(1, 3, 9, 9)).astype(np.float32)
    for line in (32, 64):
        request = compilation.Request(
            model=path,
            options=Options(
                precision="fp16", input_formats={"x0": "fp16:dla_hwc4"}, picture_line=line
            ),
        )
        made = network(compilation.run(request, print).compiled.loadable)
        results.append(next(iter(made.run({"x0": x}).values())))
    np.testing.assert_array_equal(*results)
    assert np.abs(results[0]).max() > 0
