"""``cudla-sim dla check`` and ``dla rules``: tables, JSON, pages, exit statuses, rows of users."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

import cudla_sim
from cudla_sim.board_table import MARKS
from cudla_sim.boards import DlaError, check
from cudla_sim.boards.rules import document
from cudla_sim.boards.rules.rule import table
from cudla_sim.testing import assert_on_dla
from cudla_sim.tools import schemas
from tests import warm
from tests.tools.test_report import unpacked

from .graphs import Graph, ones, single
from .test_published import classifier
from .test_subgraphs import chain

X = (1, 8, 8, 8)


def call(*words: Any) -> subprocess.CompletedProcess[str]:
    command = [warm.python(), "-m", "cudla_sim", "dla", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(classifier(), path)
    return path


def test_table_and_summary(model: Path) -> None:
    done = call("check", model, "--int8")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("Global")]
    assert rows[0][:4] == ["GlobalAveragePool_0", "REDUCE", "AVG", "GPU"]
    # 4 x (Conv, BN, ReLU), the average, Flatten, Gemm: two of 15 are on the GPU
    assert "INT8: 13 of 15 layers" in done.stdout
    assert "2 subgraphs, 2 tensors to or from the GPU" in done.stdout


def test_exit_statuses(model: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.onnx"
    onnx.save(single("Relu", X), whole)
    assert call("check", whole, "--require-all").returncode == 0
    assert call("check", whole, "--standalone").returncode == 0
    done = call("check", model, "--require-all")
    assert (done.returncode, done.stderr) == (
        1,
        "cudla-sim dla check: --require-all: 2 layers are on the GPU\n",
    )
    done = call("check", model, "--max-subgraphs", 1)
    assert (done.returncode, done.stderr) == (
        1,
        "cudla-sim dla check: --max-subgraphs 1: there are 2\n",
    )
    assert call("check", model, "--max-subgraphs", 2).returncode == 0
    assert call("check", model, "--standalone").returncode == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing.onnx"], "nothing.onnx"),
        (["{model}", "--board", "orinn"], "is no board; did you mean orin?"),
        (["{model}", "--board", "orin-nano"], "0 not available"),
        (["{model}", "--tensorrt", "11.2"], "TensorRT 11.2 has no DLA"),
        (["{model}", "--tensorrt", "7.2"], "8.4 is the oldest"),
        (["{model}", "--tensorrt", "new"], "'new' is no version of TensorRT"),
        (["{model}", "--shapes", "x0:1xq"], "is no shape"),
        (["{model}", "--outputs", "nowhere"], "nowhere"),
        (["{model}", "--calib", "nothing"], "nothing: No such file or directory"),
        (["{model}", "--rules", "nothing"], "nothing: No such file or directory"),
        (["{model}", "--html", "nowhere/page.html"], "nowhere"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(words: list[str], told: str, model: Path) -> None:
    done = call("check", *(word.format(model=model) for word in words))
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_json_follows_its_schema(model: Path) -> None:
    for words in (("--int8",), ("--standalone",), ("--board", "xavier", "--tensorrt", "8.4")):
        done = call("check", model, "--json", *words)
        data = json.loads(done.stdout)
        jsonschema.Draft202012Validator(schemas.read("dla-check")).validate(data)
        on_gpu = [layer["name"] for layer in data["layers"] if layer["device"] == "GPU"]
        assert {"GlobalAveragePool_0", "Flatten_0"} <= set(on_gpu)


def test_messages_as_tensorrt_prints_them(model: Path) -> None:
    lines = call("check", model, "--messages").stdout.splitlines()
    assert lines[0] == (
        "[W] [TRT] Layer 'GlobalAveragePool_0' (REDUCE): Unsupported on DLA. Switching this "
        "layer's device type to GPU."
    )
    assert "[I] [TRT] ---------- Layers Running on DLA ----------" in lines
    assert lines[-1] == "[I] [TRT] [GpuLayer] SHUFFLE: Flatten_0"


def test_page_names_every_layer_and_colours_subgraphs(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert call("check", model, "--html", page).returncode == 0
    text = page.read_text()
    for layer in check(classifier()).decisions:
        assert layer.layer.name in text
    boxes = unpacked(text)["graph-graph-0"]["boxes"]
    assert {box["group"] for box in boxes} == {"GPU", "DLA 1", "DLA 2"}


@pytest.mark.slow
def test_rewriting_from_the_command_line(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    done = call("check", model, "--rewrite", out, "--require-all")
    assert done.returncode == 0, done.stderr
    assert "output Gemm_0.out is 32 x 10 x 1 x 1 now" in done.stdout
    assert "before: net on orin, TensorRT 10.3, FP16: 13 of 15 layers" in done.stdout
    assert call("check", out, "--standalone", "--require-all").returncode == 0
    data = json.loads(call("check", model, "--rewrite", out, "--json").stdout)
    jsonschema.Draft202012Validator(schemas.read("dla-check")).validate(data)
    assert [s["rewrite"] for s in data["rewriting"]["steps"]] == [
        "global-average-pool",
        "flatten-gemm",
    ]
    done = call("check", model, "--rewrite", out, "--only", "clip")
    assert "13 of 15" in done.stdout
    assert call("check", model, "--rewrite", out, "--only", "clop").returncode == 2
    assert call("check", model, "--rewrite", tmp_path / "no" / "out.onnx").returncode == 2


def test_scales_of_a_quantised_model_go_to_a_cache(tmp_path: Path) -> None:
    import numpy as np

    graph = Graph()
    scale, zero = np.float32(0.125), np.int8(0)
    q = graph.add("QuantizeLinear", X, scale, zero)
    graph.add("Relu", graph.add("DequantizeLinear", q, scale, zero))
    path, out = tmp_path / "qdq.onnx", tmp_path / "out.onnx"
    onnx.save(graph.model(), path)
    done = call("check", path, "--int8", "--rewrite", out)
    assert "1 scales went to a calibration cache" in done.stdout
    cache = tmp_path / "out.cache"
    assert "x0: 3e000000" in cache.read_text()  # 0.125
    data = json.loads(call("check", out, "--int8", "--calib", cache, "--json").stdout)
    assert [layer["precision"] for layer in data["layers"]] == ["int8"]


def test_rows_of_users_add_and_replace(model: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[[rule]]\nid = "global-average"\nlayers = ["REDUCE"]\nfunctions = ["AVG"]\n'
        'takes = true\nsource = "our board"\nmark = "measured by others"\n'
        '[[rule]]\nid = "our-channels"\nlayers = ["CONVOLUTION"]\nvalue = "c"\nmost = 8\n'
        'what = "channels"\nsource = "our board"\nmark = "measured by others"\n'
    )
    report = check(model, rules=[own])
    gpu = {d.layer.name: d.reason for d in report.on_gpu}
    assert "GlobalAveragePool_0" not in gpu
    assert gpu["Conv_1"] == "channels 16 > 8"
    assert "Conv_0" not in gpu  # 3 channels
    listed = call("rules", "--rules", own).stdout
    assert "our-channels" in listed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[rule", "own.toml"),
        ('[[rule]]\nid = "a"\n', "rule 1 ('a'): 'source' is missing"),
        ('[[rule]]\nid = "a"\nsource = "s"\nmark = "sure"\ntakes = true', "mark is 'sure'"),
        ('[[rule]]\nid = "a"\nsource = "s"\nmark = "recalled"\ncolour = 1', "'colour' is unknown"),
        (
            '[[rule]]\nid = "a"\nsource = "s"\nmark = "recalled"\nvalue = "1 +"\nmost = 1\n'
            'what = "x"',
            "is no expression",
        ),
        (
            '[[rule]]\nid = "a"\nsource = "s"\nmark = "recalled"\nvalue = "colour"\nmost = 1\n'
            'what = "x"',
            "'colour'",
        ),
        (
            '[[rule]]\nid = "a"\nsource = "s"\nmark = "recalled"\n'
            "require = \"__import__('os').getpid() > 0\"\nsays = 'x'",
            "__import__",
        ),
        ("rule = 3", "rules stand under [[rule]]"),
    ],
)
def test_wrong_rows_are_told_with_their_place(text: str, told: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(DlaError) as error:
        check(single("Relu", X), rules=[own])
    assert told in str(error.value)


def test_a_board_that_is_none_is_told() -> None:
    with pytest.raises(DlaError, match="'orinn' is no board"):
        check(single("Relu", X), "orinn")


def test_marks_are_switched_off() -> None:
    model = single("Reshape", X, __import__("numpy").array([1, 8, 64]))
    assert check(model).on_gpu  # shuffle-rank is recalled
    assert not check(model, without=["recalled"]).on_gpu


def test_the_page_of_rules_has_every_row() -> None:
    page = call("rules", "--markdown").stdout
    assert page == document.page(table())
    for rule in table():
        assert f"| {rule.id} |" in page
    assert {rule.mark for rule in table()} == set(MARKS)


def test_python_and_pytest(model: Path) -> None:
    report = cudla_sim.dla.check(model, board="orin", int8=True)
    assert [d.layer.name for d in report.on_gpu] == ["GlobalAveragePool_0", "Flatten_0"]
    assert_on_dla(model, except_=["GlobalAverage*", "Flatten"], int8=True, max_subgraphs=2)
    with pytest.raises(AssertionError, match=r"GlobalAveragePool_0 \(REDUCE\): TensorRT makes"):
        assert_on_dla(model, except_=["Flatten"])
    with pytest.raises(AssertionError, match="'Softmax'"):
        assert_on_dla(model, except_=["Flatten", "Global*", "Softmax"])
    with pytest.raises(AssertionError, match="3 subgraphs"):
        assert_on_dla(chain(3).model(), except_=["Erf"], max_subgraphs=2)


def test_a_network_that_needs_no_dla_rule_is_empty() -> None:
    graph = Graph()
    graph.add("Identity", X)
    report = check(graph.model())
    assert not report.subgraphs
    assert report.share == 1.0
    text = "setDefaultDeviceType was called but no layer in the network can run on DLA."
    assert text in [message.text for message in report.messages]


def test_shapes_are_fixed_or_asked_for() -> None:
    graph = Graph()
    graph.add("Conv", graph.input(("n", 3, "h", "w"), "x"), ones(4, 3, 3, 3))
    report = check(graph.model(), shapes={"x": [2, 3, 32, 48]})
    assert report.network.inputs[0].shape == (2, 3, 32, 48)


def test_a_command_whose_extra_is_missing_says_which() -> None:
    program = (
        "import sys; sys.modules['simpleeval'] = None\n"
        "from cudla_sim.cli import main; sys.exit(main())"
    )
    for words in (["dla", "check", "net.onnx"], ["dla", "rules"]):
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "it needs the package simpleeval: pip install 'cudla-sim[onnx]'" in done.stderr
        assert done.stderr.count("\n") == 1
    done = subprocess.run(
        [sys.executable, "-c", program, "dla", "rules", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "--markdown" in done.stdout, "help needs no package but click"
