"""Models that nobody can trust: one sentence, in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper  # noqa: E402

from cudla_sim.compiler.errors import CompileError  # noqa: E402
from cudla_sim.compiler.front.reading import load_model  # noqa: E402
from cudla_sim.compiler.runtime import session  # noqa: E402
from cudla_sim.core import process  # noqa: E402
from cudla_sim.nvdla.errors import NvdlaError  # noqa: E402
from cudla_sim.nvdla.parts.host import has_external_data  # noqa: E402
from cudla_sim.nvdla.parts.package import Package  # noqa: E402
from cudla_sim.nvdla.parts.part import Part  # noqa: E402
from tests.core.test_untrusted import archive  # noqa: E402


def value(name: str, shape: object = (1, 3, 4, 4), kind: int = TensorProto.FLOAT) -> object:
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes: list[object], functions: tuple[object, ...] = ()) -> object:
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y", None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def refused(made: object, folder: Path, data: bytes = b"") -> str:
    file = folder / "model.onnx"
    file.write_bytes(data or made.SerializeToString())  # type: ignore[attr-defined]
    with pytest.raises(CompileError) as caught:
        load_model(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    data = model([helper.make_node("Relu", ["x"], ["y"], name="AAAA")]).SerializeToString()  # type: ignore[attr-defined]
    assert "no text in UTF-8" in refused(None, tmp_path, data.replace(b"AAAA", b"\xff\xfe\xfd\xfc"))


def functions(count: int, last: str) -> tuple[object, ...]:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    found = []
    for number in range(count):
        below = f"f{number - 1}" if number else last
        domain = "my" if number or last != "Relu" else ""
        nodes = [
            helper.make_node(below, ["a"], ["t"], domain=domain),
            helper.make_node(below, ["t"], ["b"], domain=domain),
        ]
        found.append(helper.make_function("my", f"f{number}", ["a"], ["b"], nodes, opsets))
    return tuple(found)


def test_functions_that_double(tmp_path: Path) -> None:
    call = [helper.make_node("f30", ["x"], ["y"], domain="my")]
    assert "unfold to 2147483648 nodes" in refused(model(call, functions(31, "Relu")), tmp_path)
    call = [helper.make_node("f2", ["x"], ["y"], domain="my")]
    assert "calls itself" in refused(model(call, functions(3, "f2")), tmp_path)
    call = [helper.make_node("f199", ["x"], ["y"], domain="my")]
    assert "100 deep" in refused(model(call, functions(200, "Relu")), tmp_path)


def test_what_is_no_model(tmp_path: Path) -> None:
    for data in (b"\xff" * 100, b"\x08", b"no model", b"\x0a" * 1000):
        refused(None, tmp_path, data)
    with pytest.raises(CompileError, match="a device or a pipe"):
        load_model(Path("/dev/zero"))


def endless() -> bytes:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Relu", ["v"], ["w"])],
        "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("v")],
        [value("on", [], TensorProto.BOOL), value("w")],
    )
    made = model([helper.make_node("Loop", ["n", "c", "x"], ["y"], body=body)])
    made.graph.initializer.extend(  # type: ignore[attr-defined]
        [
            helper.make_tensor("n", TensorProto.INT64, [], [2**62]),
            helper.make_tensor("c", TensorProto.BOOL, [], [True]),
        ]
    )
    return made.SerializeToString()  # type: ignore[attr-defined]


def test_a_loop_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    now = process.current()
    monkeypatch.setattr(now, "config", now.config.replace(host_seconds=0.5))
    with pytest.raises(CompileError, match=r"ran on the host for more than 0\.5 s"):
        session(endless()).run(None, {"x": np.ones((1, 3, 4, 4), np.float32)})


def package(**changes: object) -> bytes:
    import json

    part = model([helper.make_node("Relu", ["x"], ["y"])]).SerializeToString()  # type: ignore[attr-defined]
    plan = {
        "generation": 1, "config": "nv_full", "inputs": {"x": [1, 3, 4, 4]}, "outputs": ["y"],
        "parts": [
            {"host": True, "nodes": ["n"], "inputs": ["x"], "outputs": ["y"], "file": "part0.onnx"}
        ],
    } | changes  # fmt: skip
    return archive(**{"plan.json": json.dumps(plan).encode(), "part0.onnx": part})


def test_packages() -> None:
    assert isinstance(Package.decode(package()).parts[0], Part)
    part = {"host": True, "nodes": ["n"], "inputs": ["x"], "outputs": ["y"], "file": "part0.onnx"}
    for changes, why in (
        ({"inputs": 3}, "inputs is no object"),
        ({"inputs": {"x": ["a"]}}, "the shape of 'x' holds 'a'"),
        ({"inputs": {"x": [-1]}}, "the shape of 'x' holds -1"),
        ({"outputs": "y"}, "outputs is no list"),
        ({"parts": [7]}, "a part is no object"),
        ({"parts": [part | {"nodes": [1]}]}, "nodes holds 1"),
        ({"parts": [part | {"host": "yes"}]}, "host holds 'yes'"),
        ({"parts": [part | {"file": "none"}]}, "it lacks 'none'"),
        ({"generation": "one"}, "generation holds 'one'"),
        ({"generation": 9}, "format 9"),
        ({"config": None}, "config holds None"),
    ):
        with pytest.raises(NvdlaError, match=why):
            Package.decode(package(**changes))
    for data in (b"PK\x03\x04", archive(a=b""), package()[:-30]):
        with pytest.raises(NvdlaError, match="not a network in parts"):
            Package.decode(data)


def test_parts_name_no_files_of_this_machine(tmp_path: Path) -> None:
    outside = helper.make_tensor("w", TensorProto.FLOAT, [4], [0.0] * 4)
    outside.ClearField("float_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="secret.bin")
    made = model([helper.make_node("Add", ["x", "w"], ["y"])])
    made.graph.initializer.append(outside)  # type: ignore[attr-defined]
    data = made.SerializeToString()  # type: ignore[attr-defined]
    assert has_external_data(data)
    files = {"plan.json": package(), "part0.onnx": data}
    import json
    import zipfile
    from io import BytesIO

    with zipfile.ZipFile(BytesIO(package())) as opened:
        files["plan.json"] = opened.read("plan.json")
    assert json.loads(files["plan.json"])
    with pytest.raises(NvdlaError, match="data files outside of the package"):
        Package.decode(archive(**files))
