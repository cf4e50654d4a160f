"""The lines that TensorRT's builder prints about layers and the DLA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .decisions import Decision
from .subgraphs import SUBGRAPHS, Subgraph

WARNING, ERROR, INFO = "W", "E", "I"


@dataclass(frozen=True, slots=True)
class Message:
    """*severity* is the letter of TensorRT's logger."""

    severity: str
    text: str


def of_decisions(decisions: Sequence[Decision], fallback: bool) -> Iterator[Message]:
    """What is said of each layer that the DLA does not take; without *fallback* these are
    errors."""
    for decision in decisions:
        if decision.device == "DLA":
            continue
        layer = decision.layer
        against = [finding for finding in decision.findings if finding.effect == "gpu"]
        own = list(dict.fromkeys(f.message.format(layer=layer.name) for f in against if f.message))
        for text in own:
            yield Message(WARNING, text)
        if not fallback:
            yield Message(
                ERROR,
                f"Layer '{layer.name}' is not supported on DLA but GPU fallback is not enabled.",
            )
        elif against[0].rule == SUBGRAPHS:
            continue
        elif own:
            yield Message(
                WARNING,
                f"Validation failed for DLA layer: {layer.name}. Switching to GPU fallback.",
            )
        else:
            yield Message(
                WARNING,
                f"Layer '{layer.name}' ({layer.kind}): Unsupported on DLA. Switching this layer's "
                "device type to GPU.",
            )
    if all(decision.device != "DLA" for decision in decisions):
        yield Message(
            WARNING,
            "setDefaultDeviceType was called but no layer in the network can run on DLA.",
        )


def of_placement(decisions: Sequence[Decision], subgraphs: Sequence[Subgraph]) -> Iterator[Message]:
    """The two lists of TensorRT 8.4 and newer."""
    yield Message(INFO, "---------- Layers Running on DLA ----------")
    for subgraph in subgraphs:
        yield Message(INFO, f"[DlaLayer] {subgraph.name}")
    yield Message(INFO, "---------- Layers Running on GPU ----------")
    for decision in decisions:
        if decision.device == "GPU":
            yield Message(INFO, f"[GpuLayer] {decision.layer.kind}: {decision.layer.name}")


def of_standalone(subgraphs: Sequence[Subgraph]) -> Iterator[Message]:
    """TensorRT #4165."""
    if len(subgraphs) > 1:
        yield Message(
            ERROR, "Safety certified DLA should only have one graph for the whole network."
        )
