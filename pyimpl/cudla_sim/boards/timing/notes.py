"""What a reader of an estimate should know: what is in it, what is not, why it is wide."""

from __future__ import annotations

from ..checking import Report
from .parameters import spreads, transitions
from .surroundings import Surroundings
from .times import Times

WIDE = 1.5
"""A factor from which a spread is worth a word."""
SHORT_MS = 0.5
"""A network below it is short beside what a driver may take; the shortest published one is 1.3."""
_SHARE = 0.1
"""Of the time, from which the spread of a kind of operation is worth a word."""


def notes(times: Times, report: Report, around: Surroundings) -> tuple[str, ...]:
    return (
        *_gpu(times),
        *_submission(times),
        *_formats(times),
        *_wide(times),
        *_clock(around),
        *report.notes,
    )


def _gpu(times: Times) -> list[str]:
    if not times.gpu_layers:
        return []
    count = len(times.gpu_layers)
    named = ", ".join(times.gpu_layers[:3]) + (", ..." if count > 3 else "")
    return [
        f"{count} layer{'s' * (count != 1)} on the GPU not in these times ({named}): the network "
        "takes longer, and all the more if the GPU has other work"
    ]


def _submission(times: Times) -> list[str]:
    if not times.operations or times.latency.value >= SHORT_MS:
        return []
    return [
        "what the driver takes for a submission is not published and not counted: short networks "
        "take longer"
    ]


def _formats(times: Times) -> list[str]:
    if times.gpu_layers or not times.operations:
        return []
    inward, outward = transitions()["to_dla"], transitions()["from_dla"]
    return [
        "inputs and outputs in formats of the DLA; reformatting on the GPU would add about "
        f"{inward.value:.3f} ms for an input, {outward.value:.3f} ms for an output"
    ]


def _wide(times: Times) -> list[str]:
    whole = sum(row.ms for row in times.operations)
    found = []
    for name, spread in spreads().items():
        part = sum(row.ms for row in times.operations if row.known == name)
        if whole and spread.value >= WIDE and part / whole >= _SHARE:
            behind = f"{spread.rows} published times are" if spread.rows else "hardly any time is"
            found.append(
                f"{part / whole:.0%} of the time is {spread.what}: a factor of {spread.value:.2g} "
                f"up and down, since {behind} behind it"
            )
    return found


def _clock(around: Surroundings) -> list[str]:
    if around.mark in ("", "documented"):
        return []
    return [f"the DLA's clock in {around.mode} is {around.mark}; --clock sets another"]
