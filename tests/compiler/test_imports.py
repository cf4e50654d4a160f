"""A compilation imports what it needs: operators and rules by their names."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from cudla_sim.compiler.front import operators
from cudla_sim.compiler.legalise import rewrite

MOST_MODULES = 196
"""Of ours, for a small network in fp16. More than twice as many are there."""


def test_the_table_of_operators_is_what_the_modules_convert() -> None:
    operators.load_all()
    found: dict[str, set[str]] = {module: set() for module in operators.MODULES}
    for (_, op), function in operators.CONVERTERS.items():
        found[function.__module__.rpartition(".")[2]].add(op)
    assert found == {module: set(names.split()) for module, names in operators.MODULES.items()}


def test_every_rule_is_there() -> None:
    for rule in rewrite.RULES.values():
        module, _, name = rule.partition(":")
        assert callable(getattr(import_module(f"cudla_sim.compiler.legalise.{module}"), name))


def _loaded(program: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in run.stdout.split() if name.startswith(("cudla_sim", "onnx"))}


def test_a_small_model_enters_few_modules(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 4, 4]) for name in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "net", ports[:1], ports[1:]), ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    words = [
        "compile",
        str(tmp_path / "net.onnx"),
        "-o",
        str(tmp_path / "net"),
        "--precision",
        "fp16",
    ]
    loaded = _loaded(f"from cudla_sim.tools.root import run_command\nrun_command({words})")
    ours = {name for name in loaded if name.startswith("cudla_sim")}
    assert len(ours) < MOST_MODULES
    for name in ("nvdla.core", "nvdla.kmd", "compiler.legalise.resize", "compiler.partition"):
        assert f"cudla_sim.{name}" not in ours
    assert "cudla_sim.compiler.front.operators.quantization" not in ours
    assert "onnxruntime" not in loaded


def test_who_writes_containers_needs_no_compiler() -> None:
    loaded = _loaded("from cudla_sim.nvdla.build import container, queue")
    assert "cudla_sim.compiler" not in loaded


def test_networks_in_python_need_no_onnx() -> None:
    program = (
        "from cudla_sim.nvdla.build import Network\n"
        "net = Network(('x', (1, 8, 4, 4)), 'fp16')\n"
        "net.max_pool(2)\n"
        "net.build()"
    )
    loaded = _loaded(program)
    assert not {"onnx", "onnxruntime", "cudla_sim.compiler.front"} & loaded
