"""``cudla-sim report``: one HTML page about a loadable, a register trace, or a program's run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...core import untrusted
from ...core.text import because
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import Loadable
from ...nvdla.timing.parameters import Surroundings
from .page import DAMAGED, Page, ReportError

if TYPE_CHECKING:
    from ...nvdla.parts.package import Package
    from ...nvdla.task_report import LayerRecord

__all__ = ["Page", "ReportError", "compare", "page", "write"]


def page(
    source: Path,
    *,
    hardware: str = "",
    around: Surroundings | None = None,
    inputs: list[str] | None = None,
    accuracy: Path | None = None,
    name: str = "",
) -> Page:
    """The page about a file.

    ``source``: an NVDLA loadable, a register trace (file or folder; one of them), a trace that
    ``CUDLA_SIM_TRACE`` wrote, or times that ``CUDLA_SIM_UPMEM_TIMES`` wrote. ``inputs``: N=FILE
    as of ``cudla-sim nvdla run``; with them a loadable is run, and saturated elements are known.
    ``accuracy``: a file of ``cudla-sim compile --accuracy --report``. ``name``: which
    register trace of several. Raises ReportError.
    """
    surroundings = around or Surroundings()
    if not source.exists():
        raise ReportError(f"{source}: there is no such file")
    if source.suffix == ".json":
        return _json(source)
    if source.is_dir() or source.suffix in (".cfg", ".txn", ".jsonl", ".gz"):
        return _registers(source, hardware, surroundings, name)
    return _loadable(source, hardware, surroundings, inputs, accuracy)


def write(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    hardware: str = "",
    around: Surroundings | None = None,
    inputs: list[str] | None = None,
    accuracy: str | os.PathLike[str] | None = None,
    name: str = "",
    title: str = "",
) -> None:
    """Writes one HTML page about ``source``: what ``cudla-sim report`` does for files.

    ``source``: an NVDLA loadable, a register trace, a file of ``CUDLA_SIM_TRACE`` or of
    ``CUDLA_SIM_UPMEM_TIMES``; options as of :func:`page`; ``title``: where the file's name says
    nothing to who reads the page. Raises ReportError, which says why.
    """
    made = page(
        Path(source),
        hardware=hardware,
        around=around,
        inputs=inputs,
        accuracy=None if accuracy is None else Path(accuracy),
        name=name,
    )
    made.title = title or made.title
    _written(made, Path(output))


def compare(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    hardware: str = "",
    around: Surroundings | None = None,
) -> None:
    """Writes one HTML page about NVDLA loadables side by side: cycles of each and of each layer.

    ``hardware``: the configuration of all of them; "" for what each was made for. Raises
    ReportError, which says why.
    """
    from . import comparison

    files = [Path(source) for source in sources]
    _written(comparison.page(files, hardware, around or Surroundings()), Path(output))


def _written(made: Page, output: Path) -> None:
    from ...core.output import OutputError, write_whole

    try:
        write_whole(output, made.html().encode())
    except OutputError as error:
        raise ReportError(str(error)) from None


def _json(source: Path) -> Page:
    from . import trace, upmem

    try:
        found = untrusted.read_json(source)
    except (OSError, ValueError):
        found = None  # a trace may lack its end, and says what else is wrong
    if isinstance(found, dict) and "steps" in found:
        if found.get("version") != 1:
            raise ReportError(f"{source}: version {found.get('version')!r}; known is 1")
        try:
            return Page(source.name, "Hardware time of a program of DPUs", upmem.of_times(found))
        except DAMAGED as error:
            text = f"{source}: the times are damaged: {type(error).__name__}: {error}"
            raise ReportError(text) from None
    return trace.page(source)


def _registers(source: Path, hardware: str, around: Surroundings, name: str) -> Page:
    from ...nvdla.replay import TraceError
    from ...nvdla.replay import read as read_traces
    from ...nvdla.timing import runs
    from . import nvdla

    try:
        every = list(read_traces(source))
        traces = [t for t in every if not name or t.name == name]
        if len(traces) != 1:
            names = ", ".join(t.name for t in every[:5]) + (", ..." if every[5:] else "")
            which = f"{len(traces)} of them are named {name!r}" if name else "--name says which"
            raise ReportError(f"{source} holds {len(every)} traces ({names}); {which}")
        run = runs.trace(traces[0], hardware or traces[0].configs[0], around)
    except (NvdlaError, TraceError) as error:
        raise ReportError(str(error)) from None
    title = f"{traces[0].name} on {run.config}"
    return Page(title, "An NVDLA register trace in hardware time", nvdla.of_run(run, around))


def _loadable(
    source: Path,
    hardware: str,
    around: Surroundings,
    inputs: list[str] | None,
    accuracy: Path | None,
) -> Page:
    from ...nvdla import images, network_run
    from ...nvdla.parts.package import MAGIC, Package
    from ...nvdla.pictures import Preparation
    from ...nvdla.timing import runs
    from ..nvdla import inputs as nvdla_inputs
    from . import nvdla

    layers: list[LayerRecord] = []
    try:
        data = source.read_bytes()
        if data.startswith(MAGIC):
            return _parts(source, Package.decode(data), hardware, around, inputs, accuracy)
        network = Loadable.parse(data)
        chosen = nvdla_inputs.configuration_for(network, hardware, "report", source.name)
        run = runs.loadable(network, source.stem, chosen, around)
        if inputs:
            buffers = nvdla_inputs.read_inputs(network, inputs, Preparation())
            layers = network_run.run(network, chosen, buffers).report.layers
        sections = nvdla.of_loadable(network, run, around, layers)
    except OSError as error:
        raise ReportError(because(error, source)) from None
    except (NvdlaError, images.InputError, ValueError) as error:
        raise ReportError(f"{source}: {error}") from None
    if accuracy is not None:
        sections.insert(3, nvdla.accuracy(accuracy))
    return Page(f"{source.name} on {chosen}", "An NVDLA loadable in hardware time", sections)


def _parts(
    source: Path,
    package: Package,
    hardware: str,
    around: Surroundings,
    inputs: list[str] | None,
    accuracy: Path | None,
) -> Page:
    """Raises NvdlaError, ReportError."""
    from . import parts

    if inputs or accuracy is not None:
        raise ReportError(
            f"{source} is a network in parts; --input and --accuracy are of loadables"
        )
    title, sections = parts.of_package(source.name, package, hardware, around)
    return Page(title, "A network in parts in hardware time", sections)
