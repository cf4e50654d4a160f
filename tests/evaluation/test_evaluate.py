"""``cudla_sim.evaluate`` against numpy's own ranking of outputs that were made one by one."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudla_sim
from cudla_sim.evaluation import EvaluationError, evaluate, local, runner
from cudla_sim.evaluation.score import Row

from .conftest import LOADABLE, Digits


def best(digits: Digits, top: int) -> int:
    """Pictures whose class is among the best; equal scores go by the number of the class."""
    found = 0
    for scores, label in zip(digits.scores.astype(int), digits.classes, strict=True):
        before = sum(s > scores[label] for s in scores)
        before += sum(scores[i] == scores[label] for i in range(label))
        found += before < top
    return found


def test_accuracy_is_that_of_the_outputs(digits: Digits) -> None:
    found = cudla_sim.evaluate(LOADABLE, digits.elements, digits.classes, workers=1)
    assert found.samples == 100
    assert found.correct(1) == int((digits.scores.argmax(1) == digits.classes).sum()) == 98
    assert found.top1 == 0.98
    assert [found.correct(n) for n in range(1, 11)] == [best(digits, n) for n in range(1, 11)]
    assert (found.table["top"][:, 0] == digits.scores.argmax(1)).all()


def test_worker_processes_find_the_same(digits: Digits) -> None:
    alone = evaluate(LOADABLE, digits.elements, digits.classes, workers=1)
    both = evaluate(LOADABLE, digits.elements, digits.classes, workers=2, batch=7)
    assert both.rows == alone.rows
    assert both.workers == 2
    assert both.run == 100


def test_signal_and_noise(digits: Digits) -> None:
    """Against sums of numpy over the whole arrays."""
    expected = digits.scores + np.random.default_rng(1).normal(size=digits.scores.shape)
    found = evaluate(LOADABLE, digits.elements, reference=expected, workers=1)
    noise = ((expected - digits.scores) ** 2).sum()
    (value,) = found.sqnr.values()
    assert value == pytest.approx(10 * np.log10((expected**2).sum() / noise), rel=1e-12)
    assert found.top1 is None
    exact = evaluate(LOADABLE, digits.elements[:3], reference=digits.scores[:3], workers=1)
    assert list(exact.sqnr.values()) == [float("inf")]


def test_a_worker_that_is_killed_is_replaced(digits: Digits) -> None:
    """Its batch runs again; nothing counts twice."""
    network = runner.describe(LOADABLE.read_bytes(), "", cudla_sim.process.config)
    pool = local.Pool(network, 2)
    rows: list[Row] = []
    killed: list[int] = []

    def done(found: list[Row]) -> None:
        rows.extend(found)
        if not killed:
            killed.append(pool.pids[0])
            os.kill(killed[0], signal.SIGKILL)

    from cudla_sim.evaluation.api import _batches
    from cudla_sim.evaluation.data import Inputs, Preparation

    data = Inputs(network, digits.elements, Preparation())
    batches = _batches(data, range(100), 3, network.outputs[0], digits.classes, None)
    pool.run(batches, done)
    assert killed
    assert sorted(row["sample"] for row in rows) == list(range(100))
    assert sum(row["rank"] == 0 for row in rows) == 98
    assert not pool.pids or killed[0] not in pool.pids


class Stop(Exception):
    """Somebody interrupts."""


def stopping_after(count: int) -> Any:
    def progress(done: int, total: int) -> None:
        assert total == 100
        if done >= count:
            raise Stop

    return progress


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_evaluation_goes_on(
    digits: Digits, labels_file: Path, tmp_path: Path, suffix: str, workers: int
) -> None:
    inputs, out = tmp_path / "digits.npy", tmp_path / f"found{suffix}"
    np.save(inputs, digits.elements)
    how: dict[str, Any] = {"workers": workers, "batch": 6, "out": out}
    with pytest.raises(Stop):
        evaluate(LOADABLE, inputs, labels_file, progress=stopping_after(40), **how)
    assert not out.exists()
    journal = out.with_name(out.name + ".journal")
    with journal.open("ab") as file:
        file.write(b'[{"sample": 99, "label": 0, "ra')  # cut off in the middle of a line
    found = evaluate(LOADABLE, inputs, labels_file, **how)
    assert 0 < found.run <= 60
    assert found.correct(1) == 98
    assert [row["sample"] for row in found.rows] == list(range(100))
    assert not journal.exists()
    table = read(out)
    assert table["sample"].tolist() == list(range(100))
    assert (table["label"] == digits.classes).all()
    assert int((table["rank"] == 0).sum()) == 98
    assert np.array_equal(np.stack(list(table["top"]))[:, 0], digits.scores.argmax(1))


def read(out: Path) -> dict[str, Any]:
    if out.suffix == ".npz":
        with np.load(out) as archive:
            return dict(archive)
    from pyarrow import parquet

    return {k: np.array(v, object if k == "top" else None)
            for k, v in parquet.read_table(out).to_pydict().items()}  # fmt: skip


def test_a_journal_of_something_else_is_refused(
    digits: Digits, labels_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found.npz"
    with pytest.raises(Stop):
        evaluate(
            LOADABLE, digits.elements, labels_file, out=out, workers=1, batch=5,
            progress=stopping_after(20),
        )  # fmt: skip
    other = np.roll(digits.classes, 1)
    with pytest.raises(EvaluationError, match="other labels; --restart begins anew"):
        evaluate(LOADABLE, digits.elements, other, out=out, workers=1)
    with pytest.raises(EvaluationError, match="other inputs"):
        evaluate(LOADABLE, digits.elements[::-1], labels_file, out=out, workers=1)
    assert evaluate(LOADABLE, digits.elements, other, out=out, workers=1, restart=True).run == 100


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_refused_evaluation_leaves_no_journal(
    digits: Digits, tmp_path: Path, workers: int
) -> None:
    """The next one, with what was wrong mended, is not told of it."""
    out = tmp_path / "found.npz"
    bad = digits.classes.copy()
    bad[70] = 10
    how: dict[str, Any] = {"out": out, "workers": workers, "batch": 5}
    with pytest.raises(EvaluationError, match="sample 70 has the label 10"):
        evaluate(LOADABLE, digits.elements, bad, **how)
    assert not list(tmp_path.iterdir())
    assert evaluate(LOADABLE, digits.elements, digits.classes, **how).correct() == 98


def test_two_do_not_write_one_journal(digits: Digits, tmp_path: Path) -> None:
    out, problems = tmp_path / "found.npz", []

    def second(done: int, total: int) -> None:
        if not problems:
            try:
                evaluate(LOADABLE, digits.elements, out=out, workers=1)
            except EvaluationError as error:
                problems.append(str(error))

    evaluate(LOADABLE, digits.elements, out=out, workers=1, progress=second)
    assert problems == [f"{out}.journal is being written by another process"]


def test_folders_of_classes_and_names_in_a_table(digits: Digits, tmp_path: Path) -> None:
    for file, element in zip(digits.files, digits.elements, strict=True):
        folder = tmp_path / "set" / f"class {file.name[0]}"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / file.stem, element)
    assert evaluate(LOADABLE, tmp_path / "set", "folders", workers=1).correct() == 98
    table = tmp_path / "labels.csv"
    table.write_text("file,class\n" + "".join(f"{f.stem}.npy,{f.name[0]}\n" for f in digits.files))
    assert evaluate(LOADABLE, tmp_path / "set", table, workers=1).correct() == 98


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ({"labels": np.zeros(99, int)}, "has 99 labels, there are 100 samples"),
        ({"labels": np.full(100, 10)}, "has the label 10; output .* has 10 classes"),
        ({"labels": np.full(100, -1)}, "the label -1; classes begin at 0"),
        ({"labels": np.zeros(100)}, "labels are whole numbers"),
        ({"labels": "/nowhere.npy"}, "No such file"),
        ({"reference": {"nothing": np.zeros((100, 10))}, "x": 1}, "no output is called"),
        ({"reference": np.zeros((100, 9))}, r"has \(9,\) for a sample"),
        ({"out": "/nowhere/x.npz"}, "No such file or directory"),
        ({"out": "found.csv"}, "written as .parquet or .npz"),
        ({"config": "nv_tiny"}, "it is one of nv_full"),
        ({"output": "softmax"}, "there is no output 'softmax'"),
        ({"cluster": 7}, "cluster is int; it is a scheduler's address"),
        ({"workers": -1}, "0 .chosen. or more"),
    ],
)
def test_bad_arguments(digits: Digits, what: dict[str, Any], text: str) -> None:
    if what.pop("x", 0):
        what["reference"]["other"] = np.zeros((100, 10))
    with pytest.raises(EvaluationError, match=text) as found:
        evaluate(LOADABLE, digits.elements, **{"workers": 1, **what})
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        (np.zeros((4, 3, 8, 8)), r"is 4 x 3 x 8 x 8; input .* is 1 x 1 x 8 x 8"),
        (np.full((4, 1, 8, 8), 0.5), "numbers that are no int8"),
        (np.full((4, 1, 8, 8), 200), "numbers that are no int8"),
        (np.array(["a"]), "elements of type <U1"),
        ("/nowhere", "does not exist"),
        (np.zeros((0, 1, 8, 8)), "hold no sample"),
    ],
)
def test_bad_inputs(inputs: Any, text: str) -> None:
    with pytest.raises(EvaluationError, match=text):
        evaluate(LOADABLE, inputs, workers=1)


def test_bad_networks(tmp_path: Path) -> None:
    for image, text in (
        (b"nothing", "the network: "),
        (b"PK\x03\x04", "not a network in parts"),
        (tmp_path / "net.onnx", "is an ONNX model"),
        (tmp_path / "net.nvdla", "No such file"),
    ):
        with pytest.raises(EvaluationError, match=text):
            evaluate(image, np.zeros(1))


def test_no_thread_is_left(digits: Digits) -> None:
    before = threading.active_count()
    evaluate(LOADABLE, digits.elements[:8], workers=2)
    assert threading.active_count() == before
