"""The same on a Dask cluster of two worker processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from cudla_sim.evaluation import EvaluationError, evaluate
from cudla_sim.evaluation.runner import describe
from tests import mortal_cluster

from .conftest import LOADABLE, Digits


def pids(cluster: Any) -> dict[str, int]:
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)  # one that was killed comes back
        return dict(client.run(os.getpid))


@pytest.mark.parametrize("by", ["address", "cluster", "client"])
def test_rows_are_those_of_one_process(digits: Digits, cluster: Any, by: str) -> None:
    from distributed import Client

    alone = evaluate(LOADABLE, digits.elements, digits.classes, workers=1)
    if by == "client":
        with Client(cluster, set_as_default=False) as client:
            found = evaluate(LOADABLE, digits.elements, digits.classes, cluster=client, batch=3)
            assert client.status == "running"
    else:
        given = cluster.scheduler_address if by == "address" else cluster
        found = evaluate(LOADABLE, digits.elements, digits.classes, cluster=given)
    assert found.rows == alone.rows
    assert found.workers == 2


@pytest.mark.slow
@pytest.mark.parametrize("victims", [1, 2])
def test_batches_of_lost_workers_run_again(digits: Digits, cluster: Any, victims: int) -> None:
    """Also when all workers that held the network are gone. The cluster starts new ones."""
    killed: list[int] = []
    seen: list[int] = []
    assert len(pids(cluster)) == 2

    def progress(done: int, total: int) -> None:
        seen.append(done)
        if done and not killed:
            killed.extend(list(pids(cluster).values())[:victims])
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    found = evaluate(
        LOADABLE, digits.elements, digits.classes, cluster=cluster, batch=2, progress=progress
    )
    assert len(killed) == victims
    assert seen == sorted(set(seen))
    assert [row["sample"] for row in found.rows] == list(range(100))
    assert found.correct() == 98
    assert found.run == 100


def test_problems_are_one_line(digits: Digits, cluster: Any) -> None:
    with pytest.raises(EvaluationError, match="no Dask scheduler answers at 'nowhere'"):
        evaluate(LOADABLE, digits.elements, cluster="nowhere")
    bad = digits.classes.copy()
    bad[70] = 10
    with pytest.raises(EvaluationError, match="sample 70 has the label 10"):
        evaluate(LOADABLE, digits.elements, bad, cluster=cluster)


@pytest.mark.slow
def test_a_scheduler_that_dies_is_one_line_with_the_journal(
    digits: Digits, cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the same call goes on, on another cluster."""
    out = tmp_path / "found.npz"
    with mortal_cluster.started(tmp_path, 2) as mortal:

        def progress(done: int, total: int) -> None:
            if done >= 10:
                mortal.kill_scheduler()

        text = (
            rf"^the scheduler {mortal.address} is gone; \d+ samples are done and kept in "
            rf"{out}.journal, the same call goes on$"
        )
        with pytest.raises(EvaluationError, match=text):
            evaluate(
                LOADABLE, digits.elements, digits.classes, cluster=mortal.address, batch=1,
                out=out, progress=progress,
            )  # fmt: skip
        assert capfd.readouterr().err == f"cudla-sim: connecting to {mortal.address}\n"
    found = evaluate(LOADABLE, digits.elements, digits.classes, cluster=cluster, out=out)
    assert found.correct() == 98
    assert 0 < found.run <= 90


def test_a_cluster_that_is_not_there_leaves_no_journal(digits: Digits, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no Dask scheduler answers"):
        evaluate(LOADABLE, digits.elements, cluster="nowhere", out=tmp_path / "found.npz")
    assert not list(tmp_path.iterdir())


def test_what_is_sent_is_small(digits: Digits) -> None:
    """The network goes to the workers once; a batch does not hold it."""
    import pickle

    from cudla_sim import process
    from cudla_sim.evaluation.api import _batches
    from cudla_sim.evaluation.data import Inputs, Preparation

    network = describe(LOADABLE.read_bytes(), "", process.config)
    data = Inputs(network, digits.elements, Preparation())
    (batch,) = _batches(data, [3], 1, network.outputs[0], None, None)
    assert len(pickle.dumps(batch)) < 2000 < len(network.image)


def test_without_distributed(monkeypatch: pytest.MonkeyPatch, digits: Digits) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EvaluationError, match=r"pip install 'cudla-sim\[cluster\]'"):
        evaluate(LOADABLE, digits.elements, cluster="tcp://127.0.0.1:1")
