"""Networks in parts (``--fallback cpu``) over a data set: what numpy makes of onnxruntime's outputs
and of those of the parts, run sample by sample."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import cudla_sim
from cudla_sim.compiler import compilation
from cudla_sim.compiler.fallback import compile_package
from cudla_sim.compiler.partition import Package, compile_partitions
from cudla_sim.compiler.runtime import session
from cudla_sim.core.process import Process
from cudla_sim.evaluation import evaluate
from cudla_sim.tools.root import run_command

from .test_on_cluster import pids

SAMPLES, CLASSES = 60, 10


class Parts:
    """A model with a node that no configuration has, its package, and what comes out."""

    def __init__(self, folder: Path) -> None:
        random = np.random.default_rng(11)
        self.model = folder / "net.onnx"
        constants = {
            "w": random.normal(size=(8, 3, 3, 3)) / 5,
            "v": random.normal(size=(4, 8, 1, 1)) / 3,
            "m": random.normal(size=(144, CLASSES)) / 10,
        }
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["a"]),
            helper.make_node("LpNormalization", ["a"], ["n"], axis=1),
            helper.make_node("Conv", ["n", "v"], ["b"]),
            helper.make_node("Flatten", ["b"], ["d"]),
            helper.make_node("MatMul", ["d", "m"], ["y"]),
        ]
        graph = helper.make_graph(
            nodes,
            "parts",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CLASSES])],
            [numpy_helper.from_array(v.astype(np.float32), k) for k, v in constants.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(made, self.model)
        self.samples = random.normal(size=(SAMPLES, 3, 8, 8)).astype(np.float32)
        self.data = folder / "x.npy"
        np.save(self.data, self.samples)
        floats = session(made.SerializeToString())
        self.floats = np.concatenate([floats.run(None, {"x": x[None]})[0] for x in self.samples])
        # some classes are not the best one
        self.labels = np.argsort(-self.floats, 1)[np.arange(SAMPLES), np.arange(SAMPLES) % 7]
        np.save(folder / "labels.npy", self.labels)
        np.savez(folder / "y.npz", y=self.floats)
        request = compilation.Request(
            self.model,
            compilation.Options(config="nv_full", precision="int8"),
            calib=[self.data],
        )
        self.image = compile_package(request, lambda text: None).encode()
        loaded = Package.decode(self.image).load(Process(cudla_sim.process.config))
        self.outputs = np.concatenate([loaded.run({"x": x[None]})["y"] for x in self.samples])
        loaded.close()

    def right(self, top: int) -> int:
        """Samples whose class is among the best ``top`` of the parts' outputs."""
        order = np.argsort(-self.outputs, axis=1, kind="stable")[:, :top]
        return int((order == self.labels[:, None]).any(1).sum())

    @property
    def sqnr(self) -> float:
        noise = np.square((self.floats - self.outputs).astype(np.float64)).sum()
        return float(10 * np.log10(np.square(self.floats.astype(np.float64)).sum() / noise))

    def agrees(self, found: Any) -> None:
        assert [row["sample"] for row in found.rows] == list(range(SAMPLES))
        assert [found.correct(n) for n in range(1, 6)] == [self.right(n) for n in range(1, 6)]
        assert found.sqnr["y"] == pytest.approx(self.sqnr, rel=1e-9)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    return Parts(tmp_path_factory.mktemp("parts"))


def test_the_parts_are_near_the_model(parts: Parts) -> None:
    assert parts.sqnr > 25
    assert 0 < parts.right(1) < parts.right(5) < SAMPLES


@pytest.mark.parametrize("workers", [1, 2])
def test_on_one_machine(parts: Parts, workers: int) -> None:
    found = evaluate(
        parts.image, parts.samples, parts.labels, reference=parts.floats, workers=workers, batch=7
    )
    parts.agrees(found)
    assert found.workers == workers


@pytest.mark.slow
def test_on_a_cluster_that_loses_a_worker(parts: Parts, cluster: Any) -> None:
    killed: list[int] = []

    def progress(done: int, total: int) -> None:
        if done and not killed:
            killed.append(next(iter(pids(cluster).values())))
            os.kill(killed[0], signal.SIGKILL)

    found = evaluate(
        parts.image, parts.samples, parts.labels,
        reference=parts.floats, cluster=cluster, batch=2, progress=progress,
    )  # fmt: skip
    assert killed
    parts.agrees(found)
    assert found.run == SAMPLES


class Stopped(Exception):
    pass


def test_resumed(parts: Parts, tmp_path: Path) -> None:
    out = tmp_path / "found.npz"
    options: dict[str, Any] = {"reference": parts.floats, "workers": 1, "batch": 4, "out": out}

    def stop(done: int, total: int) -> None:
        if done >= 20:
            raise Stopped

    with pytest.raises(Stopped):
        evaluate(parts.image, parts.samples, parts.labels, progress=stop, **options)
    found = evaluate(parts.image, parts.samples, parts.labels, **options)
    assert 0 < found.run <= SAMPLES - 20
    parts.agrees(found)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_outputs_are_stored(parts: Parts, tmp_path: Path, suffix: str) -> None:
    """Also by an evaluation that was interrupted in between."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / f"found{suffix}"

    def stop(done: int, total: int) -> None:
        if done >= 20:
            raise Stopped

    options: dict[str, Any] = {"workers": 1, "batch": 4, "out": out}
    with pytest.raises(Stopped):
        evaluate(parts.image, parts.samples, progress=stop, **options)
    found = evaluate(parts.image, parts.samples, **options)
    assert np.array_equal(found.outputs["y"][:, 0], parts.outputs)  # type: ignore[call-overload]
    if suffix == ".npz":
        stored = np.load(out)["output:y"]
        assert stored.shape == (SAMPLES, 1, CLASSES)
    else:
        from pyarrow import parquet

        stored = np.array(parquet.read_table(out)["output:y"].to_pylist(), np.float32)
    assert np.array_equal(stored.reshape(parts.outputs.shape), parts.outputs)
    without = evaluate(parts.image, parts.samples, workers=1, out=out, keep_outputs=False)
    assert without.outputs == {}


def test_parts_for_several_samples_at_once(parts: Parts) -> None:
    """The first dimension of the model is 4."""
    whole = onnx.load(parts.model)
    for item in (*whole.graph.input, *whole.graph.output):
        item.type.tensor_type.shape.dim[0].dim_value = 4
    samples = [{"x": parts.samples[:4]}, {"x": parts.samples[4:8]}]
    package = compile_partitions(whole, compilation.Options(precision="fp16"), samples)
    assert len(package.parts) == 3
    found = evaluate(package.encode(), parts.samples[:10], reference=parts.floats[:10], workers=1)
    assert found.samples == 10
    assert found.sqnr["y"] > 45


def test_the_command_compiles_and_evaluates(
    parts: Parts, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = parts.model.parent
    words = [
        "nvdla", "evaluate", str(parts.model), "--samples", str(parts.data), "--json",
        "--calib", str(parts.data), "--labels", str(folder / "labels.npy"),
        "--reference", str(folder / "y.npz"), "--workers", "1",
    ]  # fmt: skip
    assert run_command(words) == 1
    assert "LpNormalization" in capsys.readouterr().err
    assert run_command([*words, "--fallback", "cpu"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["top1"] == parts.right(1) / SAMPLES
    assert found["top5"] == parts.right(5) / SAMPLES
    assert found["sqnr_db"]["y"] == pytest.approx(parts.sqnr, rel=1e-4)
