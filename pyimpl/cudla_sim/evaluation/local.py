"""Batches on one machine: in this process, or in worker processes, one a core."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator

from ..workers import isolated
from . import score
from .errors import EvaluationError, Interrupted
from .pipes import receive, send
from .runner import EvaluatedNetwork, Runner
from .score import Batch, Row

_ATTEMPTS = 3
"""Workers that may die over the same batch."""
Done = Callable[[list[Row]], None]


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0))


def in_process(network: EvaluatedNetwork, batches: Iterator[Batch], done: Done) -> None:
    """One after the other, here."""
    runner = Runner(network)
    try:
        for batch in batches:
            done(score.run(runner, batch))
    finally:
        runner.close()


class _Worker:
    def __init__(self, network: EvaluatedNetwork, alone: bool) -> None:
        threads = {} if alone else dict.fromkeys(_THREAD_SETTINGS, "1")
        self.process = subprocess.Popen(
            isolated.command("cudla_sim.evaluation.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt from the keyboard is ours alone
            env={**os.environ, **threads},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        with contextlib.suppress(OSError):  # gone already: the first batch will tell
            send(self.input, network)

    def run(self, batch: Batch) -> list[Row]:
        """Raises OSError or EOFError when the process is gone, EvaluationError."""
        send(self.input, batch)
        answer = receive(self.output)
        if isinstance(answer, EvaluationError):
            raise answer
        return list(answer)

    def end(self) -> str:
        """Ends it at once; how it ended before, if it did."""
        status = self.process.poll()
        self.process.kill()
        for pipe in (self.input, self.output):
            with contextlib.suppress(OSError):
                pipe.close()
        status = self.process.wait() if status is None else status
        return f"signal {-status}" if status < 0 else f"exit status {status}"


_THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Workers share the cores out: each computes with one thread."""


class Pool:
    """``size`` worker processes. Those that die are replaced and their batches run again."""

    def __init__(self, network: EvaluatedNetwork, size: int) -> None:
        self._network = network
        self._size = size
        self._questions: queue.Queue[tuple[Batch, int] | None] = queue.Queue(maxsize=size)
        self._answers: queue.Queue[list[Row] | BaseException | None] = queue.Queue()
        self._stop = threading.Event()
        self._workers: dict[int, _Worker] = {}
        self._lock = threading.Lock()

    @property
    def pids(self) -> list[int]:
        """Of the workers that run."""
        with self._lock:
            return [w.process.pid for w in self._workers.values()]

    def run(self, batches: Iterator[Batch], done: Done) -> None:
        """``done`` gets the rows of each batch, in the order in which they end. Raises
        EvaluationError."""
        threads = [
            threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(self._size)
        ]
        for thread in threads:
            thread.start()
        try:
            waiting = 0
            for batch in batches:
                while True:
                    try:
                        self._questions.put((batch, 1), timeout=0.05)
                        break
                    except queue.Full:
                        waiting -= self._collect(done, block=False)
                waiting += 1
                waiting -= self._collect(done, block=False)
            while waiting:
                waiting -= self._collect(done, block=True)
        finally:
            self._stop.set()
            with self._lock:
                workers = list(self._workers.values())
            for worker in workers:
                worker.process.kill()
            for thread in threads:
                thread.join()

    def _collect(self, done: Done, *, block: bool) -> int:
        """Takes answers that are there (block: at least one); how many."""
        count = 0
        while True:
            try:
                answer = self._answers.get(block and not count, timeout=1.0)
            except queue.Empty:
                if block and not count:
                    continue
                return count
            if isinstance(answer, BaseException):
                raise answer
            if answer is not None:
                done(answer)
                count += 1

    def _serve(self, number: int) -> None:
        worker: _Worker | None = None
        try:
            while not self._stop.is_set():
                try:
                    question = self._questions.get(timeout=0.05)
                except queue.Empty:
                    continue
                if question is not None:
                    worker = self._answer(number, worker, *question)
        except BaseException as error:
            self._answers.put(error)
        finally:
            if worker is not None:
                worker.end()

    def _answer(self, number: int, worker: _Worker | None, batch: Batch, first: int) -> _Worker:
        for attempt in range(first, _ATTEMPTS + 1):
            if worker is None:
                worker = _Worker(self._network, self._size == 1)
                with self._lock:
                    self._workers[number] = worker
            try:
                self._answers.put(worker.run(batch))
            except (OSError, EOFError):
                how = worker.end()
                worker = None
                if self._stop.is_set():
                    break
                if attempt == _ATTEMPTS:
                    raise Interrupted(
                        f"{_ATTEMPTS} workers died over the samples {batch.samples[0]} to "
                        f"{batch.samples[-1]} (the last by {how})"
                    ) from None
            else:
                return worker
        raise EvaluationError("the evaluation was stopped")
