"""``cudla_sim.evaluate``: a network over a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from ..cluster.connection import ClusterError, client_of
from ..core import process
from ..core.output import OutputError, check_writable, write_whole
from ..nvdla.pictures import Preparation
from . import local, runner, stored, truth
from .data import Inputs
from .errors import EvaluationError, Interrupted
from .journal import Journal
from .results import Evaluation, check_name
from .score import Batch, Row

Progress = Callable[[int, int], None]
"""Called with the samples that are done, and all of them."""

_BATCH_BYTES = 4 << 20
_MOST_IN_BATCH = 32


def evaluate(
    network: str | Path | bytes,
    inputs: Any,
    labels: Any = None,
    *,
    reference: Any = None,
    output: str = "",
    cluster: Any = None,
    workers: int = 0,
    batch: int = 0,
    out: str | Path | None = None,
    keep_outputs: bool | None = None,
    restart: bool = False,
    config: str = "",
    mean: Sequence[float] = (),
    scale: Sequence[float] = (),
    progress: Progress | None = None,
) -> Evaluation:
    """Runs a network on all samples and says how often it is right, and how fast it was.

    ``network``: a loadable, or a network in parts, as bytes or a file. ``inputs``: a folder, a file
    (.npy, .npz, picture), an array [samples, *shape of the input], or a mapping of these by input.
    For loadables of the ONNX compiler these are real numbers in the shapes of the model; for others
    elements [n, c, h, w]. ``mean`` and ``scale``: of pictures, see ``nvdla.pictures.Preparation``.

    ``labels``: classes as whole numbers, one a sample (array or file, see ``truth.labels``).
    ``reference``: expected outputs, arrays [samples, ...] by output, or an .npz of these.
    ``output``: the one with the scores of the classes, where there are several.

    On one machine ``workers`` processes compute, 0: one a core, 1: this process alone. ``cluster``:
    a Dask scheduler's address, a cluster object or a ``distributed.Client``; its workers need
    cudla-sim and no access to the files. ``batch``: samples that a worker gets at once.

    ``out``: a file for the results (.parquet or .npz). While the evaluation runs there is a journal
    beside it; when it was interrupted, the same call goes on (``restart``: begins anew).
    ``keep_outputs``: the results hold the outputs of all samples, too; None: where there is a file
    and they have up to 256 MiB.

    Raises EvaluationError, one line that says what is wrong.
    """
    results = None if out is None else Path(out)
    if results is not None:
        check_name(results)
        with _told():
            check_writable(results)
        if restart:
            results.with_name(results.name + ".journal").unlink(missing_ok=True)
    if workers < 0 or batch < 0:
        raise EvaluationError("workers and batch are 0 (chosen) or more")
    image, name = _image(network)
    settings = process.current().config.replace(trace="", log="", checks="off")
    described = runner.describe(image, runner.hardware_name(config), settings)
    how = Preparation(tuple(map(float, mean)), tuple(map(float, scale)))
    data = Inputs(described, inputs, how)
    right = None if labels is None else truth.labels(labels, data.names)
    expected = None
    if reference is not None:
        expected = truth.Reference(reference, described.outputs, len(data))
    scores = _scores(described, output, right is not None)
    keep = keep_outputs
    if keep is None:
        size = described.output_bytes
        keep = out is not None and size is not None and size * len(data) <= stored.MOST_BYTES
    about = {
        "network": described.digest,
        "inputs": data.fingerprint,
        "samples": len(data),
        "labels": None if right is None else hashlib.sha256(right.tobytes()).hexdigest(),
        "reference": None if expected is None else expected.fingerprint,
        "output": scores,
        "keep": keep,
    }
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(results, about))
        missing = [n for n in range(len(data)) if n not in journal.rows]
        before = len(journal.rows)

        def done(rows: list[Row]) -> None:
            journal.add(rows)
            if progress is not None:
                progress(len(journal.rows), len(data))

        if progress is not None:
            progress(before, len(data))
        begin = perf_counter()
        client, count = None, workers or local.cores()
        try:
            if cluster is not None:
                from . import on_cluster

                client = stack.enter_context(client_of(cluster))
                count = on_cluster.thread_count(client)
            size = batch or _batch_size(data, len(missing), count, described.group)
            if client is None:
                count = max(min(count, -(-len(missing) // size)), 1)
            batches = _batches(data, missing, size, scores, right, expected, keep)
            if client is not None:
                on_cluster.run(client, described, batches, done)
            elif count == 1:
                local.in_process(described, batches, done)
            else:
                local.Pool(described, count).run(batches, done)
        except (ClusterError, Interrupted) as error:
            raise Interrupted(f"{error}{_kept(journal)}") from None
        seconds = perf_counter() - begin
        rows = [journal.rows[n] for n in range(len(data))]
        found = Evaluation(name, data.names, rows, count, len(rows) - before, seconds)
        if results is not None:
            try:
                write_whole(results, found.encode(results.suffix))
            except OutputError as error:
                raise Interrupted(f"{error}{_kept(journal)}") from None
            journal.finish()
    return found


def _kept(journal: Journal) -> str:
    """Where what has been computed is, as the end of a sentence."""
    if journal.path is None or not journal.rows:
        return ""
    return (
        f"; {len(journal.rows)} samples are done and kept in {journal.path}, the same call goes on"
    )


def _image(network: str | Path | bytes) -> tuple[bytes, str]:
    if isinstance(network, bytes | bytearray | memoryview):
        return bytes(network), "network"
    path = Path(network)
    if path.suffix.lower() == ".onnx":
        raise EvaluationError(
            f"{path} is an ONNX model; cudla-sim compile makes a loadable of it (the command "
            "cudla-sim nvdla evaluate does both)"
        )
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        raise EvaluationError(f"{path}: {error.strerror}") from None


def _scores(network: runner.EvaluatedNetwork, output: str, needed: bool) -> str:
    if output and output not in network.outputs:
        raise EvaluationError(
            f"there is no output {output!r}; the outputs are {', '.join(network.outputs)}"
        )
    if needed and not output and len(network.outputs) > 1:
        raise EvaluationError(
            "the network has several outputs; say which one has the classes' scores: "
            f"{', '.join(network.outputs)}"
        )
    return output or network.outputs[0]


def _batch_size(data: Inputs, missing: int, workers: int, group: int) -> int:
    """Large enough that handing over costs little, small enough that all have something to do."""
    size = min(_MOST_IN_BATCH, _BATCH_BYTES // max(data.bytes_per_sample, 1))
    size = max(min(size, -(-missing // (4 * workers))), 1)
    return -(-size // group) * group


def _batches(
    data: Inputs,
    missing: Sequence[int],
    size: int,
    output: str,
    labels: Any,
    reference: truth.Reference | None,
    keep: bool = False,
) -> Iterator[Batch]:
    for number, first in enumerate(range(0, len(missing), size)):
        samples = tuple(missing[first : first + size])
        yield Batch(
            number,
            samples,
            tuple(data.read(samples)),
            output,
            () if labels is None else tuple(int(labels[n]) for n in samples),
            () if reference is None else tuple(reference.of(n) for n in samples),
            keep,
        )


@contextmanager
def _told() -> Iterator[None]:
    """What cannot be written is said as an EvaluationError."""
    try:
        yield
    except OutputError as error:
        raise EvaluationError(str(error)) from None
