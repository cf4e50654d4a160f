"""One line per call, one line per hardware layer."""

from __future__ import annotations

import sys

from ..core.events import Event


def api(event: Event) -> None:
    """``[thread] name(arguments) -> STATUS  12.3 us  explanation``"""
    if event.kind != "call":
        return
    microseconds = (event.end_ns - event.begin_ns) / 1e3
    details = event.details
    arrow = f" -> {details['status']}" if details["status"] else ""
    why = f"  {details['explanation']}" if details["explanation"] else ""
    sys.stderr.write(
        f"[{event.track}] {event.name}({details['arguments']}){arrow}  {microseconds:.1f} us{why}\n"
    )


def layers(event: Event) -> None:
    """``DLA0 layer 3 CONV+SDP  1x20x24x24 -> 1x20x12x12  int8  0.42 ms``"""
    if event.kind != "layer":
        return
    milliseconds = (event.end_ns - event.begin_ns) / 1e6
    text = "  ".join(f"{v}" for v in event.details.values())
    sys.stderr.write(f"[{event.track}] {event.name}  {text}  {milliseconds:.3f} ms\n")
