"""The same cases in every run, and what was found once; `make fuzz` looks for new ones."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.constants.dpu_protocol import FRAME_STRIDE, FaultKind, State
from cudla_sim.core.config import Config
from cudla_sim.core.errors import ConfigError
from cudla_sim.core.faults import Faults
from cudla_sim.cupva.described import FORMAT, Described
from cudla_sim.cupva.workers.explain import explain
from cudla_sim.cupva.workers.protocol import Cause, LaunchRequest, Reply, Status
from cudla_sim.nvdla import replay
from cudla_sim.nvdla.annotation import Annotation
from cudla_sim.nvdla.errors import BadLoadable
from cudla_sim.tools.report import ReportError, page
from cudla_sim.upmem.toolchain.assembly import translate
from cudla_sim.upmem.workers.frame import Frame
from tests.conftest import ROOT

from .run import PATIENCE_S, SETTINGS
from .targets import TARGETS
from .targets.dpu_workers import DPUS, STATES, hostile

CASES = 25
MODELS = ("onnx", "onnxruntime")
NEEDS = {
    **dict.fromkeys(("onnx_bytes", "onnx_graph", "compiled", "in_parts", "package"), MODELS),
    **dict.fromkeys(("calibration_cache", "calibration_data"), (*MODELS, "PIL")),
    "document": MODELS,
}


FORKS = """
import faulthandler, os, sys
from random import Random
from tests.fuzz.targets import TARGETS

for line in sys.stdin:
    target, out, err = line.split("\\t")[:3]
    child = os.fork()
    if child == 0:
        for number, name in enumerate((os.devnull, out, err)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
        faulthandler.dump_traceback_later(%d, exit=True)
        for number in range(%d):
            print(number, flush=True)
            TARGETS[target](Random(number))
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Targets in processes of their own, which are forked where everything is imported: that takes
twenty times as long as the cases."""


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", FORKS % (2 * PATIENCE_S, CASES)],
        cwd=ROOT,
        env={**os.environ, **SETTINGS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield server
        assert server.stdin is not None
        server.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_first_cases(target: str, forks: subprocess.Popen[str], tmp_path: Path) -> None:
    for package in NEEDS.get(target, ()):
        pytest.importorskip(package)
    out, err = tmp_path / "out", tmp_path / "err"
    assert forks.stdin is not None
    assert forks.stdout is not None
    print(target, out, err, "", sep="\t", file=forks.stdin, flush=True)
    status = forks.stdout.readline()
    said = err.read_text(errors="replace")[-3000:]
    assert status == "0\n", f"case {out.read_text().split()[-1:]}: {said}"


# --- models


def model(nodes: list[Any], shape: tuple[int, ...] = (1, 3, 4, 4), **constants: Any) -> Any:
    pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    numpy_helper = pytest.importorskip("onnx").numpy_helper
    ports = [helper.make_tensor_value_info("x", 1, shape), helper.make_empty_tensor_value_info("y")]
    stored = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    made = [helper.make_node(*node[:3], **node[3]) for node in nodes]
    graph = helper.make_graph(made, "g", ports[:1], ports[1:], stored)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets)


def refused(made: Any) -> str:
    from cudla_sim.compiler import front
    from cudla_sim.compiler.errors import CompileError

    with pytest.raises(CompileError) as caught:
        front.load(made)
    return str(caught.value)


def test_a_graph_among_the_attributes_of_constants() -> None:
    helper = pytest.importorskip("onnx").helper
    made = model(
        [("Where", ["c", "a", "b"], ["t"], {}), ("Add", ["x", "t"], ["y"], {})],
        c=np.eye(4, dtype=bool),
        a=np.ones((4, 4), np.float32),
        b=np.zeros((4, 4), np.float32),
    )
    inner = helper.make_attribute("body", helper.make_graph([], "g", [], []))
    made.graph.node[0].attribute.append(inner)
    assert "Unrecognized attribute: body" in refused(made)


MATRIX = np.ones((4, 4), np.float32)
MICROSOFT = {"domain": "com.microsoft"}
FOUND = {
    "both factors are constants": (
        [("FusedMatMul", ["a", "a"], ["t"], MICROSOFT), ("Add", ["x", "t"], ["y"], {})],
        {"a": MATRIX},
    ),
    "both factors are const": ([("Gemm", ["a", "a", "x"], ["y"], {})], {"a": MATRIX}),
    "x_scale is missing": (
        [("DequantizeLinear", ["a"], ["t"], {}), ("Add", ["x", "t"], ["y"], {})],
        {"a": np.zeros(3, np.int8)},
    ),
    "name a dimension twice": ([("Unsqueeze", ["x", "a"], ["y"], {})], {"a": np.array([1, 1])}),
    "all of its inputs are constants": (
        [
            ("QLinearConcat", ["s", "z", "a", "s", "z"], ["t"], {**MICROSOFT, "axis": 0}),
            ("Add", ["x", "t"], ["y"], {}),
        ],
        {"a": np.zeros((4, 4), np.int8), "s": np.float32(1), "z": np.int8(0)},
    ),
    "3 inputs; 2 are possible": ([("Add", ["a", "a", "x"], ["y"], {})], {"a": MATRIX}),
}


def test_conditions_without_elements_and_values_without_types() -> None:
    condition = model([("If", ["a"], ["y"], {})], a=np.zeros(0, np.bool_))
    assert "has 0 elements, not one" in refused(condition)
    made = model([("ConstantOfShape", ["x"], ["y"], {})])
    made.graph.node[0].attribute.add(name="value", type=4).t.dims.append(1)
    assert refused(made)


@pytest.mark.parametrize("why", FOUND)
def test_contradictory_nodes(why: str) -> None:
    nodes, constants = FOUND[why]
    assert why in refused(model(nodes, (4, 4), **constants))


def test_channels_beyond_counting() -> None:
    """Their divisors are not all tried."""
    assert refused(model([("Relu", ["x"], ["y"], {}), ("Relu", ["y"], ["z"], {})], (1, 1 << 61)))


def test_versions_that_no_integer_of_c_holds() -> None:
    made = model([("Relu", ["x"], ["y"], {})])
    made.opset_import[1].version = 1 << 40
    assert "version 1099511627776 of an operator set" in refused(made)


def test_names_outside_of_nodes() -> None:
    onnx = pytest.importorskip("onnx")
    for name in (b"com.microsoft", b"gggg"):
        made = model([("Relu", ["x"], ["y"], {})])
        made.graph.name = "gggg"
        data = made.SerializeToString().replace(name, b"\xff" * len(name))
        assert "no text in UTF-8" in refused(onnx.load_model_from_string(data))


def test_names_inside_of_functions() -> None:
    onnx = pytest.importorskip("onnx")
    made = model([("F", ["x"], ["y"], {"domain": "my"})])
    made.opset_import.append(onnx.helper.make_opsetid("my", 1))
    body = [onnx.helper.make_node("Softsign", ["a"], ["b"])]
    function = onnx.helper.make_function("my", "F", ["a"], ["b"], body, made.opset_import)
    made.functions.append(function)
    data = made.SerializeToString().replace(b"Softsign", b"\xff" * 8)
    assert "no text in UTF-8" in refused(onnx.load_model_from_string(data))


def test_constants_gathered_from_far_away() -> None:
    """numpy.choose would count such an index up step by step."""
    far = np.array([-(1 << 60)], np.int64)
    nodes = [("GatherElements", ["c", "far"], ["g"], {}), ("Add", ["x", "g"], ["y"], {})]
    made = model(nodes, (1, 4), c=np.zeros(2, np.float32), far=far)
    assert "its indices are not in -2..1" in refused(made)


def test_inputs_that_no_memory_holds() -> None:
    assert "elements" in refused(model([("Relu", ["x"], ["y"], {})], (1, 3, 1 << 16, 1 << 16)))


def test_splits_into_more_parts_than_they_say() -> None:
    """The inference of shapes of ONNX would end the process."""
    from cudla_sim.compiler.errors import CompileError
    from cudla_sim.compiler.options import Options
    from cudla_sim.compiler.partition import compile_partitions

    made = model([("Split", ["x"], ["y", "z", "t"], {"num_outputs": 2})], (1, 4))
    with pytest.raises(CompileError, match="its num_outputs is 2, and it has 3 outputs"):
        compile_partitions(made, Options(precision="fp16"))


def test_additions_of_two_constants() -> None:
    """ONNX Runtime's operators are not folded."""
    numbers = {"c": np.zeros((1, 1), np.uint8), "s": np.float32(1), "z": np.uint8(0)}
    quantised = ["c", "s", "z"]
    node = ("QLinearAdd", [*quantised * 2, "s", "z"], ["q"], {"domain": "com.microsoft"})
    made = model([node, ("Relu", ["x"], ["y"], {})], (1, 4), **numbers)
    made.graph.output[0].name = "q"
    assert "both its inputs are constant" in refused(made)


def test_modes_that_are_no_words() -> None:
    made = model([("Upsample", ["x", "s"], ["y"], {"mode": [1, 2]})], s=np.ones(4, np.float32))
    made.opset_import[0].version = 9
    assert "Upsample" in refused(made)


def test_rows_picked_from_more_than_a_matrix_holds() -> None:
    places = np.array([0, 5, 1], np.int64)
    made = model([("Gather", ["x", "p"], ["y"], {"axis": 2})], (1, 1, 1 << 16, 8), p=places)
    assert "one by one" in refused(made)


def test_functions_with_too_many_arguments_and_inputs_without_type() -> None:
    helper = pytest.importorskip("onnx").helper
    from cudla_sim.compiler.errors import CompileError
    from cudla_sim.compiler.options import Options
    from cudla_sim.compiler.partition import compile_partitions

    made = model([("Relu", ["x", "x"], ["y"], {"domain": "my"})])
    made.opset_import.append(helper.make_opsetid("my", 1))
    body = [helper.make_node("Relu", ["a"], ["b"])]
    made.functions.append(helper.make_function("my", "Relu", ["a"], ["b"], body, made.opset_import))
    with pytest.raises(CompileError, match="cannot be inlined"):
        compile_partitions(made, Options(precision="fp16"))
    made = model([("Relu", ["x"], ["y"], {})])
    made.graph.input[0].type.tensor_type.elem_type = 0
    with pytest.raises(CompileError):
        compile_partitions(made, Options(precision="fp16"))


def test_parts_that_read_what_nothing_computes() -> None:
    pytest.importorskip("onnxruntime")
    from cudla_sim.nvdla.errors import NvdlaError
    from cudla_sim.nvdla.parts.package import Package
    from cudla_sim.nvdla.parts.part import Part

    data = model([("Relu", ["x"], ["y"], {})]).SerializeToString()
    for inputs, outputs, why in (
        (("a",), ("y",), "part 0 reads 'a'"),
        (("x",), ("z",), "the output 'z' is computed by no part"),
    ):
        parts = (Part(True, ("n",), inputs, ("y",), data),)
        encoded = Package("nv_full", {"x": (1, 3, 4, 4)}, outputs, parts).encode()
        with pytest.raises(NvdlaError, match=why):
            Package.decode(encoded)


# --- calibration


def test_numbers_too_small_for_bins_and_pictures_that_end_early(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from PIL import Image

    from cudla_sim.compiler import calibrate, front
    from cudla_sim.compiler.calibrate.histogram import Histogram
    from cudla_sim.compiler.errors import CompileError

    Histogram().add(np.full(4, 1e-40, np.float32), 1e-40)
    Image.new("RGB", (4, 4)).save(tmp_path / "x.png")
    data = (tmp_path / "x.png").read_bytes()
    (tmp_path / "x.png").write_bytes(data[:20] + b"\0" * 8 + data[28:])
    samples = calibrate.load_samples(front.load(model([("Relu", ["x"], ["y"], {})])), [tmp_path])
    with pytest.raises(CompileError, match="no sound picture"):
        list(samples)


# --- register traces


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "reg_write", "addr": 1.5, "data": 0},
        {"op": "reg_check", "addr": 12, "data": "7"},
        {"op": "mem_init", "mem": "pri", "addr": 64, "size": 1 << 36, "pattern": "ONES"},
        {"op": "mem_load", "mem": "pri", "addr": 64, "file": "f", "blob": "b", "runs": [[0, 1, 2]]},
        {"op": "mem_load", "mem": "pri", "addr": 64, "file": "f", "blob": "../b", "runs": []},
        {"op": "mem_load", "mem": "pri", "addr": 64, "file": "f", "blob": "b",
         "runs": [[0, 0, 1 << 29, 0]]},
        {"op": "intr", "bits": "x", "sync": "s"},
        {"op": "check_none", "sync": {}},
    ],
)  # fmt: skip
def test_operations_of_other_kinds(tmp_path: Path, operation: dict[str, Any]) -> None:
    trace = {"name": "t", "map": "nv_full", "configs": ["nv_full"], "ops": [operation]}
    (tmp_path / "tests.jsonl.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
    with pytest.raises(replay.TraceError):
        list(replay.read(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [1, 2, 3, 4]}, {"value": [1, 2, 2]}, {"value": [1, 8.0, 2, 2]},
        {"order": [0, 1, 2, 2]}, {"order": [0, "1", 2, 3]}, {"split": [5, 4]}, {"shape": [-1, -32]},
    ],
)  # fmt: skip
def test_ports_whose_shapes_do_not_go_together(change: dict[str, Any]) -> None:
    port = {"name": "x", "shape": [1, 8, 2, 2], "value": [1, 8, 2, 2]}
    whole = {"generation": 1, "outputs": [], "operations": [], "places": [], "options": {}}
    good = json.dumps({**whole, "inputs": [port]}).encode()
    assert Annotation.decode(good).inputs[0].name == "x"
    with pytest.raises(BadLoadable, match="cannot be read"):
        Annotation.decode(json.dumps({**whole, "inputs": [{**port, **change}]}).encode())


@pytest.mark.parametrize(
    ("value", "right"), [(0, True), (2**32 - 1, True), (2**32, False), (-1, False)]
)
def test_words_of_traces(tmp_path: Path, value: int, right: bool) -> None:
    operation = {"op": "reg_write", "addr": 12, "data": value}
    trace = {"name": "t", "map": "nv_full", "configs": ["nv_full"], "ops": [operation]}
    (tmp_path / "tests.jsonl.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
    if right:
        (read,) = replay.read(tmp_path)
        assert [o.value for o in read.operations] == [value]
    else:
        with pytest.raises(replay.TraceError):
            list(replay.read(tmp_path))


@pytest.mark.parametrize("configs", [[], [0], ["nobody"]])
def test_traces_for_no_hardware(tmp_path: Path, configs: list[Any]) -> None:
    trace = {"name": "t", "map": "nv_full", "configs": configs, "ops": []}
    (tmp_path / "tests.jsonl").write_text(json.dumps(trace))
    with pytest.raises(replay.TraceError):
        list(replay.read(tmp_path))


@pytest.mark.parametrize("name", ["/dev/zero", "../x", "a\0b", "bad.dat"])
def test_data_of_traces(tmp_path: Path, name: str) -> None:
    (tmp_path / "bad.dat").write_text("0x01 0x050x03\n")
    (tmp_path / "input.txn").write_text(f"load_mem 0x1000 0x2 {name}\n")
    with pytest.raises(replay.TraceError):
        [replay.play(trace) for trace in replay.read(tmp_path)]


# --- everything else


def test_digits_of_other_scripts_are_no_numbers() -> None:
    with pytest.raises(ConfigError):
        Faults("cudaMalloc@²")
    with pytest.raises(ConfigError):
        Config(dla_version="².0")


def test_asm_statements_without_an_end() -> None:
    for text in ('asm("add', 'asm("add"', 'asm("add" : "=r"(b', 'asm("add" : \'x'):
        source = f"int f(int a) {{ {text}"
        translated, refused = translate(source)
        assert refused or translated == source  # a sentence, or C as it was


def test_figures_of_other_kinds(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="damaged description"):
        Described.from_json(
            f'{{"format": "{FORMAT}", "name": "", "title": "", "geometry": "", "tiles": [], '
            '"extent": [Infinity], "region": [], "place_bytes": 0}'
        )
    span = {"name": "a", "ph": "X", "ts": 0, "dur": 1, "pid": 1, "tid": 1, "cat": "hardware"}
    (tmp_path / "t.json").write_text(json.dumps([{**span, "args": {"dpu_cycles": 1.5}}]))
    with pytest.raises(ReportError, match="damaged"):
        page(tmp_path / "t.json")


@pytest.mark.parametrize("cause", [Cause.SYNC, Cause.TRIGGER, Cause.UNFINISHED])
def test_answers_about_dataflows_that_there_are_not(cause: Cause) -> None:
    """A kernel can write anything over the memory in which its process answers."""
    for flow in (0, 7, 1 << 31):
        reply = Reply(1, Status.FAULT, cause, 0, 0, 0, flow, (), "", (), ())
        assert "wrote over" in explain(b"", reply, LaunchRequest([]))


def test_the_host_does_not_read_back_which_dpus_it_launched() -> None:
    data = np.zeros(FRAME_STRIDE, np.uint8)
    frame = Frame(0, data)
    frame.fill([5, 9], 0, False)
    data[:] = 0xFF
    assert frame.slots == [5, 9]
    assert not frame.cancelled


@pytest.mark.slow
def test_workers_that_die_and_say_that_no_dpu_began() -> None:
    """Begun anew some times, then the DPUs end in fault; a good program goes on."""
    bench = hostile()
    numbers = range(DPUS)
    for slot in numbers:
        here = {"seed": 1, "amount": 0, "first": STATES, "span": DPUS,
                "answers": 0, "ending": 1, "frame_state": int(State.PENDING)}  # fmt: skip
        for name, value in here.items():
            bench.var(name, slot=slot)[0] = value
    ended = bench.launch(slots=list(numbers))
    assert [(outcome.number, outcome.fault) for outcome in ended.faulted] == [
        (number, FaultKind.WORKER) for number in numbers
    ]
