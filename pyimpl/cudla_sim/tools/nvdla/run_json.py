"""What ``cudla-sim nvdla run --json`` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...nvdla import network_run
from ...nvdla.task_report import LayerRecord

VERSION = 1


def of_run(result: network_run.Result, differences: list[str]) -> dict[str, Any]:
    """A loadable that ran on raw buffers. *differences*: what ``--compare`` found."""
    timed = result.timed
    operations = timed.of_layers([layer.unit for layer in result.report.layers])
    layers = [
        {**_layer(layer), "cycles": None if o is None else o.end - o.start}
        for layer, o in zip(result.report.layers, operations, strict=True)
    ]
    names = (tensor.name for tensor in result.tensors)
    return {
        "schema_version": VERSION,
        "config": result.config,
        "cycles": timed.cycles,
        "milliseconds": timed.seconds * 1e3,
        "clock_mhz": timed.clock_mhz,
        "macs": result.report.macs,
        "layers": layers,
        "outputs": _outputs(zip(names, result.values, strict=True)),
        "differences": differences,
    }


def of_real(
    results: Mapping[str, NDArray[Any]], config: str, layers: Iterable[LayerRecord]
) -> dict[str, Any]:
    """A network that ran on real numbers; one in parts has no layers of its own."""
    return {
        "schema_version": VERSION,
        "config": config,
        "layers": [_layer(layer) for layer in layers],
        "outputs": _outputs(results.items()),
    }


def _layer(layer: LayerRecord) -> dict[str, Any]:
    return {
        "index": layer.index,
        "unit": layer.unit,
        "input_shape": list(layer.input_shape),
        "output_shape": list(layer.output_shape),
        "precision": layer.precision,
        "note": layer.note,
        "macs": layer.macs,
        "saturated": layer.saturated,
    }


def _outputs(named: Iterable[tuple[str, NDArray[Any]]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "shape": list(values.shape),
            "dtype": values.dtype.name,
            "values": [_number(value) for value in np.ravel(values).tolist()],
        }
        for name, values in named
    ]


def _number(value: Any) -> Any:
    """JSON has no words for infinity and NaN; a string says them."""
    return value if not isinstance(value, float) or np.isfinite(value) else str(value)
